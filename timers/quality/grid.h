/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of a clock: the step in which its readings move, found from their increments. */
#ifndef TIMERS_QUALITY_GRID_H
#define TIMERS_QUALITY_GRID_H

#include <stddef.h>
#include <stdint.h>

/* The step in which a clock really moves (timers/quality/tick.h). Increments between ordered readings lie on multiples of this
 * step. The nominal period can be many times smaller: a TSC of 2.25 GHz may move only every 10 ns. */
struct tmr_grid {
	double ticks;     /* effective tick in ticks of the timer, not always a whole number */
	double share;     /* of the increments that lie on its multiples within one tick; 1 is a perfect grid */
	double lag_ticks; /* what a reading can lag behind the clock: a step, and one tick where readings are rounded */
	int found;        /* 1: a grid; 0: none was found, ticks is the smallest increment seen */
	size_t samples;
};

/* Finds the grid of n > 0 increments (ticks, any sign or order; not positive ones are ignored).
 * Returns 0, or -1 when no increment is positive. */
int tmr_grid_find(const int64_t *increments, size_t n, struct tmr_grid *out);

#endif
