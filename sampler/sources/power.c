/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy by powercap (RAPL), and the CPUs' frequency. Only on request, because reading a frequency can interrupt a
 * CPU. */
#include "config.h"
#include "sampler/private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/printed.h"
#include "base/text/text.h"

/* No zone uses more than 5 kW. */
enum { MAX_FILES = 4096 };
static const uint64_t FASTEST_UW = UINT64_C(5000000000);

/* One file with one number. */
struct item {
	struct smp_file file;
	struct tkm_printed path, name; /* name: "package-0", "cpu3" */
	int summed;                    /* part of the counter without an instance */
	struct smp_physics can;
	struct smp_count energy;
	uint64_t last; /* of a frequency */
	uint8_t state; /* of the last reading; 0: no value */
};

struct finder {
	const struct smp_env *env;
	struct item *item;
	size_t n, cap;
	int root;
};

struct power_set {
	struct finder energy, freq;
	int64_t read_ms; /* 0: not yet */
	size_t n;
	struct {
		int freq;   /* 0 energy, 1 frequency, -1 unknown */
		char *name; /* "": sum, or mean */
	} want[];
};

static uint64_t number_in_file(int root, const char *path)
{
	char text[32];
	const char *p = tkm_root_line(root, path, text, sizeof(text));
	uint64_t v = 0;

	return smp_number(&p, &v) == 0 ? v : 0;
}

static struct item *add_power_file(struct finder *f)
{
	struct item *i;

	if (f->n >= MAX_FILES || TKM_GROW(f->item, f->cap, f->n + 1) < 0) {
		return NULL;
	}
	i = &f->item[f->n++];
	memset(i, 0, sizeof(*i));
	i->file.fd = -1;
	return i;
}

/* Returns 0; -1: there is no memory for the name or path. */
static int keep_power_file(struct finder *f, const struct item *i)
{
	if (!i->path.text || !i->name.text) {
		free(i->path.text);
		free(i->name.text);
		f->n--;
		return -1;
	}
	return 0;
}

/* "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it, counted there already; psys is all together. */
static int add_zone(const char *name, void *ctx)
{
	struct finder *f = ctx;
	const char *colon = strchr(name, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	char label[256];
	struct item *i;

	if (!colon || strncmp(name, "intel-rapl-mmio", 15) == 0) {
		return 0;
	}
	i = add_power_file(f);
	if (!i || !tkm_printed(&i->path, "/sys/class/powercap/%s/name", name)) {
		return i ? keep_power_file(f, i) : 0;
	}
	tkm_root_line(f->root, i->path.text, label, sizeof(label));
	tkm_printed(&i->name, "%s%s%.*s", label, second ? "-" : "", second ? (int)(second - colon - 1) : 0, colon + 1);
	i->can = (struct smp_physics){ .fastest = FASTEST_UW, .late = FASTEST_UW };
	if (tkm_printed(&i->path, "/sys/class/powercap/%s/max_energy_range_uj", name)) {
		i->can.turn = number_in_file(f->root, i->path.text);
	}
	i->summed = !second && strncmp(label, "package", 7) == 0;
	tkm_printed(&i->path, "/sys/class/powercap/%s/energy_uj", name);
	keep_power_file(f, i);
	return 0;
}

static int add_cpu(const char *name, void *ctx)
{
	struct finder *f = ctx;
	struct item *i;
	long long cpu;

	if (strncmp(name, "cpu", 3) != 0 || tkm_parse_int(name + 3, 0, 1 << 20, &cpu) < 0) {
		return 0;
	}
	i = add_power_file(f);
	if (!i) {
		return 0;
	}
	tkm_printed(&i->name, "%s", name);
	tkm_printed(&i->path, "/sys/devices/system/cpu/%s/cpufreq/scaling_cur_freq", name);
	i->summed = 1;
	if (keep_power_file(f, i) == 0 && !smp_exists(f->root, i->path.text)) {
		free(i->path.text);
		free(i->name.text);
		f->n--;
	}
	return 0;
}

static void find_items(struct finder *f, const struct smp_env *env, int freq)
{
	*f = (struct finder){ .env = env, .root = smp_root(env) };
	if (f->root >= 0) {
		smp_dir_each(f->root, freq ? "/sys/devices/system/cpu" : "/sys/class/powercap",
			freq ? add_cpu : add_zone, f);
		close(f->root);
	}
	f->root = -1;
}

static void free_items(struct finder *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		smp_file_close(&f->item[i].file);
		free(f->item[i].path.text);
		free(f->item[i].name.text);
	}
	free(f->item);
}

/* ---- turns ---------------------------------------------------------------------------------------- */

/* The most that a zone may use, in uW: the largest of its limits, or what a package of today does not exceed. */
static uint64_t most_of_zone(int root, const char *energy_path)
{
	static const char *const limits[] = { "constraint_0_max_power_uw", "constraint_1_max_power_uw",
		"constraint_0_power_limit_uw", "constraint_1_power_limit_uw", "constraint_2_power_limit_uw" };
	int folder = (int)(strrchr(energy_path, '/') - energy_path);
	struct tkm_printed path = { 0 };
	uint64_t most = 0, v;
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		at = tkm_printed(&path, "%.*s/%s", folder, energy_path, limits[i]);
		v = at ? number_in_file(root, at) : 0;
		most = v > most && v <= FASTEST_UW ? v : most;
	}
	free(path.text);
	return most ? most : UINT64_C(500000000);
}

static double turn_s(const struct smp_env *env, const char *name)
{
	const char *colon = strchr(name, ':');
	double least = 0, turn;
	struct finder f;
	size_t i;
	int root;

	if (strncmp(name, "energy", 6) != 0) {
		return 0;
	}
	find_items(&f, env, 0);
	root = smp_root(env);
	for (i = 0; root >= 0 && i < f.n; i++) {
		const struct item *it = &f.item[i];

		if (it->can.turn && (colon ? strcmp(colon + 1, it->name.text) == 0 : it->summed)) {
			turn = (double)it->can.turn / (double)most_of_zone(root, it->path.text);
			least = least == 0 || turn < least ? turn : least;
		}
	}
	if (root >= 0) {
		close(root);
	}
	free_items(&f);
	return least;
}

/* ---- listing ------------------------------------------------------------------------------------- */

static const struct smp_counter energy_counter = {
	.unit = "uJ",
	.what = "energy used by the CPU packages",
	.scope = SMP_NODE,
	.type = SMP_U64,
	.kind = SMP_TOTAL,
	.factor = 1e-6,
	.shown_unit = "W",
};
static const struct smp_counter freq_counter = {
	.unit = "kHz",
	.what = "frequency of the CPUs, mean",
	.scope = SMP_NODE,
	.type = SMP_U64,
	.kind = SMP_LEVEL,
	.factor = 1e-3,
	.shown_unit = "MHz",
};

static const char *why_none(const struct finder *f, int root, int freq, char why[SMP_TEXT])
{
	char text[8];

	if (f->n == 0) {
		smp_why(why,
			freq ? "no cpufreq in /sys/devices/system/cpu: a virtual machine, or no driver for this CPU"
			     : "no zone in /sys/class/powercap: a virtual machine, or the module intel_rapl_common is "
			       "not loaded");
		return why;
	}
	errno = 0;
	if (root >= 0 && tkm_root_read(root, f->item[0].path.text, text, sizeof(text)) < 0) {
		smp_why(why,
			errno == EACCES ? "%s may be read by root only (CVE-2020-8694): as root, chmod a+r it"
					: "%s cannot be read",
			f->item[0].path.text);
		return why;
	}
	return NULL;
}

static int list_kind(const struct smp_env *env, int freq, smp_each each, void *ctx)
{
	struct smp_counter c = freq ? freq_counter : energy_counter;
	const char *base = freq ? "cpu_freq" : "energy";
	struct tkm_printed name = { 0 };
	char why[SMP_TEXT];
	int root = smp_root(env), rc;
	struct finder f;
	size_t i;

	find_items(&f, env, freq);
	c.name = base;
	c.missing = why_none(&f, root, freq, why);
	rc = each(&c, ctx);
	for (i = 0; rc == 0 && i < f.n; i++) {
		c.name = tkm_printed(&name, "%s:%s", base, f.item[i].name.text);
		c.what = freq ? "frequency of one CPU" : "energy used by one part of the machine";
		rc = c.name ? each(&c, ctx) : 0;
	}
	free(name.text);
	free_items(&f);
	if (root >= 0) {
		close(root);
	}
	return rc;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	int rc = 0;

	(void)why;
	if (tkm_glob_may_match(hint, "energy")) {
		rc = list_kind(env, 0, each, ctx);
	}
	if (rc == 0 && tkm_glob_may_match(hint, "cpu_freq")) {
		rc = list_kind(env, 1, each, ctx);
	}
	return rc;
}

/* ---- sets ---------------------------------------------------------------------------------------- */

static int is_zone_selected(const struct power_set *s, int freq, const struct item *item)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->want[i].freq == freq &&
			(s->want[i].name[0] ? strcmp(s->want[i].name, item->name.text) == 0 : item->summed)) {
			return 1;
		}
	}
	return 0;
}

static void open_items(const struct power_set *s, struct finder *f, int freq)
{
	int root = smp_root(f->env);
	size_t i, kept = 0;

	for (i = 0; i < f->n; i++) {
		if (is_zone_selected(s, freq, &f->item[i])) {
			f->item[kept] = f->item[i];
			if (root >= 0) {
				smp_file_open(&f->item[kept].file, root, f->item[kept].path.text);
			}
			kept++;
		} else {
			free(f->item[i].path.text);
			free(f->item[i].name.text);
		}
	}
	f->n = kept;
	if (root >= 0) {
		close(root);
	}
}

static void close_set(void *set)
{
	struct power_set *s = set;

	size_t i;

	free_items(&s->energy);
	free_items(&s->freq);
	for (i = 0; i < s->n; i++) {
		free(s->want[i].name);
	}
	free(s);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct power_set *s = calloc(1, sizeof(*s) + n * sizeof(s->want[0]));
	size_t i;

	(void)target;
	(void)why_each;
	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->n = n;
	for (i = 0; i < n; i++) {
		const char *colon = strchr(names[i], ':');

		s->want[i].freq = strncmp(names[i], "cpu_freq", 8) == 0;
		s->want[i].name = strdup(colon ? colon + 1 : "");
		if (!s->want[i].name) {
			s->n = i;
			smp_why(why, "no memory");
			close_set(s);
			return NULL;
		}
	}
	find_items(&s->energy, env, 0);
	find_items(&s->freq, env, 1);
	open_items(s, &s->energy, 0);
	open_items(s, &s->freq, 1);
	return s;
}

/* How often energy has turned between two readings cannot be told, once is assumed. */
static void read_power_file(struct item *i, const struct smp_env *env, int64_t now_ms, int first)
{
	char text[32];
	const char *p = text;
	uint64_t v;
	int root;

	if (!smp_file_there(&i->file)) {
		root = smp_root(env);
		if (root >= 0) {
			smp_file_open(&i->file, root, i->path.text);
			close(root);
		}
	}
	i->state = smp_file_read(&i->file, text, sizeof(text)) > 0 && smp_whole_word(&p, &v) == 0 ? SMP_VALID : 0;
	if (!i->state) {
		return;
	}
	i->last = v;
	if (!i->can.fastest) {
		return;
	}
	if (!i->energy.begun) {
		smp_count_begin(&i->energy, v, first ? v : 0, now_ms);
	} else {
		i->state = smp_count_add(&i->energy, &i->can, v, now_ms);
	}
}

static uint8_t put_power_value(const struct finder *f, const char *name, int freq, union smp_value *value)
{
	uint64_t sum = 0, n = 0;
	uint8_t state = SMP_VALID;
	size_t i;

	for (i = 0; i < f->n; i++) {
		const struct item *it = &f->item[i];

		if (name[0] ? strcmp(name, it->name.text) == 0 : it->summed) {
			if (!it->state && !freq) {
				return 0; /* a sum with a part missing is none; a mean is one over those that are there */
			}
			if (it->state) {
				n++;
				sum += freq ? it->last : it->energy.sum;
				state |= it->state;
			}
		}
	}
	value->u = freq && n ? sum / n : sum;
	return n ? state : 0;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct power_set *s = set;
	int valid = 0, first = !s->read_ms;
	size_t i;

	s->read_ms = smp_reading_ms(s->energy.env, s->read_ms);
	for (i = 0; i < s->energy.n; i++) {
		read_power_file(&s->energy.item[i], s->energy.env, s->read_ms, first);
	}
	for (i = 0; i < s->freq.n; i++) {
		read_power_file(&s->freq.item[i], s->freq.env, s->read_ms, first);
	}
	for (i = 0; i < s->n; i++) {
		state[i] = put_power_value(
			s->want[i].freq ? &s->freq : &s->energy, s->want[i].name, s->want[i].freq, &value[i]);
		valid += state[i] != 0;
	}
	return valid;
}

const struct smp_source smp_power = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "power",
	.what = "energy by powercap and CPU frequency, of the node",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.turn_s = turn_s,
};
