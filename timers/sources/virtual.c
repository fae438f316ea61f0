/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that only moves when it is told to; see timers/sources/virtual.h. */
#include "config.h"
#include "timers/timer_private.h"
#include "timers/sources/virtual.h"

#include <stdlib.h>

static ltick_t read_virtual(struct tmr_timer *t)
{
	struct tmr_virtual *v = t->impl;

	v->now_ps += v->read_cost_ps;
	return ltick(v->now_ps);
}

static const struct tmr_ops virtual_ops = {
	.name = "virtual",
	.what = "virtual time of a simulation",
	.scope = TMR_SCOPE_PROCESS,
};

struct tmr_timer *tmr_virtual_open(struct tmr_virtual *v)
{
	struct tmr_timer *t = calloc(1, sizeof(*t));

	if (t) {
		t->read = read_virtual;
		t->read_ordered = read_virtual;
		t->hz = 1e12;
		t->scope = TMR_SCOPE_PROCESS;
		t->flags = TMR_SIMULATED;
		t->impl = v;
		t->ops = &virtual_ops;
		snprintf(t->name, sizeof(t->name), "virtual");
	}
	return t;
}
