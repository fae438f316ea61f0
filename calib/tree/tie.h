/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank knows about the master's clock during a session, without asking another rank. Libc only. */
#ifndef CALIB_TIE_H
#define CALIB_TIE_H

#include "calib/map/sample.h"

/* What a rank knows about the master's clock during a session; passed down the tree. It comes from the sums along one path;
 * cal_net_solve() uses all paths, but later. */
struct cal_offset_estimate {
	int known; /* 0: `point` is not */
	int hops;  /* exchanges between this rank and the master */
	double hz; /* nominal ticks per second of this rank's timer, and of the master's */
	double master_hz;
	double tick; /* effective tick in ticks of the timer */
	double max_drift;
	double slope, error;    /* master ticks per local tick, and by what share that can be off; error 0 for the
	                         * master, not below 2 max_drift: nothing but the two frequencies is known */
	struct cal_point point; /* the master's clock by this rank's */
};

/* Before the first session: nothing is known. r's timer has hz, effective_tick_s (NAN: one tick). For the master
 * itself master is 1. */
void cal_offset_estimate_begin(struct cal_offset_estimate *t, int master, double hz, double master_hz,
	double effective_tick_s, double max_drift);

/* Before each further session: the point is forgotten, and what is known of the rate stays. */
void cal_offset_estimate_renew(struct cal_offset_estimate *t);

/* An exchange s with a rank whose tie is `of`: *t becomes known, or known better, if that is narrower. */
void cal_offset_estimate_extend(
	struct cal_offset_estimate *t, const struct cal_offset_estimate *of, const struct cal_session *s);

#endif
