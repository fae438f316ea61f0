/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate of a timer, measured against a reference: reference, timer, reference are read in a row;
 * of several such brackets the tightest is kept, and a robust line goes through the kept ones. */
#ifndef TIMERS_FREQ_H
#define TIMERS_FREQ_H

#include <stddef.h>

#include "timers/timer.h"

struct tmr_freq {
	double hz;        /* ticks per second of the reference */
	double se_ppm;    /* standard error of hz */
	double bound_ppm; /* hz cannot be farther off than this: the brackets' widths over the baseline */
	double seconds;   /* baseline */
	double width_s;   /* median width of the kept brackets */
	size_t brackets;  /* taken */
	size_t kept;
};

/* A measurement that the caller spreads over its own time. */
struct tmr_freq_run;

/* Starts a measurement of t against ref (NULL: CLOCK_MONOTONIC_RAW, opened and closed here). Returns
 * NULL with the reason in *err. */
struct tmr_freq_run *tmr_freq_begin(struct tmr_timer *t, struct tmr_timer *ref, struct tkm_err *err);

/* Takes one bracket, the tightest of 20 tries. Brackets beyond 4096 are ignored. */
void tmr_freq_sample(struct tmr_freq_run *run);

/* Ends it and frees run, whatever it returns. 0, or -1 when there were fewer than 4 brackets or no
 * time passed between them. */
int tmr_freq_end(struct tmr_freq_run *run, struct tmr_freq *out, struct tkm_err *err);

/* The same in one call: 64 brackets spread over `seconds`, sleeping in between. */
int tmr_freq_measure(struct tmr_timer *t, double seconds, struct tmr_freq *out, struct tkm_err *err);

#endif
