/* SPDX-License-Identifier: BSD-3-Clause */
/* The true rate of a timer, measured with CLOCK_REALTIME, which NTP keeps near UTC, and what is known of the error of
 * that clock. Libc only. */
#ifndef TIMERS_QUALITY_RATE_H
#define TIMERS_QUALITY_RATE_H

#include "timers/timer.h"

/* A timer and CLOCK_REALTIME read together. */
struct tmr_mark {
	int64_t ticks; /* of the timer, read after real_ns and before real_ns + width_ns */
	int64_t real_ns, width_ns;
	double max_error_s; /* of CLOCK_REALTIME against UTC (timers/quality/utc.h) */
	int32_t bounded;    /* 0: that error is unknown */
	char why[120];      /* what it is known from, or why it is unknown */
};

/* Reads both, the tightest of 20 tries. */
void tmr_mark_take(struct tmr_timer *t, struct tmr_mark *m);

struct tmr_true_rate {
	double low_hz,
		high_hz; /* the mean rate between the marks lies in here if CLOCK_REALTIME keeps its maximum error; 0: not known */
	double seconds;     /* between the marks */
	double max_error_s; /* the larger of the two */
	char why[120];      /* why the error is unknown; "" if it is not */
};

/* The rate between two marks of one timer. lag_ticks: what a reading of it can lag; real_lag_s: the same of CLOCK_REALTIME. Returns 0, or -1:
 * the error is unknown at one of them, or larger than the time between them; then *out is zero but for why. */
int tmr_true_rate_between(const struct tmr_mark *a, const struct tmr_mark *b, double lag_ticks, double real_lag_s,
	struct tmr_true_rate *out);

#endif
