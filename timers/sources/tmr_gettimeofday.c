/* SPDX-License-Identifier: BSD-3-Clause */
/* gettimeofday(): the guide's default timer, microseconds of the realtime clock. */
#include "config.h"
#include "timers/timer_private.h"

#include <sys/time.h>

static ltick_t read_tod(struct tmr_timer *t)
{
	struct timeval tv;

	(void)t;
	gettimeofday(&tv, NULL);
	return ltick((int64_t)tv.tv_sec * 1000000 + tv.tv_usec);
}

static int open_tod(struct tmr_timer *t, const char *arg, struct tkm_err *err)
{
	(void)arg;
	(void)err;
	t->read = read_tod;
	t->read_ordered = read_tod; /* a call that serialises by itself */
	t->hz = 1e6;
	t->flags = TMR_STEPPED | TMR_SLEWED | tmr_is_replaced(t, CLOCK_REALTIME);
	t->shareable = 1;
	return 0;
}

const struct tmr_ops tmr_gettimeofday = {
	.name = "gettimeofday",
	.what = "realtime clock in microseconds",
	.scope = TMR_SCOPE_NODE,
	.open = open_tod,
};
