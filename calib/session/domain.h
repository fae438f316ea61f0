/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock domains: which ranks have the same clock by its nature, so that only one of them, the leader, exchanges
 * messages. Libc only. */
#ifndef CALIB_DOMAIN_H
#define CALIB_DOMAIN_H

#include <stdint.h>

#include "calib/map/run.h"
#include "calib/session/link.h"
#include "calib/session/plan.h"
#include "timers/timer.h"

struct cal_place {
	int32_t leader;         /* first rank with the same kernel clocks */
	int32_t index, on_node; /* of the ranks that share them */
	int32_t machine;        /* first rank that runs on the same processors */
	int32_t units;          /* processing units of that machine */
	int32_t unproven;       /* 1: its leader has not been asked for a proof */
	double within_s; /* cal_domains_find(): the clocks of its domain are one to within this; NAN: not proven */
};

/* Who runs where, out of what each process's own kernel says: boot id, host name, identity and offsets of the time
 * namespace, clock source, processing units. All processes call it; place has room for one of each rank, and every
 * process gets them all. Two messages of each process, no timing messages. Returns 0 or -1. */
int cal_places_here(struct cal_link *l, struct cal_place *place, struct tkm_err *err);

/* The same, and in the same messages whether the ranks of a domain read one clock with t: 0 for kernel clocks; for a counter
 * the first rank of each node proves by causality over a shared cache line that its processing units read one clock
 * (timers/quality/prove.h), for budget_s at most, while the others sleep; NAN for other timers, where it is not so, and for a rank
 * whose timer is not that of its leader. A node with several domains takes a second round. Same return. */
int cal_domains_find(struct cal_link *l, struct tmr_timer *t, double effective_tick_s, double budget_s,
	struct cal_place *place, struct tkm_err *err);

/* SYNCED-HOST and SYNCED-CLUSTER as in the guide: sets exchanges[i] for each of n ranks that exchanges messages with the
 * master, and what r, the record of this process, shares. synced_host -1: ranks share a clock where within_s says so.
 * cluster: all have one clock. r->effective_tick_s is known. */
void cal_places_choose(const struct cal_place *place, int n, int synced_host, int cluster, unsigned char *exchanges,
	struct cal_rank *r);

/* The plan for the master and all that exchange messages; see cal_plan_make(). */
int cal_places_plan(const struct cal_place *place, int n, const unsigned char *exchanges, enum cal_shape shape,
	struct cal_plan *plan, struct tkm_err *err);

#endif
