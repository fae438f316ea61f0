/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the rate of a timer with a reference clock. A bracket is three reads in a row: reference, timer, reference.
 * Of several brackets the tightest is kept, and a robust line is fitted through the kept ones. The result is the rate
 * relative to the reference, which has an error of its own. timers/quality/rate.h finds the true rate where it is known. */
#ifndef TIMERS_FREQ_H
#define TIMERS_FREQ_H

#include <stddef.h>

#include "timers/timer.h"

struct tmr_freq {
	double hz;          /* ticks per second of the reference */
	double se_ppm;      /* standard error of hz */
	double compare_ppm; /* error bound of hz relative to the reference: the brackets' widths over the baseline */
	double bound_ppm;   /* compare_ppm plus the error of the reference */
	int certain;        /* 1: the error of the reference is known; 0: it is assumed */
	int same_counter;   /* 1: the reference is computed from the timer's counter: hz does not show the true rate */
	char reference[64];
	double seconds;  /* baseline */
	double width_s;  /* median width of the kept brackets */
	size_t brackets; /* taken */
	size_t kept;
};

struct tmr_reference {
	struct tmr_timer *timer;
	double error_ppm; /* of its rate, at most */
	int certain;      /* 1: error_ppm is known; 0: assumed */
};

/* The error that is assumed for a clock if nothing else is known: the most that NTP can correct. IEEE 802.3 allows the
 * clock of a network card a fifth of that. */
#define TMR_UNKNOWN_ERROR_PPM 500
#define TMR_PTP_ERROR_PPM 100

/* A measurement whose brackets the caller takes when it wants. */
struct tmr_freq_run;

/* Starts a measurement of t against ref. NULL: CLOCK_MONOTONIC_RAW, opened and closed here; its true rate is unknown. Returns
 * NULL with the reason in *err. */
struct tmr_freq_run *tmr_freq_begin(struct tmr_timer *t, const struct tmr_reference *ref, struct tkm_err *err);

/* 1 if a reading of t and one of the kernel's clocks are computed from one counter: t is a kernel clock too, or it is the cycle counter
 * and the clock source in /sys (below root, base/rootfs.h) is that counter. */
int tmr_is_kernels_counter(const struct tmr_timer *t, int root);

/* Takes one bracket, the tightest of 20 tries. Brackets beyond 4096 are ignored. */
void tmr_freq_sample(struct tmr_freq_run *run);

/* Ends it and frees run, whatever it returns. 0, or -1 when there were fewer than 4 brackets or no
 * time passed between them. */
int tmr_freq_end(struct tmr_freq_run *run, struct tmr_freq *out, struct tkm_err *err);

/* The same in one call: 64 brackets spread over `seconds`, sleeping in between. */
int tmr_freq_measure(struct tmr_timer *t, double seconds, struct tmr_freq *out, struct tkm_err *err);

#endif
