/* SPDX-License-Identifier: BSD-3-Clause */
/* The power management counters of HPE Cray nodes, /sys/cray/pm_counters, which the blade's controller writes some ten times a second.
 * All are read between two readings of `freshness` that agree, so that they are of one scan. When it stops, there are no values.
 * Each file is "NUMBER UNIT STAMP us"; older ones have no stamp. */
#include "config.h"
#include "sampler/private.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/glob.h"
#include "base/text/printed.h"

/* STALE: so many scans may be missing, and so many milliseconds. */
enum { TRIES = 3, STALE_SCANS = 20, STALE_MS = 2000 };
static const int64_t UNKNOWN_AGE_US = 3600ll * 1000000;

static const char folder[] = "/sys/cray/pm_counters", age_suffix[] = "_age", prefix[] = "cray_";

/* What a file's name ends with says what it is. */
static const struct cray_kind {
	const char *end, *unit, *what;
	char letter; /* of the unit in the file; 0: none */
	enum smp_kind kind;
	double factor;
	const char *shown_unit;
	uint64_t most; /* the largest value that can be */
} kinds[] = {
	{ "energy", "J", "energy used, as the blade's controller counts it: %s", 'J', SMP_TOTAL, 1, "W",
		UINT64_C(1) << 50 },
	{ "power", "W", "power, as the blade's controller measures it: %s", 'W', SMP_LEVEL, 0, NULL, 1000000 },
	{ "power_cap", "W", "limit of the power, 0 if there is none: %s", 'W', SMP_LEVEL, 0, NULL, 1000000 },
	{ "temp", "degC", "temperature, as the blade's controller measures it: %s", 'C', SMP_LEVEL, 0, NULL, 500 },
	{ "freshness", "scans", "scans of the controller: %s", 0, SMP_TOTAL, 0, "scans/s", UINT64_MAX },
	{ "generation", "changes", "changes of a power limit: %s", 0, SMP_LEVEL, 0, NULL, UINT64_MAX },
	{ "startup", "count", "changes when the controller has started again: %s", 0, SMP_LEVEL, 0, NULL, UINT64_MAX },
	{ "raw_scan_hz", "Hz", "scans per second that the controller aims at: %s", 0, SMP_LEVEL, 0, NULL, 1000000 },
};
/* 100 kW, and a fall is no turn. */
static const struct smp_physics can_energy = { .fastest = 100000, .turn = UINT64_MAX },
				can_scans = { .fastest = 1000000, .turn = UINT64_MAX };

static const struct cray_kind *kind_of_file(const char *name)
{
	size_t i, len = strlen(name), end;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		end = strlen(kinds[i].end);
		if (len >= end && strcmp(name + len - end, kinds[i].end) == 0 &&
			(len == end || name[len - end - 1] == '_')) {
			return &kinds[i];
		}
	}
	return NULL;
}

/* ---- a file -------------------------------------------------------------------------------------- */

/* *stamp_us is 0 if there is none. Returns 0, or -1 if this is no such value. */
static int parse_cray_value(const struct cray_kind *k, const char *text, uint64_t *value, uint64_t *stamp_us)
{
	const char *p = text;

	*stamp_us = 0;
	if (smp_number(&p, value) < 0 || *value > k->most) {
		return -1;
	}
	p += strspn(p, " \t");
	if (k->letter && *p != k->letter) {
		return -1;
	}
	p += strcspn(p, " \t\n");
	if (smp_number(&p, stamp_us) < 0 || strncmp(p, " us", 3) != 0) {
		*stamp_us = 0;
	}
	return 0;
}

static int64_t age_of_cray_value(uint64_t stamp_us)
{
	struct timespec t;
	int64_t age_us;

	clock_gettime(CLOCK_REALTIME, &t);
	age_us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000 - (int64_t)stamp_us;
	return stamp_us > 0 && age_us >= 0 && age_us < UNKNOWN_AGE_US ? age_us : -1;
}

/* ---- listing ------------------------------------------------------------------------------------- */

struct cray_lister {
	const char *hint;
	smp_each each;
	void *ctx;
	int root, rc;
	struct tkm_printed path, name, age, what;
};

/* stamped: its file has a time. */
static int list_cray_counter(
	struct cray_lister *l, const char *file, const struct cray_kind *k, int stamped, const char *missing)
{
	const char *rest = strstr(k->what, "%s");
	struct smp_counter c = {
		.unit = k->unit,
		.missing = missing,
		.scope = SMP_NODE,
		.type = SMP_U64,
		.kind = k->kind,
		.factor = k->factor,
		.shown_unit = k->shown_unit,
	};
	int rc;

	c.name = tkm_printed(&l->name, "%s%s", prefix, file);
	c.what = tkm_printed(&l->what, "%.*s%s", (int)(rest - k->what), k->what, file);
	rc = c.name && c.what ? l->each(&c, l->ctx) : 0;
	if (rc || !stamped || missing || !tkm_printed(&l->age, "%s%s", l->name.text, age_suffix)) {
		return rc;
	}
	c = smp_age(l->age.text, l->name.text);
	return l->each(&c, l->ctx);
}

static int list_cray_file(const char *file, void *ctx)
{
	struct cray_lister *l = ctx;
	const struct cray_kind *k = kind_of_file(file);
	uint64_t value, stamp_us = 0;
	char text[128], why[SMP_TEXT];
	const char *missing = NULL;

	if (!k || !tkm_printed(&l->path, "%s/%s", folder, file)) {
		return 0;
	}
	if (parse_cray_value(k, tkm_root_line(l->root, l->path.text, text, sizeof(text)), &value, &stamp_us) < 0) {
		smp_why(why, "%.150s has no such number, or may not be read", l->path.text);
		missing = why;
	}
	l->rc = list_cray_counter(l, file, k, stamp_us != 0, missing);
	return l->rc;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	static const char *const usual[] = { "power", "energy", "cpu_power", "cpu_energy", "memory_power",
		"memory_energy", "accel_power", "accel_energy" };
	struct cray_lister l = { .hint = hint, .each = each, .ctx = ctx };
	size_t i;

	(void)why;
	if (!tkm_glob_may_match(hint, prefix)) {
		return 0;
	}
	l.root = smp_root(env);
	if (l.root < 0 || smp_dir_each(l.root, folder, list_cray_file, &l) < 0) {
		for (i = 0; l.rc == 0 && i < sizeof(usual) / sizeof(usual[0]); i++) {
			l.rc = list_cray_counter(&l, usual[i], kind_of_file(usual[i]), 0,
				smp_why_closed(
					errno, "there is no /sys/cray/pm_counters: this is no node of an HPE Cray"));
		}
	}
	if (l.root >= 0) {
		close(l.root);
	}
	free(l.path.text);
	free(l.name.text);
	free(l.age.text);
	free(l.what.text);
	return l.rc;
}

/* ---- sets ---------------------------------------------------------------------------------------- */

struct cray_item {
	const struct cray_kind *kind;
	char *path;
	int age; /* its age is wanted */
	struct smp_file file;
	uint64_t value, stamp_us;
	int has; /* a value, in this reading */
	struct smp_count count;
};

struct cray_set {
	const struct smp_env *env;
	struct cray_item freshness, scan_hz;
	uint64_t scan;               /* that was the last one */
	int64_t read_ms, changed_ms; /* when it became another one */
	size_t n;
	struct cray_item item[];
};

/* Returns 0, or -1: there is no memory. */
static int begin_cray_item(struct cray_item *it, const char *name)
{
	size_t len = strlen(name), suffix = strlen(age_suffix);
	struct tkm_printed path = { 0 };

	it->file.fd = -1;
	it->age = len > suffix && strcmp(name + len - suffix, age_suffix) == 0;
	len -= it->age ? suffix : 0;
	it->path = tkm_printed(&path, "%s/%.*s", folder, (int)len, name) ? path.text : NULL;
	it->kind = it->path ? kind_of_file(it->path + sizeof(folder)) : NULL;
	return it->path ? 0 : -1;
}

static void end_cray_item(struct cray_item *it)
{
	smp_file_close(&it->file);
	free(it->path);
}

static void close_set(void *set)
{
	struct cray_set *s = set;
	size_t i;

	for (i = 0; i < s->n; i++) {
		end_cray_item(&s->item[i]);
	}
	end_cray_item(&s->freshness);
	end_cray_item(&s->scan_hz);
	free(s);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct cray_set *s = calloc(1, sizeof(*s) + n * sizeof(s->item[0]));
	int rc;
	size_t i;

	(void)target;
	(void)why_each;
	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->env = env;
	rc = begin_cray_item(&s->freshness, "freshness");
	rc |= begin_cray_item(&s->scan_hz, "raw_scan_hz");
	for (i = 0; i < n; i++) {
		s->n = i + 1;
		rc |= begin_cray_item(&s->item[i], names[i] + strlen(prefix));
	}
	if (rc < 0) {
		close_set(s);
		smp_why(why, "no memory");
		return NULL;
	}
	return s;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static void read_cray_file(const struct smp_env *env, struct cray_item *it)
{
	char text[128];
	int root;

	it->has = 0;
	if (!smp_file_there(&it->file)) {
		root = smp_root(env);
		if (root >= 0) {
			smp_file_open(&it->file, root, it->path);
			close(root);
		}
	}
	it->has = it->kind && smp_file_read(&it->file, text, sizeof(text)) > 0 &&
		parse_cray_value(it->kind, text, &it->value, &it->stamp_us) == 0;
}

/* Reads all of one scan. Returns 0, or -1 if each time another one came between. A node without `freshness` is believed. */
static int read_scan(struct cray_set *s)
{
	uint64_t before;
	int tries, had;
	size_t i;

	for (tries = 0; tries < TRIES; tries++) {
		read_cray_file(s->env, &s->freshness);
		had = s->freshness.has;
		before = s->freshness.value;
		for (i = 0; i < s->n; i++) {
			read_cray_file(s->env, &s->item[i]);
		}
		read_cray_file(s->env, &s->freshness);
		if (had == s->freshness.has && (!had || s->freshness.value == before)) {
			return 0;
		}
	}
	return -1;
}

/* Has the controller stopped? Then what it shows is of the past. */
static int has_stopped(struct cray_set *s, int first)
{
	int64_t limit_ms = STALE_MS;

	if (!s->freshness.has) {
		return 0;
	}
	if (first || s->freshness.value != s->scan) {
		s->scan = s->freshness.value;
		s->changed_ms = s->read_ms;
		return 0;
	}
	read_cray_file(s->env, &s->scan_hz);
	if (s->scan_hz.has && s->scan_hz.value > 0 && STALE_SCANS * 1000 / (int64_t)s->scan_hz.value > limit_ms) {
		limit_ms = STALE_SCANS * 1000 / (int64_t)s->scan_hz.value;
	}
	return s->read_ms - s->changed_ms > limit_ms;
}

static uint8_t put_cray_value(struct cray_set *s, struct cray_item *it, int first, union smp_value *value)
{
	const struct smp_physics *can = it->kind->letter ? &can_energy : &can_scans;
	int64_t age_us;
	uint8_t state = SMP_VALID;

	if (it->age) {
		age_us = age_of_cray_value(it->stamp_us);
		value->u = (uint64_t)age_us;
		return age_us >= 0 ? SMP_VALID : 0;
	}
	value->u = it->value;
	if (it->kind->kind == SMP_TOTAL) {
		if (!it->count.begun) {
			smp_count_begin(&it->count, it->value, first ? it->value : 0, s->read_ms);
		} else {
			state = smp_count_add(&it->count, can, it->value, s->read_ms);
		}
		value->u = it->count.sum;
	}
	return state;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct cray_set *s = set;
	int first = !s->read_ms, valid = 0;
	size_t i;

	memset(state, 0, s->n);
	s->read_ms = smp_reading_ms(s->env, s->read_ms);
	if (read_scan(s) < 0 || has_stopped(s, first)) {
		return 0;
	}
	for (i = 0; i < s->n; i++) {
		state[i] = s->item[i].has ? put_cray_value(s, &s->item[i], first, &value[i]) : 0;
		valid += (state[i] & SMP_VALID) != 0;
	}
	return valid;
}

const struct smp_source smp_cray = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "cray",
	.what = "power and energy of HPE Cray nodes, by pm_counters",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
};
