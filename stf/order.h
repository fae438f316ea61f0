/* SPDX-License-Identifier: BSD-3-Clause */
/* Records in the order of their time where a writer stepped back: they wait until nothing earlier can come. */
#ifndef STF_ORDER_H
#define STF_ORDER_H

#include "stf/private.h"

struct stf_record;

struct stx_waiting {
	struct stf_record *record;
	uint64_t number; /* the order among equals */
};

struct stx_order {
	struct stx_waiting *heap;
	size_t n, cap;
	uint64_t late;   /* how much earlier a record may be than one before it; 0: nothing waits */
	uint64_t newest; /* latest time seen */
	uint64_t number;
	struct stf_record *given; /* handed out last */
	int ended;                /* the source is at its end */
};

/* A copy of r waits. Returns 0 or -1: no memory. */
int stx_order_put(struct stx_order *o, const struct stf_record *r);
/* The next record that nothing earlier can follow; NULL: more must be put first. It lives until the next call. */
const struct stf_record *stx_order_take(struct stx_order *o);
void stx_order_free(struct stx_order *o);

#endif
