/* SPDX-License-Identifier: BSD-3-Clause */
/* Core-by-core offsets of one clock on one node, by a causality test: a thread on processing unit a
 * reads the clock and writes the reading into a cache line; a thread on b that sees it there reads its
 * own clock afterwards. So clock b minus clock a is at most the smallest difference seen, and the
 * other direction gives the lower end. Every interval is certain; no symmetry is assumed.
 * Programs only: needs hwloc and threads. */
#ifndef TIMERS_MATRIX_H
#define TIMERS_MATRIX_H

#include "timers/timer.h"

struct tmr_core_pair {
	unsigned pu_a, pu_b;      /* operating system numbers, a before b in the topology */
	int measured;             /* 0: a thread could not be pinned there, or there was no time for it */
	double low_s, high_s;     /* clock on b minus clock on a lies in here */
	double one_way_s;         /* smallest one-way time: half the width */
	double tolerance_s;       /* one effective tick + one_way_s / 2 */
	int apart;                /* 1: |middle| is beyond the tolerance, so the clocks differ */
	int exchanges;
};

struct tmr_matrix {
	unsigned pus;             /* processing units of the node that may be used */
	unsigned *pu;             /* their operating system numbers */
	size_t pairs;             /* pus * (pus - 1) / 2 */
	struct tmr_core_pair *pair; /* (0,1), (0,2) ... (1,2) ... in the order of pu[] */
	size_t measured, apart;
	double worst_s;           /* largest |middle| */
	double widest_s;          /* largest half width */
};

/* Measures t, which must be shareable, with effective_tick_s (seconds) as the tolerance's first part.
 * Takes about 2 ms a pair, no more than about 0.5 s where other work has the cores, and 30 s in all: pairs
 * beyond that stay unknown. Returns 0 and *m, to be freed with tmr_matrix_free(); or -1: built without hwloc,
 * a timer that threads cannot share, no memory. One processing unit gives 0 pairs and 0. */
int tmr_matrix_measure(struct tmr_timer *t, double effective_tick_s, struct tmr_matrix *m, struct tkm_err *err);
void tmr_matrix_free(struct tmr_matrix *m);

#endif
