/* SPDX-License-Identifier: BSD-3-Clause */
/* The effective tick of a timer: the step in which its readings really move, found from ordered reads. Libc only. */
#ifndef TIMERS_QUALITY_TICK_H
#define TIMERS_QUALITY_TICK_H

#include "timers/quality/grid.h"
#include "timers/timer.h"

/* The longest time that tmr_tick_measure() needs. A clock that moves in steps of up to 20 us takes 0.2 ms. */
#define TMR_TICK_BUDGET_S 10e-3

/* Measures the effective tick of t for at most budget_s of undisturbed reading. Reads are ordered and at varying distances.
 *
 * Some clocks answer a second read within a step with one tick more than the first; such increments are recognised, and the
 * step is the distance between the values after true jumps, which lie on the grid of the clock whatever was read in
 * between. out->lag_ticks is what bounds add: a reading is never older than that. The base of a simulated clock moves in
 * steps too, so the lag of the base is added to the lag of a simulated clock.
 *
 * wall: a fine clock that counts seconds on the same axis, for the cost of a read; NULL: CLOCK_MONOTONIC.
 * Returns 0, or -1 with the reason: the clock did not move in that time, no memory. */
int tmr_tick_measure(
	struct tmr_timer *t, double budget_s, struct tmr_timer *wall, struct tmr_grid *out, struct tkm_err *err);

#endif
