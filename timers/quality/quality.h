/* SPDX-License-Identifier: BSD-3-Clause */
/* The quality of a timer on this machine, measured by reading it: cost, effective tick, increments, backward steps,
 * rate. */
#ifndef TIMERS_QUALITY_QUALITY_H
#define TIMERS_QUALITY_QUALITY_H

#include "base/stats.h"
#include "timers/freq.h"
#include "timers/quality/grid.h"
#include "timers/timer.h"

enum { TMR_RAW_BINS = 128 };
enum { TMR_BINS = 13 }; /* the guide's histogram: < 0, < 1, >= 1, >= 501, ... >= 5001 ticks */

struct tmr_quality {
	/* performance */
	long long calls;                          /* plain reads */
	double wall_s;                            /* the time of these calls by CLOCK_MONOTONIC */
	struct tkm_spread cost_s, cost_ordered_s; /* per call, over the chunks of the run */
	/* the cost of the sampling loop alone, with a dummy call */
	long long loop_iterations;
	int64_t loop_ticks;
	int64_t loop_ticks_each;
	/* increments between consecutive plain reads */
	size_t increments;
	double average_ticks;   /* loop overhead subtracted, as in the guide */
	int64_t median_ticks;   /* the same */
	int64_t smallest_ticks; /* smallest above 0, nothing subtracted; 0: none */
	int64_t typical_ticks;  /* most frequent one above 0, nothing subtracted */
	long long backward, equal;
	int64_t worst_backward_ticks; /* <= 0 */
	long long bin[TMR_BINS];
	/* all increments, nothing subtracted: fine bins up to the slowest thousandth, then bins of doubling width */
	int raw_bins;
	double raw_edge[TMR_RAW_BINS + 1]; /* ticks; bin i holds edge[i] <= increment < edge[i + 1] */
	long long raw_count[TMR_RAW_BINS];
	struct tmr_grid grid;
	struct tmr_freq freq;
	int have_freq;
};

/* First tick of guide bin i (i >= 2): 1, 501, ... 5001. */
int tmr_bin_from(int i);

/* Measures t: plain reads for `seconds` (> 0), then increments of about a million reads, or an eighth of that if brief; fewer where reads
 * take long. Returns 0, or -1 with the reason. */
int tmr_quality_measure(struct tmr_timer *t, double seconds, int brief, struct tmr_quality *q, struct tkm_err *err);

/* Effective tick in seconds: the step times the measured (else nominal) period; NAN when the clock did not move. */
double tmr_effective_tick(const struct tmr_timer *t, const struct tmr_quality *q);

/* What a reading can lag behind the clock, in seconds. Every bound adds this. NAN as above. */
double tmr_reading_lag(const struct tmr_timer *t, const struct tmr_quality *q);

/* Seconds per tick as measured, else nominal; NAN when neither is known. */
double tmr_measured_period(const struct tmr_timer *t, const struct tmr_quality *q);

#endif
