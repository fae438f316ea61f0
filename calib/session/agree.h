/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ranks must agree on about their timers before they measure with them. Libc only. */
#ifndef CALIB_AGREE_H
#define CALIB_AGREE_H

#include "calib/session/domain.h"
#include "calib/session/link.h"

/* The effective tick of a rank's timer, in its ticks; NAN: not measured, or the clock stood still. */
struct cal_tick {
	double ticks;     /* the step in which it moves */
	double lag_ticks; /* what a reading can lag behind it */
};

/* Together. tick[] receives the tick of every rank: the largest that any rank of its machine measured with a timer of the same
 * name, because two processes that read one clock must not assume different steps of it. mine: of this process's l->timer.
 * Returns 0 or -1. */
int cal_ticks_agree(struct cal_link *l, const struct cal_place *place, struct cal_tick mine, struct cal_tick *tick,
	struct tkm_err *err);

/* The timer that the ranks of a run read: that of rank 0. */
struct cal_timer_choice {
	char name[256];    /* that rank 0 opened, with {rank} and {rank%N} in it */
	int32_t differ;    /* ranks that had opened another one */
	int32_t unsettled; /* of them, those that cannot open that of rank 0 and keep their own */
	char text[400];    /* rank 0: one sentence that names ranks and timers; "" when all had the same */
};

/* Together. `own` is the name by which this process opened its timer, as it was given: names with {rank} are equal although
 * each rank opens another clock. Where a rank has another name than rank 0, take(ctx, name, err) is called there to open the timer
 * of rank 0 instead; it returns 0, or -1 with the reason. Returns 0 or -1. */
int cal_timers_settle(struct cal_link *l, const char *own,
	int (*take)(void *ctx, const char *name, struct tkm_err *err), void *ctx, struct cal_timer_choice *out,
	struct tkm_err *err);

/* Together. Is the cycle counter of every node proven to be one clock (timers/quality/prove.h)? The first rank of each node measures,
 * budget_s at most, while the others sleep. *missing: the lowest rank on whose node it is not, -1: there is none. Returns 0 or -1. */
int cal_counter_prove(struct cal_link *l, double budget_s, int *missing, struct tkm_err *err);

#endif
