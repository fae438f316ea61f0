/* SPDX-License-Identifier: BSD-3-Clause */
/* Core-by-core offsets of one clock on one node: every pair of its processing units, measured as timers/quality/core_pair.h says. Every
 * interval is certain; no symmetry is assumed. Programs only: hwloc
 * gives the units in the order of the topology; without it they are in the order of their numbers. */
#ifndef TIMERS_QUALITY_MATRIX_H
#define TIMERS_QUALITY_MATRIX_H

#include "timers/quality/core_pair.h"

struct tmr_matrix {
	unsigned pus;                                    /* processing units of the node that may be used */
	unsigned *pu;                                    /* their operating system numbers */
	size_t pairs;                                    /* pus * (pus - 1) / 2 */
	struct tmr_core_pair *pair;                      /* (0,1), (0,2) ... (1,2) ... in the order of pu[] */
	double limit_s;                                  /* of "together" */
	size_t measured;                                 /* pairs with an interval */
	size_t together, apart, unknown, contradictions; /* all pairs by result */
	double farthest_s; /* largest distance of an interval's end from 0, without contradictions */
};

/* Measures t, which must be shareable and lags at most effective_tick_s (seconds) behind its clock. Takes about 0.2 ms
 * a pair, at most about 0.2 s a pair where other work uses the cores, and 30 s in all: pairs beyond that stay not
 * known. Returns 0 and *m, to be freed with tmr_matrix_free(); or -1: a timer that threads cannot share, no affinity,
 * no thread, no memory. One processing unit gives 0 pairs and 0. */
int tmr_matrix_measure(struct tmr_timer *t, double effective_tick_s, struct tmr_matrix *m, struct tkm_err *err);

/* Measures each pair again, later, that was not found "together", and combines both results. Returns 0 at once if there
 * is no such pair. Returns 0, or -1 as above, with *m unchanged. */
int tmr_matrix_measure_again(struct tmr_timer *t, double effective_tick_s, struct tmr_matrix *m, struct tkm_err *err);

void tmr_matrix_free(struct tmr_matrix *m);

#endif
