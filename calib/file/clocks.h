/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's clocks beside the timer of a rank: what reads them keeps few readings, and a stamp of such a clock becomes one of the
 * timer, with its bound. doc/clk-format.md, "Stamps of other clocks". */
#ifndef CALIB_FILE_CLOCKS_H
#define CALIB_FILE_CLOCKS_H

#include "calib/map/run.h"

enum { CAL_CLOCK_BETWEEN = 32 };

/* Of one clock: the reading that was kept last, and those since then. Initialise it with zeros. */
struct cal_clock_watch {
	int begun, n;
	struct cal_reading kept, between[CAL_CLOCK_BETWEEN];
	double off; /* of the readings before the last one */
	double longest, left;
	int missed; /* a reading since the last one was left out */
};

/* What the readings of clock_monotonic tell about how the kernel steers its clocks. Initialise it with zeros. */
struct cal_steering {
	int n; /* readings so far, at most 3 */
	struct cal_reading last;
	double length, rate,
		noise; /* from the reading before: ticks of the timer, the clock's rate less 1, and how far off that is */
	double freq_ppm; /* what adjtimex() stated then */
	int changed;     /* that was not what it stated before */
	double quiet;    /* ticks of the timer since it changed */
};

/* Does the kernel steer it? All that it steers go on equally between two steps. */
int cal_clock_is_steered(const char *timer);

/* Takes the next reading of clock_monotonic, and the frequency that adjtimex() stated after it; NAN: it was refused. Returns how far
 * the kernel's clocks can have left the straight line since the reading before, in ticks of the timer; 0: that is unknown; -1: the
 * reading is of no use. */
double cal_steering_add(
	struct cal_steering *s, const struct cal_reading *r, const char *timer, double hz, double freq_ppm);

/* The time until the next reading, in s: while the kernel's clocks are steered evenly a few readings tell enough. */
double cal_steering_next_s(const struct cal_steering *s, const char *timer, double hz);

/* Takes the next reading; r->off: how far the clock can have left the straight line since the one before, 0: unknown. Returns 1 if one is to be kept, which it writes to *out, else 0. The clock and the timer go on evenly for
 * most of the time, then one reading a second is enough; where they do not, the readings next to that place are kept. hz: of the
 * timer. */
int cal_clock_watch_add(struct cal_clock_watch *w, const struct cal_reading *r, double hz, struct cal_reading *out);

/* The end: what is still to be kept. Returns 0 or 1. */
int cal_clock_watch_end(struct cal_clock_watch *w, struct cal_reading *out);

/* How well readings cover the time between the first and the last, in ticks of the timer: without the largest gap. */
double cal_clock_coverage(const struct cal_pairs *p);

/* Collects the readings of that clock on the node of a rank. cal_pairs_at() then turns a stamp into one of the rank's timer. To be
 * freed with cal_pairs_free(). Returns 0, or -1: it is none of the clocks, or there are no readings. */
int cal_clock_of_rank(const struct cal_run *run, int rank, const char *name, struct cal_pairs *to, struct tkm_err *err);

#endif
