/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU_Norm: the counter of the timer CPU turned into nanoseconds at each read, so that machines with different
 * frequencies count alike. One 64 x 64 multiply and a shift: ns = (ticks * mult) >> shift, with mult
 * as large as fits, so that the rounding of mult costs less than 1 ns in a century. */
#include "config.h"
#include "timers/timer_private.h"

#include <stdlib.h>

#include "timers/cpu_hz.h"
#include "timers/freq.h"

#if TMR_HAVE_COUNTER
struct norm {
	uint64_t mult;
	unsigned shift;
};

static ltick_t convert_to_ns(const struct norm *n, int64_t ticks)
{
	return ltick((int64_t)((unsigned __int128)(uint64_t)ticks * n->mult >> n->shift));
}

static ltick_t read_norm(struct tmr_timer *t)
{
	return convert_to_ns(t->impl, tmr_counter());
}

static ltick_t read_norm_ordered(struct tmr_timer *t)
{
	return convert_to_ns(t->impl, tmr_counter_ordered());
}

static void close_norm(struct tmr_timer *t)
{
	free(t->impl);
}

/* Where the frequency is unknown it is measured, for a tenth of a second. */
static double measured_hz(struct tkm_err *err)
{
	struct tmr_timer *cpu = tmr_open_kind(&tmr_cpu, tmr_cpu.name, err);
	struct tmr_freq f;
	double hz = 0;

	if (cpu && tmr_freq_measure(cpu, 0.1, &f, err) == 0) {
		hz = f.hz;
	}
	tmr_close(cpu);
	return hz;
}

static int open_norm(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	struct norm *n;
	double hz = tmr_cpu_hz(&t->hz_from);
	long double mult;

	(void)arg;
	if (hz == 0) {
		hz = measured_hz(err);
		t->hz_from = "measurement at start";
	}
	if (hz == 0) {
		return -1;
	}
	n = malloc(sizeof(*n));
	if (!n) {
		return tkm_fail(err, TKM_ERR_NOMEM, "timer CPU_Norm: out of memory");
	}
	mult = 1e9L / (long double)hz;
	for (n->shift = 0; mult < 0x1p62L; n->shift++) {
		mult *= 2;
	}
	n->mult = (uint64_t)mult;
	t->read = read_norm;
	t->read_ordered = read_norm_ordered;
	t->hz = 1e9;
	t->hz_from = NULL; /* nanoseconds by definition; the true rate has to be measured */
	t->shareable = 1;
	t->impl = n;
	return 0;
}
#else
static int open_norm(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	(void)t;
	(void)arg;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "no cycle counter that a program may read is known on this processor");
}
#define close_norm NULL
#endif

const struct tmr_ops tmr_cpu_norm = {
	.name = "CPU_Norm",
	.what = "the counter of CPU converted to nanoseconds",
	.scope = TMR_SCOPE_CORE,
	.open = open_norm,
	.close = close_norm,
};
