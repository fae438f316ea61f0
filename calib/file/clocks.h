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
	double longest;
};

/* Takes the next reading. Returns 1 if one is to be kept, which it writes to *out, else 0. The clock and the timer go on evenly for
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
