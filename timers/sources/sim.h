/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated clocks: another timer with known errors added. What "sim:" opens, for programs that compare their results
 * with the known true time.
 *
 *   sim:base=CPU,offset=1ms,drift=50ppm,wobble=1ppm/60s,step=10us@5s,tick=7.3ns,noise=5ns,seed=1
 *
 *   base    the timer that is wrapped (default CPU)
 *   offset  seconds added
 *   drift   rate error: positive runs fast
 *   wobble  the rate also swings by +-A over a period P (a sine that starts at 0)
 *   warm    A/TAU: the rate rises by A as a machine warms up, to 1 - 1/e of it in TAU
 *   step    seconds added at a time after the origin; may be given up to 8 times
 *   slew    RATE/FROM/TO/BACK: the rate is higher by RATE between two times after the origin, and lower until a third one, by so
 *           much that the slew is undone then; BACK = 0: it is not taken back. Up to 8 times
 *   slewed  1: a clock that is steered, as the kernel's are, also without slew: steps and slews are measured beside a free
 *           clock with the same drift and wobble (tmr_sim_free_twin())
 *   tick    period of one tick: readings are whole ticks (default: the tick of the base)
 *   coarse  the clock moves in steps of this, which need not be a whole number of ticks (22.5 of a counter, say)
 *   bump    on: a second reading within a step of `coarse` shows one tick more than the first, as counters of some
 *           processors do
 *   noise   standard deviation of each reading, before it is put on the grid
 *   cores   processing unit n is ahead by n times this: a machine whose counters differ. The truth (below) is that of unit 0
 *   early   plain reads are taken this much earlier than ordered ones, as if they had overtaken earlier instructions
 *   seed    of the random numbers of the noise
 *   origin  reading of the base at which offset holds and drift, wobble and step times begin. Default:
 *           the reading at open, or at tmr_sim_restart(). The canonical name states it, so that another process on the same
 *           machine, or the same one later, opens the very same clock.
 *
 * All times in the guide's syntax (base/text/text.h). */
#ifndef TIMERS_SOURCES_SIM_H
#define TIMERS_SOURCES_SIM_H

#include "timers/timer.h"

/* Wraps `base`, which the simulated timer then owns, also on failure; "base=" in spec is refused and
 * {rank} and {rank%N} in it replaced. Returns NULL with the reason. */
struct tmr_timer *tmr_sim_wrap(struct tmr_timer *base, const char *spec, int rank, struct tkm_err *err);

/* Begins anew: the origin is moved to now, unless it was given, so that drift, wobble and steps count from here. The
 * readings jump, and the name changes; nothing happens to a timer that is not simulated. Returns 0, or -1 when the
 * name does not fit any more. */
int tmr_sim_restart(struct tmr_timer *t, struct tkm_err *err);

/* The true time: what the clock would show, without noise and grid, when its base shows `base_ticks`. Whole ticks are
 * returned, their fraction in [0, 1) goes to *fraction. t is a simulated timer. */
ltick_t tmr_sim_truth(const struct tmr_timer *t, int64_t base_ticks, double *fraction);

/* The first reading of the base at which the truth is at least `local`. The clock must not go back. */
int64_t tmr_sim_base_at(const struct tmr_timer *t, ltick_t local);

/* Adds ahead_s(ctx, dt) seconds to the clock, dt seconds after its origin. This is for errors that no key can describe,
 * such as a recorded drift. The rate that it adds must stay below 1 %. The name of the clock does not contain it, so
 * only this object has it. */
void tmr_sim_add(struct tmr_timer *t, double (*ahead_s)(const void *ctx, double dt), const void *ctx);

/* The same clock without steps and slews, as a machine's raw counter is to its kernel clock. It reads the base of t, so
 * the caller closes it before t; tmr_sim_restart(t) does not change it. NULL with the reason. */
struct tmr_timer *tmr_sim_free_twin(const struct tmr_timer *t, struct tkm_err *err);

/* The wrapped timer. */
struct tmr_timer *tmr_sim_base(const struct tmr_timer *t);

#endif
