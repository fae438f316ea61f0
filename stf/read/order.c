/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts records by time where a writer stepped back. */
#include "config.h"
#include "stf/read/order.h"
#include "stf/read/reader.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/heap.h"

enum { MOST = 1 << 18 }; /* number of records that wait if a trace does not say how late its records are */

static int record_is_before(const void *of, const struct stf_waiting *a, const struct stf_waiting *b)
{
	(void)of;
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

TKM_HEAP(record_heap, struct stf_waiting, record_is_before);

int stf_order_put(struct stf_order *o, const struct stf_record *r)
{
	struct stf_waiting w = { r->time, stf_copy_record(r), o->number++ };

	if (!w.record) {
		return -1;
	}
	/* the copy of a definition has neither time nor place */
	w.record->time = r->time;
	w.record->file = r->file;
	w.record->offset = r->offset;
	w.record->number = r->number;
	if (TKM_GROW(o->heap, o->cap, o->n + 1) < 0) {
		free(w.record);
		return -1;
	}
	record_heap_add(NULL, o->heap, o->n++, w);
	o->newest = r->time > o->newest ? r->time : o->newest;
	return 0;
}

static struct stf_record *take_first(struct stf_order *o)
{
	struct stf_record *first = o->heap[0].record;

	o->heap[0] = o->heap[--o->n];
	record_heap_sift(NULL, o->heap, o->n, 0);
	return first;
}

const struct stf_record *stf_order_take(struct stf_order *o)
{
	int ready =
		o->n && (o->ended || o->n > MOST || (o->newest >= o->late && o->heap[0].time <= o->newest - o->late));

	free(o->given);
	o->given = ready ? take_first(o) : NULL;
	return o->given;
}

void stf_order_free(struct stf_order *o)
{
	while (o->n) {
		free(o->heap[--o->n].record);
	}
	free(o->heap);
	free(o->given);
}
