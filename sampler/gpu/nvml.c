/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of NVIDIA's GPUs by NVML. "NAME:UUID" is that of one GPU; NAME is of all of them, and has no value while one of them has
 * none. "NAME_age" and "NAME_age:UUID" are how old the value was, where the library says when it was made. What was not read in time has no value. */
#include "config.h"
#include "sampler/gpu/nvml_lib.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/rootfs.h"
#include "base/text/glob.h"
#include "base/text/printed.h"

/* WAIT_NS: as long as a reading may last. What lasts long is read once in SLOW_MS while others are, and waited for only if
 * samples are further apart than APART_MS. LATE: GPUs that may come after open(). */
enum { WAIT_NS = 100000000, SLOW_WAIT_NS = 500000000, SLOW_MS = 1000, APART_MS = 1500, OLD_US = 2000000, LATE = 32 };

/* What is made of the values of several GPUs. */
enum several { SUM, MEAN, GREATEST, ANY_BIT };

static const struct nvml_counter {
	const char *name, *unit, *what; /* "%s" in it: "all GPUs" or "a GPU" */
	enum smp_kind kind;
	enum several several;
	double factor;
	const char *shown_unit;
	unsigned scale; /* recorded = the library's number * scale */
	double upper;
	int has_age;
	struct smp_physics can; /* of a total, in the library's unit. A fall is no turn: these counts have 64 bits */
} counters[SMP_NVML_ITEMS] = {
	/* clang-format off */
	[SMP_NVML_BUSY] = { "nvml_busy", "percent", "share of its last period (1/6 to 1 s) in which a kernel ran on %s, mean", SMP_LEVEL, MEAN, 0, NULL, 1, 100, 1, { 0 } },
	[SMP_NVML_MEM_BUSY] = { "nvml_mem_busy", "percent", "share of its last period in which the memory of %s was read or written, mean", SMP_LEVEL, MEAN, 0, NULL, 1, 100, 1, { 0 } },
	[SMP_NVML_MEM_USED] = { "nvml_mem_used", "bytes", "memory of %s that is in use", SMP_LEVEL, SUM, 1.0 / 1048576, "MB", 1, 0, 0, { 0 } },
	[SMP_NVML_MEM_TOTAL] = { "nvml_mem_total", "bytes", "memory of %s", SMP_LEVEL, SUM, 1.0 / 1048576, "MB", 1, 0, 0, { 0 } },
	[SMP_NVML_POWER] = { "nvml_power", "mW", "power of %s as nvidia-smi prints it: on most since Ampere the mean of the last second", SMP_LEVEL, SUM, 1e-3, "W", 1, 0, 0, { 0 } },
	[SMP_NVML_POWER_NOW] = { "nvml_power_now", "mW", "power of %s, not averaged", SMP_LEVEL, SUM, 1e-3, "W", 1, 0, 1, { 0 } },
	[SMP_NVML_ENERGY] = { "nvml_energy", "mJ", "energy used by %s", SMP_TOTAL, SUM, 1e-3, "W", 1, 0, 1, { .fastest = 10000000, .turn = UINT64_MAX } },
	[SMP_NVML_SM_CLOCK] = { "nvml_sm_clock", "MHz", "clock of the multiprocessors of %s, mean", SMP_LEVEL, MEAN, 0, NULL, 1, 0, 0, { 0 } },
	[SMP_NVML_MEM_CLOCK] = { "nvml_mem_clock", "MHz", "clock of the memory of %s, mean", SMP_LEVEL, MEAN, 0, NULL, 1, 0, 0, { 0 } },
	[SMP_NVML_THROTTLE] = { "nvml_throttle", "bits", "why the clocks of %s are below their maximum: the bits of nvmlClocksEventReasons", SMP_LEVEL, ANY_BIT, 0, NULL, 1, 0, 0, { 0 } },
	[SMP_NVML_TEMP] = { "nvml_temp", "degC", "temperature of %s, the highest", SMP_LEVEL, GREATEST, 0, NULL, 1, 0, 0, { 0 } },
	[SMP_NVML_LINK_TX] = { "nvml_link_tx", "bytes", "bytes sent over the NVLinks of %s", SMP_TOTAL, SUM, 1.0 / 1024, "KB/s", 1024, 0, 1, { .fastest = 8000000000, .turn = UINT64_MAX } },
	[SMP_NVML_LINK_RX] = { "nvml_link_rx", "bytes", "bytes received over the NVLinks of %s", SMP_TOTAL, SUM, 1.0 / 1024, "KB/s", 1024, 0, 1, { .fastest = 8000000000, .turn = UINT64_MAX } },
	[SMP_NVML_PCIE_TX] = { "nvml_pcie_tx", "KB/s", "sent over PCIe by %s, measured during 20 ms once a second", SMP_LEVEL, SUM, 0, NULL, 1, 0, 1, { 0 } },
	[SMP_NVML_PCIE_RX] = { "nvml_pcie_rx", "KB/s", "received over PCIe by %s, measured during 20 ms once a second", SMP_LEVEL, SUM, 0, NULL, 1, 0, 1, { 0 } },
	/* clang-format on */
};

/* ---- listing ------------------------------------------------------------------------------------- */

static const char age_suffix[] = "_age";

struct nvml_lister {
	const char *hint;
	smp_each each;
	void *ctx;
	struct tkm_printed name, age, what;
};

/* Why a GPU will never have the value, or NULL. */
static const char *why_never(int rc, char why[SMP_TEXT])
{
	switch (rc) {
	case SMP_NVML_NOT_SUPPORTED:
	case SMP_NVML_INVALID_ARGUMENT:
		smp_why(why, "this GPU does not count it, or its driver is too old (NVML: not supported)");
		return why;
	case SMP_NVML_FUNCTION_NOT_FOUND:
		smp_why(why, "the NVML of this driver has no call for it: a newer driver is needed");
		return why;
	case SMP_NVML_NO_PERMISSION:
		smp_why(why, "NVML tells it to root only");
		return why;
	case SMP_NVML_MIG:
		smp_why(why,
			"the GPU is cut into MIG instances: NVML has no utilisation of the whole of it; DCGM measures instances");
		return why;
	default:
		return NULL;
	}
}

/* Lists a counter of all GPUs, or of `d`, with that of its age. */
static int list_nvml_counter(
	struct nvml_lister *l, const struct nvml_counter *k, const struct smp_nvml_device *d, const char *missing)
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
		.upper = k->upper,
	};
	int rc;

	c.name = tkm_printed(&l->name, "%s%s%s", k->name, d ? ":" : "", d ? d->uuid : "");
	c.what = tkm_printed(&l->what, "%.*s%s%s", (int)(rest - k->what), k->what,
		!d                   ? "all GPUs"
			: d->name[0] ? d->name
				     : "a GPU",
		rest + 2);
	rc = c.name && c.what ? l->each(&c, l->ctx) : 0;
	if (rc || !k->has_age || missing || !c.name ||
		!tkm_printed(&l->age, "%s%s%s", k->name, age_suffix, c.name + strlen(k->name))) {
		return rc;
	}
	c = smp_age(l->age.text, l->name.text);
	return l->each(&c, l->ctx);
}

/* The counter that a name without its device is of, or -1. *is_age: it is the age of that. */
static int item_of_name(const char *name, int *is_age)
{
	size_t n = strcspn(name, ":"), len;
	int i;

	for (i = 0; i < SMP_NVML_ITEMS; i++) {
		len = strlen(counters[i].name);
		*is_age = n == len + strlen(age_suffix) && strncasecmp(name + len, age_suffix, strlen(age_suffix)) == 0;
		if ((n == len || *is_age) && strncasecmp(counters[i].name, name, len) == 0) {
			return i;
		}
	}
	return -1;
}

static int is_item_hinted(const char *hint, int item)
{
	int is_age;

	return tkm_glob_is_name(hint) ? item_of_name(hint, &is_age) == item
				      : tkm_glob_may_match(hint, counters[item].name);
}

/* Lists a GPU that is asked for by its identifier and is not there, or that is not looked for. */
static int list_absent_gpu(
	struct nvml_lister *l, const struct nvml_counter *k, const struct smp_nvml_view *view, const char *missing)
{
	const char *uuid = strchr(l->hint, ':');
	struct smp_nvml_device d = { .handle = NULL };
	char why[SMP_TEXT];
	size_t i;

	if (!uuid || !tkm_glob_is_name(l->hint) || strlen(++uuid) >= sizeof(d.uuid)) {
		return 0;
	}
	memcpy(d.uuid, uuid, strlen(uuid));
	if (!view) {
		return list_nvml_counter(l, k, &d, missing);
	}
	for (i = 0; i < view->n && strcasecmp(view->device[i].uuid, uuid) != 0; i++) {
	}
	if (i < view->n) {
		return 0;
	}
	smp_why(why, "there is no GPU %s here now: nvidia-smi -L lists the identifiers", d.uuid);
	return list_nvml_counter(l, k, &d, why);
}

/* Of a library that may not be tried, all that it might have is listed. */
static int list_nvml_item(struct nvml_lister *l, int item, const struct smp_nvml_view *view, const char *missing)
{
	const struct nvml_counter *k = &counters[item];
	char text[SMP_TEXT], first[SMP_TEXT];
	const char *why = missing, *why_one;
	size_t i, n = 0;
	int rc = 0;

	for (i = 0; view && i < view->n; i++) {
		why_one = why_never(view->device[i].reading[item].rc, text);
		n += !why_one;
		if (why_one && !why) {
			why = strcpy(first, why_one);
		}
	}
	if (view && !view->n && !why) {
		why = "NVML finds no GPU";
	}
	rc = list_nvml_counter(l, k, NULL, n ? NULL : why);
	for (i = 0; view && rc == 0 && i < view->n; i++) {
		rc = list_nvml_counter(l, k, &view->device[i], why_never(view->device[i].reading[item].rc, text));
	}
	return rc ? rc : list_absent_gpu(l, k, view, missing);
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	struct nvml_lister l = { .hint = hint, .each = each, .ctx = ctx };
	struct smp_nvml_device *copy = NULL;
	struct smp_nvml_view view;
	char missing[SMP_TEXT] = "";
	int is_foreign = (env->flags & SMP_FOREIGN) != 0, try_it = !is_foreign && !(env->flags & SMP_FAST), rc = 0,
	    item;

	(void)why;
	if (!tkm_glob_may_match(hint, "nvml_")) {
		return 0;
	}
	if (!is_foreign && smp_nvml_load(env, try_it, missing) == 0 && try_it) {
		/* not under the lock: each() may be slow */
		smp_nvml_take(SMP_NVML_FAST_LANE, (1u << SMP_NVML_ITEMS) - 1 - SMP_NVML_SLOW,
			(int64_t)((env->limit_s > 0 ? env->limit_s : 2) * 1e9), &view);
		copy = calloc(view.n + 1, sizeof(*copy));
		if (copy && view.n) {
			memcpy(copy, view.device, view.n * sizeof(*copy));
		}
		if (!view.done_ns) {
			smp_why(missing, "NVML did not answer in time: nvidia-smi shows whether it hangs");
		}
		smp_nvml_give_back();
		view.device = copy;
	}
	for (item = 0; rc == 0 && item < SMP_NVML_ITEMS; item++) {
		if (is_item_hinted(hint, item)) {
			rc = list_nvml_item(&l, item, copy ? &view : NULL, missing[0] ? missing : NULL);
		}
	}
	free(copy);
	free(l.name.text);
	free(l.age.text);
	free(l.what.text);
	return rc;
}

/* ---- sets ---------------------------------------------------------------------------------------- */

struct nvml_total {
	struct smp_count count;
	uint8_t state; /* of this reading */
};

/* A GPU as a set knows it. */
struct known_gpu {
	char uuid[SMP_NVML_UUID];
	unsigned had,
		never; /* items that had a value; that it does not have. What it has is part of that of all GPUs */
	int was_lost, is_lost;
	const struct smp_nvml_device *now; /* while a view is held */
	struct nvml_total total[SMP_NVML_ITEMS];
};

struct nvml_want {
	int item, age;
	char *uuid; /* "": all */
};

struct nvml_set {
	const struct smp_env *env;
	unsigned items[SMP_NVML_LANES];
	uint64_t number[SMP_NVML_LANES]; /* of the reading that was taken last */
	int64_t asked_ms, read_ms;       /* asked_ms: the slow lane */
	struct known_gpu *gpu;
	size_t n_gpus, room, n;
	struct nvml_want want[];
};

/* Returns 0, or -1: there is no memory. */
static int want_nvml_counter(struct nvml_set *s, struct nvml_want *w, const char *name)
{
	const char *colon = strchr(name, ':');

	w->item = item_of_name(name, &w->age);
	w->uuid = strdup(colon ? colon + 1 : "");
	if (w->item >= 0) {
		s->items[1u << w->item & SMP_NVML_SLOW ? SMP_NVML_SLOW_LANE : SMP_NVML_FAST_LANE] |= 1u << w->item;
	}
	return w->uuid ? 0 : -1;
}

static void free_set(struct nvml_set *s)
{
	size_t i;

	for (i = 0; s && i < s->n; i++) {
		free(s->want[i].uuid);
	}
	free(s ? s->gpu : NULL);
	free(s);
}

static void close_set(void *set)
{
	struct nvml_set *s = set;

	smp_nvml_want(SMP_NVML_FAST_LANE, s->items[SMP_NVML_FAST_LANE], -1);
	smp_nvml_want(SMP_NVML_SLOW_LANE, s->items[SMP_NVML_SLOW_LANE], -1);
	free_set(s);
}

static struct known_gpu *know_gpu(struct nvml_set *s, const char *uuid)
{
	size_t i;

	for (i = 0; i < s->n_gpus && strcmp(s->gpu[i].uuid, uuid) != 0; i++) {
	}
	if (i == s->n_gpus) {
		if (i == s->room) {
			return NULL;
		}
		memset(&s->gpu[i], 0, sizeof(s->gpu[i]));
		memcpy(s->gpu[i].uuid, uuid, SMP_NVML_UUID);
		s->n_gpus++;
	}
	return &s->gpu[i];
}

static void note_what_gpu_has(struct known_gpu *g, const struct smp_nvml_device *d)
{
	char why[SMP_TEXT];
	int i;

	for (i = 0; i < SMP_NVML_ITEMS; i++) {
		g->had |= d->reading[i].rc == SMP_NVML_SUCCESS ? 1u << i : 0;
		g->never |= why_never(d->reading[i].rc, why) ? 1u << i : 0;
	}
}

/* Those that are there when recording begins, and room for those that come. */
static int know_gpus(struct nvml_set *s)
{
	struct smp_nvml_view view;
	size_t i;

	smp_nvml_take(SMP_NVML_FAST_LANE, 0, -1, &view);
	s->room = view.n + LATE;
	s->gpu = calloc(s->room, sizeof(*s->gpu));
	for (i = 0; s->gpu && i < view.n; i++) {
		note_what_gpu_has(know_gpu(s, view.device[i].uuid), &view.device[i]);
	}
	smp_nvml_give_back();
	return s->gpu ? 0 : -1;
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct nvml_set *s = calloc(1, sizeof(*s) + n * sizeof(s->want[0]));
	int rc = s ? 0 : -1;
	size_t i;

	(void)target;
	(void)why_each;
	if (s && smp_nvml_load(env, 1, why) < 0) {
		free(s);
		return NULL;
	}
	for (i = 0; rc == 0 && i < n; i++) {
		s->n = i + 1;
		rc = want_nvml_counter(s, &s->want[i], names[i]);
	}
	if (rc < 0 || know_gpus(s) < 0) {
		smp_why(why, "no memory");
		free_set(s);
		return NULL;
	}
	s->env = env;
	s->asked_ms = -SLOW_MS;
	smp_nvml_want(SMP_NVML_FAST_LANE, s->items[SMP_NVML_FAST_LANE], 1);
	smp_nvml_want(SMP_NVML_SLOW_LANE, s->items[SMP_NVML_SLOW_LANE], 1);
	return s;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Takes the totals of this reading. */
static void take_gpu(struct nvml_set *s, struct known_gpu *g, unsigned items, int first)
{
	int i;

	for (i = 0; i < SMP_NVML_ITEMS; i++) {
		const struct smp_nvml_reading *r = &g->now->reading[i];
		struct nvml_total *t = &g->total[i];

		t->state = 0;
		if (!(items & 1u << i) || r->rc != SMP_NVML_SUCCESS) {
			continue;
		}
		t->state = SMP_VALID;
		if (counters[i].kind == SMP_TOTAL && !t->count.begun) {
			smp_count_begin(&t->count, r->value, first ? r->value : 0, s->read_ms);
		} else if (counters[i].kind == SMP_TOTAL) {
			t->state = smp_count_add(&t->count, &counters[i].can, r->value, s->read_ms);
		}
	}
	note_what_gpu_has(g, g->now);
	g->is_lost = g->now->lost;
}

/* The devices of a reading become those of the set. */
static void meet_gpus(struct nvml_set *s, const struct smp_nvml_view *view, unsigned items, int first)
{
	struct known_gpu *g;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		s->gpu[i].now = NULL;
		s->gpu[i].was_lost = s->gpu[i].is_lost;
	}
	for (i = 0; i < view->n; i++) {
		g = know_gpu(s, view->device[i].uuid);
		if (g) {
			g->now = &view->device[i];
			take_gpu(s, g, items, first);
		}
	}
}

static uint64_t combine_values(enum several several, uint64_t a, uint64_t b)
{
	return several == GREATEST ? (a > b ? a : b) : several == ANY_BIT ? a | b : a + b;
}

/* The age of several values is that of the oldest, and unknown if one is: INT64_MAX. passed_us: since the reading. */
static int64_t older_of(int64_t oldest_us, const struct smp_nvml_reading *r, int item, int64_t passed_us)
{
	/* what the slow lane reads is as old as the call */
	int64_t age_us = 1u << item & SMP_NVML_SLOW ? 0 : r->age_us;

	age_us = age_us < 0 ? INT64_MAX : age_us + passed_us;
	return age_us > oldest_us ? age_us : oldest_us;
}

/* Is the value of this GPU part of what is wanted? */
static int is_gpu_wanted(const struct nvml_want *w, const struct known_gpu *g)
{
	unsigned bit = 1u << w->item;

	return w->uuid[0] ? strcmp(w->uuid, g->uuid) == 0 : (g->had & bit) || !(g->never & bit);
}

/* Returns the state. */
static uint8_t value_of_want(const struct nvml_set *s, const struct nvml_want *w, int64_t passed_us, uint64_t *value)
{
	const struct nvml_counter *k = &counters[w->item];
	uint64_t sum = 0, n = 0;
	int64_t oldest_us = 0;
	uint8_t state = SMP_VALID, noted = 0;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		const struct known_gpu *g = &s->gpu[i];
		const struct smp_nvml_reading *r = g->now ? &g->now->reading[w->item] : NULL;
		const struct nvml_total *t = &g->total[w->item];

		if (!is_gpu_wanted(w, g)) {
			continue;
		}
		noted |= g->is_lost != g->was_lost ? SMP_RESTARTED : 0;
		if (!r || !t->state) {
			state = 0;
			continue;
		}
		n++;
		noted |= t->state & (SMP_RESTARTED | SMP_LEFT_OUT);
		sum = combine_values(k->several, sum, (k->kind == SMP_TOTAL ? t->count.sum : r->value) * k->scale);
		oldest_us = older_of(oldest_us, r, w->item, passed_us);
	}
	if (w->age) {
		*value = (uint64_t)oldest_us;
		return n && state && oldest_us < INT64_MAX ? SMP_VALID : 0;
	}
	*value = k->several == MEAN && n ? (sum + n / 2) / n : sum;
	return (n ? state : 0) | noted;
}

static int put_values_of_lane(struct nvml_set *s, enum smp_nvml_lane lane, const struct smp_nvml_view *view,
	union smp_value *value, uint8_t *state)
{
	int64_t passed_us = (smp_nvml_now_ns() - view->done_ns) / 1000;
	int first = !s->number[lane], valid = 0;
	size_t i;

	/* each reading is taken once, and one that came late is not of now */
	if (view->number == s->number[lane] || passed_us > (lane == SMP_NVML_SLOW_LANE ? OLD_US : WAIT_NS / 1000)) {
		return 0;
	}
	s->number[lane] = view->number;
	meet_gpus(s, view, s->items[lane], first);
	for (i = 0; i < s->n; i++) {
		const struct nvml_want *w = &s->want[i];

		if (w->item >= 0 && s->items[lane] & 1u << w->item) {
			state[i] = value_of_want(s, w, passed_us, &value[i].u);
			valid += (state[i] & SMP_VALID) != 0;
		}
	}
	return valid;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct nvml_set *s = set;
	struct smp_nvml_view view;
	int64_t before_ms = s->read_ms, wait_ns;
	int valid = 0;

	memset(state, 0, s->n);
	s->read_ms = smp_now_ms();
	if (s->items[SMP_NVML_FAST_LANE]) {
		smp_nvml_take(SMP_NVML_FAST_LANE, 0, WAIT_NS, &view);
		valid += put_values_of_lane(s, SMP_NVML_FAST_LANE, &view, value, state);
		smp_nvml_give_back();
	}
	if (s->items[SMP_NVML_SLOW_LANE]) {
		wait_ns = s->read_ms - s->asked_ms < SLOW_MS             ? -1
			: before_ms && s->read_ms - before_ms > APART_MS ? SLOW_WAIT_NS
									 : 0;
		s->asked_ms = wait_ns < 0 ? s->asked_ms : s->read_ms;
		smp_nvml_take(SMP_NVML_SLOW_LANE, 0, wait_ns, &view);
		valid += put_values_of_lane(s, SMP_NVML_SLOW_LANE, &view, value, state);
		smp_nvml_give_back();
	}
	return valid;
}

/* The driver makes a folder for each GPU. */
static int add_gpu_folder(const char *name, void *ctx)
{
	*(uint64_t *)ctx += tkm_fnv(TKM_FNV_START, name, strlen(name));
	return 0;
}

static uint64_t mark(const struct smp_env *env)
{
	int root = smp_root(env);
	uint64_t sum = 0;

	if (root >= 0) {
		smp_dir_each(root, "/proc/driver/nvidia/gpus", add_gpu_folder, &sum);
		close(root);
	}
	return sum;
}

const struct smp_source smp_nvml = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "nvml",
	.what = "GPUs of NVIDIA by their library NVML, of the node",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.mark = mark,
};
