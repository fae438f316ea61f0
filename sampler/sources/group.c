/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters that exist once for each device, summed over the devices of a folder: requests of disks, packets of
 * interfaces, NUMA nodes, memory controllers, throttling of CPUs, GPUs, mounts of Lustre. All are in one table;
 * "NAME:DEVICE" is the counter of one device. */
#include "config.h"
#include "sampler/sources/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "sampler/sources/device.h"

enum { NAME = 64, FILE_SIZE = 16384, MOST_FILES = 4096 };

struct group {
	const char *dir[2]; /* where the devices' folders are; the second is used if the first does not exist */
	const char *begins; /* the prefix of the devices' names; "" */
	int (*own)(int root, const char *name); /* NULL, or: is this device part of the sum? */
	const char *none;                       /* why the counter is missing if there is no device */
};

static const struct group disks = { { "/sys/block", NULL }, "", smp_disk_own,
	"no physical disk is visible in /sys/block" };
static const struct group nics = { { "/sys/class/net", NULL }, "", smp_net_own,
	"no system interface is visible in /sys/class/net" };
static const struct group numa = { { "/sys/devices/system/node", NULL }, "node", NULL,
	"there is no /sys/devices/system/node: this kernel was built without NUMA" };
static const struct group edac = { { "/sys/devices/system/edac/mc", NULL }, "mc", NULL,
	"no memory controller reports errors: no EDAC driver is loaded, or this is a virtual machine" };
static const struct group cpus = { { "/sys/devices/system/cpu", NULL }, "cpu", NULL,
	"no CPU has a thermal_throttle folder: not an Intel processor, or a virtual machine" };
static const struct group lustre = { { "/proc/fs/lustre/llite", "/sys/kernel/debug/lustre/llite" }, "", NULL,
	"no Lustre file system is mounted, or its statistics are for root only" };
static const struct group gpus = { { "/sys/class/drm", NULL }, "card", NULL,
	"no GPU in /sys/class/drm counts this: amdgpu does. Those of NVIDIA and Intel are read by a library of their "
	"own "
	"(NVML, Level Zero), which a PLUGIN can call" };

struct counter {
	const struct group *group;
	const char *file; /* below the device's folder */
	struct smp_text_counter c;
	int nth2; /* with SMP_WORD: this word is added; 0: none */
};

#define TOTAL .kind = SMP_TOTAL
#define LEVEL .kind = SMP_LEVEL
/* clang-format off */
#define DISK(n, u, w, k, a, b, ...) { &disks, "stat", { n, u, w, k, .where = SMP_WORD, .nth = a, __VA_ARGS__ }, b }
#define NET(n, u, w, f) { &nics, "statistics/" f, { n, u, w, TOTAL, .where = SMP_WORD, .nth = 1 }, 0 }
#define NUMA(n, w) { &numa, "numastat", { n, "pages", w, TOTAL, .where = SMP_LABEL, .label = n " " }, 0 }
#define LUSTRE(n, u, w, l, a, ...) \
	{ &lustre, "stats", { n, u, w, TOTAL, .where = SMP_LABEL, .label = l " ", .nth = a, __VA_ARGS__ }, \
		0 }
/* clang-format on */

/* clang-format off */
static const struct counter counters[] = {
	DISK("disk_ops", "requests", "read and write requests that disks completed", TOTAL, 1, 5, .shown_unit = "requests/s"),
	DISK("disk_ops_read", "requests", "read requests that disks completed", TOTAL, 1, 0, .shown_unit = "requests/s"),
	DISK("disk_ops_write", "requests", "write requests that disks completed", TOTAL, 5, 0, .shown_unit = "requests/s"),
	DISK("disk_wait", "ms", "time that completed requests took, summed up: divided by disk_ops it is the mean latency", TOTAL, 4, 8),
	DISK("disk_busy", "ms", "time in which disks had requests to serve, summed over disks", TOTAL, 10, 0, .factor = 0.1, .shown_unit = "percent"),
	DISK("disk_queue", "ms", "time that requests spent in queue and disk: its rate is the mean length of the queue", TOTAL, 11, 0, .factor = 1e-3, .shown_unit = "requests"),
	DISK("disk_inflight", "requests", "requests that disks are serving or have in their queues", LEVEL, 9, 0),
	NET("net_rx_packets", "packets", "packets received", "rx_packets"),
	NET("net_tx_packets", "packets", "packets sent", "tx_packets"),
	NET("net_rx_errors", "packets", "packets received with errors", "rx_errors"),
	NET("net_tx_errors", "packets", "packets that could not be sent", "tx_errors"),
	NET("net_rx_drops", "packets", "packets received and dropped, for example because buffers were full", "rx_dropped"),
	NET("net_tx_drops", "packets", "packets dropped before they were sent", "tx_dropped"),
	NUMA("numa_hit", "pages allocated on the NUMA node that was wanted"),
	NUMA("numa_miss", "pages allocated on this NUMA node although another one was wanted"),
	NUMA("numa_foreign", "pages wanted from this NUMA node and allocated on another one"),
	NUMA("local_node", "pages allocated on the NUMA node where the process ran"),
	NUMA("other_node", "pages allocated on this NUMA node for a process that ran on another one"),
	{ &edac, "ce_count", { "edac_corrected", "errors", "memory errors that were corrected", TOTAL, .where = SMP_WORD, .nth = 1 }, 0 },
	{ &edac, "ue_count", { "edac_uncorrected", "errors", "memory errors that could not be corrected", TOTAL, .where = SMP_WORD, .nth = 1 }, 0 },
	{ &cpus, "thermal_throttle/core_throttle_count", { "throttle_core", "times", "times that a core was slowed down for its temperature, as each of its CPUs counts it", TOTAL, .where = SMP_WORD, .nth = 1 }, 0 },
	{ &cpus, "thermal_throttle/package_throttle_count", { "throttle_package", "times", "times that a package was slowed down for its temperature, as each of its CPUs counts it", TOTAL, .where = SMP_WORD, .nth = 1 }, 0 },
	{ &gpus, "device/gpu_busy_percent", { "gpu_busy", "percent", "share of its time in which a GPU computes, as its driver estimates it, summed over GPUs", LEVEL, .where = SMP_WORD, .nth = 1 }, 0 },
	{ &gpus, "device/mem_info_vram_used", { "gpu_mem_used", "bytes", "memory of GPUs that is in use", LEVEL, .where = SMP_WORD, .nth = 1, .factor = 1.0 / 1048576, .shown_unit = "MB" }, 0 },
	{ &gpus, "device/mem_info_vram_total", { "gpu_mem_total", "bytes", "memory of GPUs", LEVEL, .where = SMP_WORD, .nth = 1, .factor = 1.0 / 1048576, .shown_unit = "MB" }, 0 },
	LUSTRE("lustre_read", "bytes", "bytes that this client read from Lustre", "read_bytes", 6, .factor = 1.0 / 1024, .shown_unit = "KB/s"),
	LUSTRE("lustre_write", "bytes", "bytes that this client wrote to Lustre", "write_bytes", 6, .factor = 1.0 / 1024, .shown_unit = "KB/s"),
	LUSTRE("lustre_ops_read", "calls", "reads of this client from Lustre", "read_bytes", 1),
	LUSTRE("lustre_ops_write", "calls", "writes of this client to Lustre", "write_bytes", 1),
	LUSTRE("lustre_ops_open", "calls", "files that this client opened on Lustre", "open", 1),
	LUSTRE("lustre_ops_getattr", "calls", "attributes that this client asked Lustre for", "getattr", 1),
};
/* clang-format on */

enum { N_COUNTERS = sizeof(counters) / sizeof(counters[0]) };

static int find_number(const struct counter *c, const char *text, uint64_t *out)
{
	struct smp_text_counter second = c->c;
	union smp_value v, more = { 0 };

	second.nth = c->nth2;
	if (smp_text_find(&c->c, text, &v) < 0 || (c->nth2 && smp_text_find(&second, text, &more) < 0)) {
		return -1;
	}
	*out = v.u + more.u;
	return 0;
}

static const char *class_folder(const struct group *g, int root)
{
	return g->dir[1] && !smp_exists(root, g->dir[0]) ? g->dir[1] : g->dir[0];
}

/* ---- which devices there are --------------------------------------------------------------------- */

struct walk {
	const struct counter *counter;
	int root;
	int (*each)(const char *device, const char *path, void *ctx);
	void *ctx;
};

static int visit_if_of_group(const char *name, void *ctx)
{
	struct walk *w = ctx;
	const struct group *g = w->counter->group;
	char path[256];

	if (strncmp(name, g->begins, strlen(g->begins)) || strlen(name) >= NAME ||
		(size_t)snprintf(path, sizeof(path), "%s/%s/%s", class_folder(g, w->root), name, w->counter->file) >=
			sizeof(path) ||
		!smp_exists(w->root, path)) {
		return 0;
	}
	return w->each(name, path, w->ctx);
}

static int each_device(
	const struct counter *c, int root, int (*each)(const char *device, const char *path, void *ctx), void *ctx)
{
	struct walk w = { c, root, each, ctx };

	return smp_dir_each(root, class_folder(c->group, root), visit_if_of_group, &w);
}

/* ---- listing ------------------------------------------------------------------------------------- */

struct lister {
	const struct counter *counter;
	const char *hint;
	smp_each each;
	void *ctx;
	int root, found, readable;
};

static int list_counter(const struct lister *l, const char *name, const char *what, const char *missing)
{
	const struct smp_text_counter *t = &l->counter->c;
	struct smp_counter c = {
		.name = name,
		.unit = t->unit,
		.what = what,
		.missing = missing,
		.scope = SMP_NODE,
		.type = SMP_U64,
		.kind = t->kind,
		.factor = t->factor,
		.shown_unit = t->shown_unit,
	};

	return l->each(&c, l->ctx);
}

static int list_group_device(const char *device, const char *path, void *ctx)
{
	struct lister *l = ctx;
	char name[NAME + 64], what[240], *text;
	uint64_t v;
	int own = !l->counter->group->own || l->counter->group->own(l->root, device);

	l->found += own;
	text = own || strchr(l->hint, ':') ? calloc(1, FILE_SIZE) : NULL;
	if (text && tkm_root_read(l->root, path, text, FILE_SIZE) > 0 && find_number(l->counter, text, &v) == 0) {
		l->readable += own;
	}
	free(text);
	snprintf(name, sizeof(name), "%s:%s", l->counter->c.name, device);
	if (!strchr(l->hint, ':') ||
		!(tkm_glob_is_name(l->hint) ? strcasecmp(l->hint, name) == 0 : tkm_glob_match(l->hint, name))) {
		return 0;
	}
	snprintf(what, sizeof(what), "%s; %s", l->counter->c.what, device);
	return list_counter(l, name, what, NULL);
}

static int list_group_counter(struct lister *l)
{
	const struct counter *c = l->counter;
	char why[SMP_TEXT] = "", name[NAME + 64];
	int rc = l->root < 0 ? 0 : each_device(c, l->root, list_group_device, l);

	if (rc > 0) {
		return rc;
	}
	if (!l->found) {
		smp_why(why, "%s", smp_why_closed(l->root < 0 ? errno : 0, c->group->none));
	} else if (!l->readable) {
		smp_why(why, "%s/*/%s has no such number, or may not be read", class_folder(c->group, l->root),
			c->file);
	}
	snprintf(name, sizeof(name), "%s", c->c.name);
	if (tkm_glob_is_name(l->hint) ? strcasecmp(l->hint, name) == 0 : tkm_glob_match(l->hint, name)) {
		return list_counter(l, name, c->c.what, why[0] ? why : NULL);
	}
	return 0;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	struct lister l = { .hint = hint, .each = each, .ctx = ctx, .root = smp_root(env) };
	size_t i;
	int rc = 0;

	(void)why;
	for (i = 0; rc == 0 && i < N_COUNTERS; i++) {
		if (tkm_glob_may_match(hint, counters[i].c.name)) {
			l.counter = &counters[i];
			l.found = l.readable = 0;
			rc = list_group_counter(&l);
		}
	}
	if (l.root >= 0) {
		close(l.root);
	}
	return rc;
}

/* ---- sets ---------------------------------------------------------------------------------------- */

struct wanted {
	const struct counter *counter;
	char device[NAME]; /* "": the sum */
	struct smp_total total;
	uint64_t sum; /* of this read */
	int valid;
};

struct file {
	struct smp_file file;
	const struct counter *counter; /* of the first who wants it: the same group and file as the others */
	char device[NAME];
	int own;
};

struct set {
	const struct smp_env *env;
	struct file *file;
	size_t n_files, cap, n;
	char text[FILE_SIZE];
	struct wanted want[];
};

struct opener {
	struct set *s;
	struct wanted *w;
	int root, n;
};

static int same_file(const struct counter *a, const struct counter *b)
{
	return a->group == b->group && !strcmp(a->file, b->file);
}

static int open_group_device(const char *device, const char *path, void *ctx)
{
	struct opener *o = ctx;
	struct set *s = o->s;
	int own = !o->w->counter->group->own || o->w->counter->group->own(o->root, device);
	struct file *f;
	size_t i;

	if (o->w->device[0] ? strcmp(o->w->device, device) : !own) {
		return 0;
	}
	o->n++;
	for (i = 0; i < s->n_files; i++) {
		if (same_file(s->file[i].counter, o->w->counter) && !strcmp(s->file[i].device, device)) {
			return 0;
		}
	}
	if (s->n_files == MOST_FILES || TKM_GROW(s->file, s->cap, s->n_files + 1) < 0) {
		return 1;
	}
	f = &s->file[s->n_files];
	*f = (struct file){ .counter = o->w->counter, .own = own };
	snprintf(f->device, sizeof(f->device), "%s", device);
	if (smp_file_open(&f->file, o->root, path) == 0) {
		s->n_files++;
	}
	return 0;
}

static int parse_group_name(const char *name, struct wanted *w)
{
	size_t i, n = strcspn(name, ":");

	for (i = 0; i < N_COUNTERS; i++) {
		if (strlen(counters[i].c.name) == n && !strncmp(name, counters[i].c.name, n)) {
			w->counter = &counters[i];
			snprintf(w->device, sizeof(w->device), "%s", name[n] ? name + n + 1 : "");
			return 0;
		}
	}
	return -1;
}

static void close_set(void *set)
{
	struct set *s = set;
	size_t i;

	for (i = 0; i < s->n_files; i++) {
		smp_file_close(&s->file[i].file);
	}
	free(s->file);
	free(s);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct set *s = calloc(1, sizeof(*s) + n * sizeof(s->want[0]));
	int root = smp_root(env);
	size_t i;

	(void)target;
	if (!s || root < 0) {
		smp_why(why, "no memory, or no root folder");
		free(s);
		return NULL;
	}
	s->env = env;
	s->n = n;
	for (i = 0; i < n; i++) {
		struct opener o = { s, &s->want[i], root, 0 };

		if (parse_group_name(names[i], &s->want[i]) < 0) {
			smp_why(why_each[i], "no such counter");
			continue;
		}
		each_device(s->want[i].counter, root, open_group_device, &o);
		if (o.n == 0) {
			smp_why(why_each[i], "%s",
				s->want[i].device[0] ? "there is no such device" : s->want[i].counter->group->none);
			s->want[i].counter = NULL;
		}
	}
	close(root);
	return s;
}

/* A program may have closed our descriptor. */
static int reopen_file(struct set *s, struct file *f)
{
	int root = smp_root(s->env), rc = -1;
	char path[256];

	if (root >= 0) {
		snprintf(path, sizeof(path), "%s/%s/%s", class_folder(f->counter->group, root), f->device,
			f->counter->file);
		rc = smp_file_open(&f->file, root, path);
		close(root);
	}
	return rc;
}

static void add_group_file(struct set *s, struct file *f)
{
	uint64_t v;
	size_t i;

	if (!smp_file_ours(&f->file)) {
		f->file.fd = -1;
		if (reopen_file(s, f) < 0) {
			return;
		}
	}
	if (smp_file_read(&f->file, s->text, sizeof(s->text)) <= 0) {
		return;
	}
	for (i = 0; i < s->n; i++) {
		struct wanted *w = &s->want[i];

		if (w->counter && same_file(w->counter, f->counter) &&
			(w->device[0] ? !strcmp(w->device, f->device) : f->own) &&
			find_number(w->counter, s->text, &v) == 0) {
			w->sum += v;
			w->valid = 1;
		}
	}
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct set *s = set;
	size_t i;
	int valid = 0;

	for (i = 0; i < s->n; i++) {
		s->want[i].sum = 0;
		s->want[i].valid = 0;
	}
	for (i = 0; i < s->n_files; i++) {
		add_group_file(s, &s->file[i]);
	}
	for (i = 0; i < s->n; i++) {
		struct wanted *w = &s->want[i];

		state[i] = w->valid ? SMP_VALID : 0;
		value[i].u = w->sum;
		if (w->valid && w->counter->c.kind == SMP_TOTAL) {
			state[i] = smp_total_add(&w->total, w->sum);
			value[i].u = w->total.sum;
		}
		valid += w->valid;
	}
	return valid;
}

const struct smp_source smp_group = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "group",
	.what = "requests of disks, packets, NUMA, memory errors, throttling and Lustre, of the node",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
};
