/* SPDX-License-Identifier: BSD-3-Clause */
/* Time for simulated clocks whose reads take an unsteady time and whose process is interrupted, in picoseconds. */
#ifndef TESTS_LIB_WORLD_H
#define TESTS_LIB_WORLD_H

#include <stdlib.h>

#include "timers/timer_private.h"

/* A read takes cost_ps and up to as much again; after every stretch_ps or so (0: never) the process is off its processor
 * for 0.5 to 8.5 ms, or for 0.5 ms to off_ps more. */
struct world {
	int64_t now_ps, cost_ps, stretch_ps, until_ps, off_ps;
	uint64_t random; /* not 0 */
};

static inline uint64_t world_random(struct world *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	return w->random ^= w->random << 17;
}

static inline ltick_t world_read(struct tmr_timer *t)
{
	struct world *w = t->impl;

	w->now_ps += w->cost_ps + (int64_t)(world_random(w) % (uint64_t)w->cost_ps);
	if (w->stretch_ps && w->now_ps > w->until_ps) {
		w->now_ps += 500000000 + (int64_t)(world_random(w) % (uint64_t)(w->off_ps ? w->off_ps : 8000000000));
		w->until_ps = w->now_ps + (int64_t)(world_random(w) % (uint64_t)(2 * w->stretch_ps));
	}
	return ltick(w->now_ps);
}

/* A timer over *w, to be closed with tmr_close(), or by the simulated timer that wraps it. */
static inline struct tmr_timer *world_open(struct world *w)
{
	static const struct tmr_ops ops = { .name = "world", .what = "time of a test", .scope = TMR_SCOPE_PROCESS };
	struct tmr_timer *t = calloc(1, sizeof(*t));

	if (t) {
		*t = (struct tmr_timer){ .read = world_read,
			.read_ordered = world_read,
			.hz = 1e12,
			.flags = TMR_SIMULATED,
			.impl = w,
			.ops = &ops,
			.name = "world" };
	}
	return t;
}

#endif
