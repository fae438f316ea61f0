/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be assumed about the rate of a timer, and why. Bounds between two measurements follow from these numbers, so
 * they belong to the timer: a quartz behind a counter changes its rate slowly, a kernel clock is steered by programs.
 * doc/calibration.md, "What is assumed", says how each is checked during a run. libc only. */
#ifndef TIMERS_ASSUME_H
#define TIMERS_ASSUME_H

#include <stdint.h>

#include "timers/timer.h"

struct tmr_assumption {
	double max_drift;  /* the rate is off the nominal one by no more than this fraction */
	double max_wander; /* and stays within +- this of a constant during a run */
	double max_slew; /* a steered clock: its rate is off that of a free clock beside it by no more; 0: it is not steered */
	double slew_limit;                     /* what the kernel allows at all; 0: it is not steered */
	char drift_from[80], wander_from[160]; /* one phrase each: where the number comes from */
};

/* The assumptions for an open timer. Asks the kernel (adjtimex) about a clock that it steers. */
void tmr_assume(const struct tmr_timer *t, struct tmr_assumption *a);

/* The same for a clock that is not steered. */
void tmr_assume_free(struct tmr_assumption *a);

/* A clock that is not steered and that runs beside t: clock_monotonic_raw for a clock of the kernel or a PTP device, the
 * same quartz without slews and steps for a simulated one. It is closed before t. Returns NULL if t itself is free (err
 * is then untouched and *why 0), or if there is none (*why 1, the reason in err). */
struct tmr_timer *tmr_open_reference(struct tmr_timer *t, int *why, struct tkm_err *err);

/* A virtual machine says in /dev/vmclock0 when it was moved to another host or restored, since the counters may differ
 * from then on: the marker changes. root: tkm_root_open("/"). Returns 1 and *marker, or 0: the machine does not say. */
int tmr_disruption_marker(int root, uint64_t *marker);

#endif
