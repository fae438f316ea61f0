/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU: the cycle counter as it is, x86 TSC or the aarch64 generic counter. */
#include "config.h"
#include "timers/timer_private.h"

#include "timers/cpu_hz.h"

#if TMR_HAVE_COUNTER
static ltick_t read_cpu_ticks(struct tmr_timer *t)
{
	(void)t;
	return ltick(tmr_counter());
}

static ltick_t read_cpu_ordered(struct tmr_timer *t)
{
	(void)t;
	return ltick(tmr_counter_ordered());
}

static int open_cpu(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	(void)arg;
	(void)err;
	t->read = read_cpu_ticks;
	t->read_ordered = read_cpu_ordered;
	t->hz = tmr_cpu_hz(&t->hz_from);
	t->shareable = 1;
	t->is_counter = 1;
	return 0;
}
#else
static int open_cpu(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	(void)t;
	(void)arg;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "no cycle counter that a program may read is known on this processor");
}
#endif

const struct tmr_ops tmr_cpu = {
	.name = "CPU",
	.what = TMR_COUNTER_NAME,
	.scope = TMR_SCOPE_CORE,
	.open = open_cpu,
};
