/* SPDX-License-Identifier: BSD-3-Clause */
/* The true rate of a timer, measured with CLOCK_REALTIME, which NTP keeps near UTC, and the error that the kernel
 * states for that clock. Libc only. */
#ifndef TIMERS_QUALITY_RATE_H
#define TIMERS_QUALITY_RATE_H

#include "timers/timer.h"

/* A timer and CLOCK_REALTIME read together. */
struct tmr_mark {
	int64_t ticks; /* of the timer, read after real_ns and before real_ns + width_ns */
	int64_t real_ns, width_ns;
	double max_error_s;   /* of CLOCK_REALTIME against UTC, as adjtimex() states it */
	int32_t synchronised; /* 0: adjtimex() says that the error is not known */
};

/* Reads both, the tightest of 20 tries. */
void tmr_mark_take(struct tmr_timer *t, struct tmr_mark *m);

struct tmr_true_rate {
	double low_hz,
		high_hz; /* the mean rate between the marks lies in here if CLOCK_REALTIME keeps its maximum error; 0: not known */
	double seconds;     /* between the marks */
	double max_error_s; /* the larger of the two */
};

/* The rate between two marks of one timer. lag_ticks: what a reading of it can lag; real_lag_s: the same of CLOCK_REALTIME. Returns 0, or -1:
 * the clock was not synchronised at one of them, or the error is larger than the time between them; then *out is zero. */
int tmr_true_rate_between(const struct tmr_mark *a, const struct tmr_mark *b, double lag_ticks, double real_lag_s,
	struct tmr_true_rate *out);

#endif
