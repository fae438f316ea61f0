/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts records by time where a writer stepped back. A record waits until no earlier one can follow. */
#ifndef STF_READ_ORDER_H
#define STF_READ_ORDER_H

#include "stf/format/private.h"

struct stf_record;

struct stf_waiting {
	uint64_t time; /* that of the record, which is far away in memory */
	struct stf_record *record;
	uint64_t number; /* the order of records with equal times */
};

struct stf_order {
	struct stf_waiting *heap;
	size_t n, cap;
	uint64_t late;   /* by how much a record may be earlier than a record before it; 0: nothing waits */
	uint64_t newest; /* largest time so far */
	uint64_t number;
	struct stf_record *given; /* the record that was delivered last */
	int ended;                /* the source is at its end */
};

/* Keeps a copy of r waiting. Returns 0 or -1: no memory. */
int stf_order_put(struct stf_order *o, const struct stf_record *r);
/* Returns the next record if no earlier one can follow; NULL: the caller must put more records first. The record
 * is valid until the next call. */
const struct stf_record *stf_order_take(struct stf_order *o);
void stf_order_free(struct stf_order *o);

#endif
