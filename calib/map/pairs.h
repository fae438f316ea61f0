/* SPDX-License-Identifier: BSD-3-Clause */
/* A steered clock and a free one beside it. Programs slew and set the kernel's clocks, by more than any assumption
 * about a quartz allows. So the sessions measure a free clock of the same machine, the reference. Pairs of readings,
 * taken every cal_pair_every_s, tell what the reference showed when the steered clock showed a stamp.
 * doc/calibration.md, "Steered clocks". libc only. */
#ifndef CALIB_PAIRS_H
#define CALIB_PAIRS_H

#include <stddef.h>

#include "base/err.h"
#include "base/ticks.h"
#include "timers/timer.h"

/* Time between two pairs, in seconds. */
extern const double cal_pair_every_s;

/* Assumed: a program that steers or sets a clock lets at least so much time pass before it does it again. */
extern const double cal_pair_event_s;

enum cal_pair_step {
	CAL_PAIR_GOES_ON,
	CAL_PAIR_SET,     /* the clock was set in between */
	CAL_PAIR_UNKNOWN, /* it can have been set in between, by too little to be seen */
};

struct cal_reading {
	ltick_t local;         /* the steered clock */
	ltick_t before, after; /* the reference, read before and after it */
	int over;              /* so many sessions were over */
	/* What was read since the pair before this one and is not kept (calib/solve/clocks.h), in reference ticks. */
	double off;     /* the clock was at most so far from the line between the two pairs */
	double longest; /* it was read at least so often; 0: it was not read */
	/* set by cal_pairs_judge(), about the time from this pair to the next one; reference ticks */
	int step;      /* enum cal_pair_step */
	double within; /* largest distance of the reference from the line between the pairs, if the assumptions hold */
	double proven; /* the same without the assumptions about steering */
};

struct cal_pairs {
	size_t n, room;
	struct cal_reading *pair;        /* in the order in which they were taken */
	double hz, reference_hz;         /* nominal */
	double tick_s, reference_tick_s; /* effective ticks: a reading lags behind its clock by up to one */
	double max_slew, slew_limit;     /* struct tmr_assumption */
	int may_step;                    /* somebody may set the steered clock */
	/* set by cal_pairs_judge() */
	size_t contradictions; /* places where the clock was steered faster or more often than assumed; the bound is wider
	                            * everywhere if there is one */
	size_t branches, *branch; /* first pairs of the stretches without a step */
};

/* Reads both clocks a few times, keeps the narrowest, and appends it. over: sessions that are over. Returns 0, or -1: no memory,
 * or the clock can be read no longer. */
int cal_pairs_take(
	struct cal_pairs *p, struct tmr_timer *local, struct tmr_timer *reference, int over, struct tkm_err *err);

/* Tests whether a pair is due. now: a stamp of the reference. */
int cal_pairs_due(const struct cal_pairs *p, ltick_t now);

int cal_pairs_add(struct cal_pairs *p, const struct cal_reading *pair, struct tkm_err *err);

/* Judges the time between the pairs; removes pairs on the same tick of a clock as the one before. To be called before
 * the calls below, and again after more were added. Returns 0 or -1: no memory. */
int cal_pairs_judge(struct cal_pairs *p, struct tkm_err *err);

/* What else is known about a stamp; zeros: nothing. */
struct cal_stamp_place {
	int have_from, have_to;
	ltick_t from, to; /* the stamp was taken in between, by the reference */
};

/* The reference when the steered clock showed `local`, and how far off that can be, in its ticks: *within if the
 * assumptions hold, *proven whatever steers the clock; each may be NULL. place may be NULL. */
ltick_t cal_pairs_at(
	const struct cal_pairs *p, ltick_t local, const struct cal_stamp_place *place, double *within, double *proven);

/* Local ticks per reference tick there. */
double cal_pairs_slope(const struct cal_pairs *p, ltick_t local);

/* The steered clock when the reference showed `reference`: nearest tick. */
ltick_t cal_pairs_local(const struct cal_pairs *p, ltick_t reference);

/* Deep copy; 0 or -1 (*to is then empty). */
int cal_pairs_copy(struct cal_pairs *to, const struct cal_pairs *from);
void cal_pairs_free(struct cal_pairs *p);

#endif
