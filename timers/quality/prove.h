/* SPDX-License-Identifier: BSD-3-Clause */
/* Do all processing units of this node that its processes may use (of its cpuset, whatever this process has been
 * bound to) read one clock? The core matrix (timers/quality/matrix.h) measures every pair; where there is no time for that, this compares
 * the first unit with each other one in the same way (timers/quality/core_pair.h). Any two units are then within the sum of two
 * intervals. Libc only, with one thread more for as long as it takes. */
#ifndef TIMERS_QUALITY_PROVE_H
#define TIMERS_QUALITY_PROVE_H

#include "timers/timer.h"

struct tmr_proof {
	int one_clock; /* 1: proven, every unit is "together" with the first; 0: one is not, or was not measured in time */
	unsigned units, proven; /* all units; units that are "together" with the first, itself included */
	unsigned apart;         /* those whose clock differs from the first one's */
	double within_s;        /* any two readings at the same time differ by at most this; effective ticks included */
	double line_s;  /* time of a cache line, both ways' mean, slowest pair: no test can prove less. 0: one unit */
	double seconds; /* what it took */
};

/* Takes about 100 us for each unit, budget_s at most. The caller's thread moves from unit to unit and goes back to
 * where it may run. Returns 0 and *p, or -1: a timer that threads cannot share or whose frequency is not known, no
 * affinity, no thread. */
int tmr_prove_one_clock(
	struct tmr_timer *t, double effective_tick_s, double budget_s, struct tmr_proof *p, struct tkm_err *err);

/* Is the cycle counter of this node invariant, its rate known, and the kernel's own clock computed from it? Then it is
 * as good as that clock on every processing unit. Nothing is measured, so that all processes of a node get the same
 * answer. */
int tmr_counter_is_kernels(void);

/* The same, and besides tmr_prove_one_clock() must prove it now, in budget_s at most. */
int tmr_counter_is_proven(double budget_s);

#endif
