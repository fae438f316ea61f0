/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock map of a run that still lasts. From the sessions so far it corrects the next stamps, with a certain band,
 * and says when the next session is due. libc only. Memory is bounded however many sessions there are. */
#ifndef CALIB_ONLINE_H
#define CALIB_ONLINE_H

#include "calib/map/fit.h"
#include "calib/map/map.h"

struct cal_online_options {
	double hz, master_hz;         /* nominal ticks per second of the two timers */
	double tick_s, master_tick_s; /* effective ticks, seconds; 0: one tick of the timer */
	double max_drift, max_wander;
	enum cal_estimate how;
	int may_step; /* somebody may set one of the clocks */
	int learn;    /* 1: expect of the rate what it has done so far, with a margin (calib/map/learn.c) */
	double earlier_low,
		earlier_high; /* with learn: the rate by an earlier run (calib/file/earlier.h); 0: unknown */
	int have_axis;        /* 1: global 0 is where the master's clock shows `axis`, so that all ranks have one
	                          * axis; 0: at the first session */
	ltick_t axis;
};

struct cal_online {
	struct cal_online_options opt;
	/* Good for any stamp from the newest session's on until the next cal_online_add(), and for those between
	 * the sessions that it still knows. Its global axis is the master's clock at its nominal rate, 0 at the
	 * first session or at opt.axis. 0 pieces: no session yet. */
	struct cal_map map;
	size_t sessions, steps;
	struct cal_step last_step; /* steps > 0: the newest */
	int refuted;               /* a session was outside of what had been learned: nothing is learned any more */
	/* private */
	ltick_t master0;
	double slope; /* global per local tick, most likely */
};

void cal_online_begin(struct cal_online *o, const struct cal_online_options *opt);
void cal_online_free(struct cal_online *o);

/* Takes a session in; it is not changed and not kept. One without samples changes nothing. A step of a clock
 * is counted in o->steps, and the map begins anew after it. Returns 0 or -1; the map is then as before. */
int cal_online_add(struct cal_online *o, const struct cal_session *s, struct tkm_err *err);

/* For how many seconds after `now` the map's bound stays within target_s; 0: it is beyond already, INFINITY:
 * for good. So the next session is due then, if the map is used while the run lasts. */
double cal_map_lasts(const struct cal_map *m, ltick_t now, double target_s);

/* The longest time between sessions, each certain to +-half_width_s, for which the map that is made of them
 * afterwards stays within target_s everywhere; 0: there is none. */
double cal_session_spacing(double half_width_s, double max_wander, int may_step, double target_s);

#endif
