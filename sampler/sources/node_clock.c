/* SPDX-License-Identifier: BSD-3-Clause */
/* How good the node's clocks are while the job runs: clock source, NTP state, and the pairs (realtime, raw) and (realtime,
 * boottime). The first difference changes while the clock is slewed, the second one only when the clock is set. */
#include "config.h"
#include "sampler/private.h"

#include <stdlib.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"

/* Where the counters come from; each is read once per sample if one of its counters is wanted. */
enum from { FROM_SOURCE, FROM_NTP, FROM_PAIR, N_FROM };

enum which {
	CLOCK_SOURCE,
	NTP_STATE,
	NTP_STATUS,
	NTP_FREQ,
	NTP_OFFSET,
	NTP_MAXERROR,
	NTP_ESTERROR,
	PAIR,
	PAIR_WIDTH,
	STEPS,
	STEPPED,
	N_WHICH,
};

#define LEVEL(t) .scope = SMP_NODE, .kind = SMP_LEVEL, .type = t
/* clang-format off */
static const struct smp_counter counters[N_WHICH] = {
	[CLOCK_SOURCE] = { .name = "clock_source", .unit = "", .what = "clock source of the kernel: 1 tsc, 2 hpet, 3 acpi_pm, 4 kvm-clock, 5 xen, "
		"6 hyperv, 7 arch_sys_counter, 8 jiffies, 9 refined-jiffies, 10 timebase, 11 tod, 0 another", LEVEL(SMP_U64) },
	[NTP_STATE] = { .name = "ntp_state", .unit = "", .what = "state of the NTP clock: 0 in order, 1 to 4 leap second, 5 not synchronised", LEVEL(SMP_U64) },
	[NTP_STATUS] = { .name = "ntp_status", .unit = "", .what = "status bits of the NTP clock, adjtimex(2)", LEVEL(SMP_U64) },
	[NTP_FREQ] = { .name = "ntp_freq", .unit = "ppb", .what = "correction of the clock's rate by NTP or PTP, tick included", LEVEL(SMP_I64) },
	[NTP_OFFSET] = { .name = "ntp_offset", .unit = "ns", .what = "offset that the kernel still has to correct", LEVEL(SMP_I64) },
	[NTP_MAXERROR] = { .name = "ntp_maxerror", .unit = "us", .what = "largest error of the clock as NTP estimates it", LEVEL(SMP_U64) },
	[NTP_ESTERROR] = { .name = "ntp_esterror", .unit = "us", .what = "error of the clock as NTP estimates it", LEVEL(SMP_U64) },
	[PAIR] = { .name = "clock_real_raw", .unit = "ns", .what = "CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW, read together", LEVEL(SMP_I64) },
	[PAIR_WIDTH] = { .name = "clock_pair_width", .unit = "ns", .what = "time within which both clocks of the pair were read", LEVEL(SMP_U64) },
	[STEPS] = { .name = "clock_steps", .unit = "steps", .what = "times that CLOCK_REALTIME was set since the start", .scope = SMP_NODE,
		.kind = SMP_TOTAL, .type = SMP_U64 },
	[STEPPED] = { .name = "clock_stepped", .unit = "ns", .what = "by how much CLOCK_REALTIME was set, all steps since the start together", LEVEL(SMP_I64) },
};
/* clang-format on */

/* clang-format off */
static const enum from from_of[N_WHICH] = {
	[CLOCK_SOURCE] = FROM_SOURCE, [NTP_STATE] = FROM_NTP, [NTP_STATUS] = FROM_NTP, [NTP_FREQ] = FROM_NTP,
	[NTP_OFFSET] = FROM_NTP, [NTP_MAXERROR] = FROM_NTP, [NTP_ESTERROR] = FROM_NTP, [PAIR] = FROM_PAIR,
	[PAIR_WIDTH] = FROM_PAIR, [STEPS] = FROM_PAIR, [STEPPED] = FROM_PAIR,
};
/* clang-format on */

static const char source_file[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

struct clock_set {
	struct smp_file file;
	const struct smp_env *env;
	size_t n;
	int from[N_FROM];
	int has_pair;
	int64_t pair, width;    /* realtime minus raw, of the last read */
	int64_t set, set_width; /* realtime minus boottime */
	uint64_t steps;
	int64_t stepped;
	unsigned char which[];
};

static int64_t ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static int source_number(const char *text)
{
	static const char *const name[] = {
		"tsc",
		"hpet",
		"acpi_pm",
		"kvm-clock",
		"xen",
		"hyperv_clocksource_tsc_page",
		"arch_sys_counter",
		"jiffies",
		"refined-jiffies",
		"timebase",
		"tod",
	};
	size_t len = strcspn(text, "\n"), i;

	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		if (strlen(name[i]) == len && memcmp(name[i], text, len) == 0) {
			return (int)i + 1;
		}
	}
	return strncmp(text, "hyperv", 6) == 0 ? 6 : 0;
}

/* The rate that adjtimex's tick and frequency give, in ppb: 1 us of tick is 100 ppm at 100 ticks a second. */
static int64_t rate_ppb(const struct timex *t)
{
	int64_t per_second = sysconf(_SC_CLK_TCK) == 100 ? 10000 : 1000000 / sysconf(_SC_CLK_TCK);

	return (t->tick - per_second) * 1000000000 / per_second + (int64_t)t->freq * 1000 / 65536;
}

/* Reads id, realtime, id five times, and takes the reading with the smallest width. */
static void read_clock_pair(clockid_t id, int64_t *difference, int64_t *width)
{
	struct timespec before, real, after;
	int i;

	*difference = 0;
	*width = INT64_MAX;
	for (i = 0; i < 5; i++) {
		clock_gettime(id, &before);
		clock_gettime(CLOCK_REALTIME, &real);
		clock_gettime(id, &after);
		if (ns(&after) - ns(&before) < *width) {
			*width = ns(&after) - ns(&before);
			*difference = ns(&real) - ns(&before) - *width / 2;
		}
	}
}

/* Finds a step: the kernel slews CLOCK_REALTIME and CLOCK_BOOTTIME alike, however fast, and suspends both; only what sets the
 * clock changes their difference. The two widths and the rounding of the clocks explain the rest. */
static void find_step(struct clock_set *s)
{
	int64_t set = 0, width = 0, moved;

	read_clock_pair(CLOCK_BOOTTIME, &set, &width);
	moved = set - s->set;
	if (s->has_pair && llabs(moved) > s->set_width + width + 100) {
		s->steps++;
		s->stepped += moved;
	}
	s->has_pair = 1;
	s->set = set;
	s->set_width = width;
}

static uint8_t put_clock_value(
	const struct clock_set *s, unsigned which, int source, int state, const struct timex *t, union smp_value *v)
{
	switch (which) {
	case CLOCK_SOURCE:
		v->u = (uint64_t)source;
		return source >= 0 ? SMP_VALID : 0;
	case NTP_STATE:
		v->u = (uint64_t)state;
		break;
	case NTP_STATUS:
		v->u = (uint64_t)t->status;
		break;
	case NTP_FREQ:
		v->i = rate_ppb(t);
		break;
	case NTP_OFFSET:
		v->i = (int64_t)t->offset * (t->status & STA_NANO ? 1 : 1000);
		break;
	case NTP_MAXERROR:
		v->u = (uint64_t)t->maxerror;
		break;
	case NTP_ESTERROR:
		v->u = (uint64_t)t->esterror;
		break;
	case PAIR:
		v->i = s->pair;
		break;
	case PAIR_WIDTH:
		v->u = (uint64_t)s->width;
		break;
	case STEPS:
		v->u = s->steps;
		break;
	case STEPPED:
		v->i = s->stepped;
		break;
	default:
		return 0;
	}
	return state >= 0 ? SMP_VALID : 0;
}

static int open_source(struct clock_set *s)
{
	int root = smp_root(s->env), rc = root < 0 ? -1 : smp_file_open(&s->file, root, source_file);

	if (root >= 0) {
		close(root);
	}
	return rc;
}

static int read_source(struct clock_set *s)
{
	char text[64];

	if (!smp_file_there(&s->file)) {
		open_source(s);
	}
	return smp_file_read(&s->file, text, sizeof(text)) > 0 ? source_number(text) : -1;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct clock_set *s = set;
	struct timex t = { .modes = 0 };
	int source = s->from[FROM_SOURCE] ? read_source(s) : -1, ntp = -1, valid = 0;
	size_t i;

	if (smp_live(s->env) && (s->from[FROM_NTP] || s->from[FROM_PAIR])) {
		ntp = adjtimex(&t);
	}
	if (ntp >= 0 && s->from[FROM_PAIR]) {
		read_clock_pair(CLOCK_MONOTONIC_RAW, &s->pair, &s->width);
		find_step(s);
	}
	for (i = 0; i < s->n; i++) {
		state[i] = put_clock_value(s, s->which[i], source, ntp, &t, &value[i]);
		valid += state[i] != 0;
	}
	return valid;
}

static void close_set(void *set)
{
	struct clock_set *s = set;

	smp_file_close(&s->file);
	free(s);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct clock_set *s = calloc(1, sizeof(*s) + n);
	size_t i;
	int k;

	(void)target;
	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->env = env;
	s->n = n;
	s->file.fd = -1;
	for (i = 0; i < n; i++) {
		for (k = 0; k < N_WHICH && strcmp(counters[k].name, names[i]) != 0; k++) {
		}
		s->which[i] = (unsigned char)k;
		if (k == N_WHICH) {
			smp_why(why_each[i], "no such counter");
		} else {
			s->from[from_of[k]] = 1;
		}
	}
	if (s->from[FROM_SOURCE]) {
		open_source(s);
	}
	return s;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	struct timex t = { .modes = 0 };
	char text[64];
	const char *source, *ntp;
	int k, rc = 0, root;

	(void)why;
	if (!tkm_glob_may_match(hint, "clock_") && !tkm_glob_may_match(hint, "ntp_")) {
		return 0;
	}
	root = smp_root(env);
	source = root >= 0 ? tkm_root_line(root, source_file, text, sizeof(text)) : "";
	ntp = !smp_live(env)       ? "a snapshot has no clock"
		: adjtimex(&t) < 0 ? "adjtimex(2) is forbidden: seccomp in a container"
				   : NULL;
	for (k = 0; rc == 0 && k < N_WHICH; k++) {
		struct smp_counter c = counters[k];

		c.missing = from_of[k] != FROM_SOURCE ? ntp
			: source[0]                   ? NULL
						      : "no current_clocksource in /sys/devices/system/clocksource";
		rc = each(&c, ctx);
	}
	if (root >= 0) {
		close(root);
	}
	return rc;
}

const struct smp_source smp_clock = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "clock",
	.what = "clock source, NTP state and steps of the node's clock",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
};
