/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock domains: which ranks have the same clock by its nature, so that only one of them, the leader, exchanges
 * messages. Libc only. */
#ifndef CALIB_DOMAIN_H
#define CALIB_DOMAIN_H

#include <stdint.h>

#include "calib/link.h"
#include "timers/timer.h"

struct cal_place {
	int32_t leader;         /* first rank with the same kernel clocks */
	int32_t index, on_node; /* of the ranks that share them */
	int32_t machine;        /* first rank that runs on the same processors */
	int32_t units;          /* processing units of that machine */
	int32_t unused;
	double within_s;        /* cal_domain_prove(): the counters of its domain are one clock to within this;
	                         * NAN: not proven */
};

/* What a process knows about itself: equal `clocks` mean the same kernel clocks, equal `machine` the same
 * processors (timers/env.h has both). All processes call it; place has room for one of each rank, and every process
 * gets them all. Two messages of each process, no timing messages. Returns 0 or -1. */
int cal_places_find(struct cal_link *l, const char *clocks, const char *machine, int units, struct cal_place *place,
	struct tkm_err *err);

/* The same out of this process's own kernel: boot id, host name, identity and offsets of the time namespace, clock
 * source, processing units. */
int cal_places_here(struct cal_link *l, struct cal_place *place, struct tkm_err *err);

/* Sets within_s of all places: 0 for kernel clocks; for a counter the leader of each domain proves by causality over a
 * shared cache line that its processing units read one clock (timers/prove.h), for budget_s at most, while the others
 * sleep; NAN for other timers, where it is not so, and for a rank whose timer is not that of its leader. Same return. */
int cal_domain_prove(struct cal_link *l, struct tmr_timer *t, double effective_tick_s, double budget_s,
	struct cal_place *place, struct tkm_err *err);

#endif
