/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be assumed about the rate of a timer, and why. Bounds between two measurements follow from these numbers, so
 * they belong to the timer: the quartz that drives a counter changes its rate slowly, while programs steer a kernel
 * clock. doc/calibration.md, "What is assumed", says how each is checked during a run. libc only. */
#ifndef TIMERS_QUALITY_ASSUME_H
#define TIMERS_QUALITY_ASSUME_H

#include <stdint.h>

#include "timers/timer.h"

/* The numbers behind them, as fractions: of a free clock, and what programs do to a clock of the kernel. */
extern const double tmr_free_drift, tmr_free_wander, tmr_steering, tmr_tick_limit;

struct tmr_assumption {
	double max_drift;  /* the rate is off the nominal one by no more than this fraction */
	double max_wander; /* and stays within +- this fraction of a constant during a run */
	double max_slew;   /* a steered clock's rate differs from that of a free clock by no more; 0: not steered */
	double slew_limit; /* the largest slew that the kernel allows; 0: not steered */
	char drift_from[80], wander_from[160]; /* one phrase each: where the number comes from */
};

/* The assumptions for an open timer. Asks the kernel (adjtimex) about a clock that it steers. */
void tmr_assume(const struct tmr_timer *t, struct tmr_assumption *a);

/* The same for a clock that is not steered. */
void tmr_assume_free(struct tmr_assumption *a);

/* Opens a clock of the same machine as t that is not steered: clock_monotonic_raw for a clock of the kernel or a PTP
 * device; for a simulated clock the same quartz without slews and steps. The caller closes it before t. Returns NULL if
 * t itself is free (err is then untouched and *why 0), or if there is none (*why 1, the reason in err). */
struct tmr_timer *tmr_open_reference(struct tmr_timer *t, int *why, struct tkm_err *err);

/* A marker in /dev/vmclock0 changes when the virtual machine is moved to another host or restored. From then on the
 * counters may differ. root: tkm_root_open("/"). Returns 1 and *marker, or 0: the machine has no such marker. */
int tmr_disruption_marker(int root, uint64_t *marker);

#endif
