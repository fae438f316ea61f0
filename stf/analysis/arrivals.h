/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective operations wait here until the reading has passed the time at which they let others go on. */
#ifndef STF_ANALYSIS_ARRIVALS_H
#define STF_ANALYSIS_ARRIVALS_H

#include "stf/analysis/together.h"

struct stf_sent {
	uint32_t sender, receiver;
	int64_t takes;
	uint64_t bytes;
	enum stf_wait_kind kind; /* of who waits for it */
};

/* Who may have waited for an arrival: he began and ended his part at these times. */
struct stf_waiter {
	uint32_t willy;
	uint64_t start, end;
};

struct stf_arrival {
	uint64_t ready;
	uint32_t cause, n;
	enum stf_wait_kind kind;
	struct stf_waiter waiter[];
};

struct stf_arrivals {
	struct stf_threads *t;
	/* messages sent at the time `now` */
	struct stf_sent *sent;
	size_t n_sent, sent_room;
	uint64_t now;
	/* a heap, the first arrival first */
	struct stf_arrival **heap;
	size_t n, room;
	uint64_t held; /* waiters in the heap */
	struct stf_begins begins;
	struct tkm_table spreads, lasts; /* struct stf_spread; of each of them and thread, how often it was the last */
	uint32_t communicator;           /* of the last message */
	int one_sided;                   /* it has puts and gets: their target does not wait for them */
	uint64_t messages, operations, halves, incomplete, no_root;
};

/* Take a record. They return 0 or -1: no memory. */
int stf_arrivals_message(struct stf_arrivals *a, const struct stf_record *rec);
int stf_arrivals_operation(struct stf_arrivals *a, const struct stf_record *rec);
/* Everything that arrives before `time` lets its waiters go on. */
int stf_arrivals_pass(struct stf_arrivals *a, uint64_t time);
void stf_arrivals_free(struct stf_arrivals *a);

/* Is there anything to pass before `time`? */
static inline int stf_arrivals_due(const struct stf_arrivals *a, uint64_t time)
{
	return (a->n_sent && a->now < time) || (a->n && a->heap[0]->ready < time) || stf_begins_due(&a->begins, time);
}

#endif
