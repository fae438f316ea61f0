/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ranks must know alike about their timers before they measure with them. Libc only. */
#ifndef CALIB_AGREE_H
#define CALIB_AGREE_H

#include "calib/domain.h"
#include "calib/link.h"

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

#endif
