/* SPDX-License-Identifier: BSD-3-Clause */
/* Do all processing units of this node that its processes may use (of its cpuset, whatever this process has been
 * bound to) read one clock? The short question to the core matrix's long
 * answer (timers/matrix.h): a causality test over shared cache lines, of the first unit with each other one: each
 * writes its time into a line of its own over and over while the other one looks, until what it sees gets no fresher.
 * Any two units are then within the sum of two intervals. Libc only, with one thread more for as long as it takes. */
#ifndef TIMERS_PROVE_H
#define TIMERS_PROVE_H

#include "timers/timer.h"

struct tmr_proof {
	int one_clock;      /* 1: proven; 0: two units differ, or there was no time for all of them */
	unsigned units, proven; /* that there are; that were held against the first, itself included */
	double within_s;    /* any two readings at the same time differ by at most this; one effective tick included */
	double line_s;      /* what a cache line takes from one unit to another, mean of both ways, of the farthest; no test of
	                     * this kind can prove less. 0: one unit */
	double seconds;     /* what it took */
};

/* Takes about 100 us for each unit, budget_s at most. The caller's thread moves from unit to unit and goes back to
 * where it may run. Returns 0 and *p, or -1: a timer that threads cannot share or whose frequency is not known, no
 * affinity, no thread. */
int tmr_prove_one_clock(struct tmr_timer *t, double effective_tick_s, double budget_s, struct tmr_proof *p,
	struct tkm_err *err);

#endif
