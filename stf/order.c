/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts records by time where a writer stepped back. */
#include "config.h"
#include "stf/order.h"
#include "stf/reader.h"

#include <stdlib.h>

enum { MOST = 1 << 18 }; /* number of records that wait if a trace does not say how late its records are */

static int record_is_before(const struct stx_waiting *a, const struct stx_waiting *b)
{
	return a->record->time != b->record->time ? a->record->time < b->record->time : a->number < b->number;
}

int stx_order_put(struct stx_order *o, const struct stf_record *r)
{
	struct stx_waiting w = { stx_copy_record(r), o->number++ };
	size_t i = o->n, up, cap = o->cap ? 2 * o->cap : 64;
	void *p;

	if (!w.record) {
		return -1;
	}
	/* the copy of a definition has neither time nor place */
	w.record->time = r->time;
	w.record->file = r->file;
	w.record->offset = r->offset;
	w.record->number = r->number;
	if (o->n == o->cap) {
		p = realloc(o->heap, cap * sizeof(*o->heap));
		if (!p) {
			free(w.record);
			return -1;
		}
		o->heap = p;
		o->cap = cap;
	}
	for (o->n++; i > 0 && record_is_before(&w, &o->heap[up = (i - 1) / 2]); i = up) {
		o->heap[i] = o->heap[up];
	}
	o->heap[i] = w;
	o->newest = r->time > o->newest ? r->time : o->newest;
	return 0;
}

static struct stf_record *take_first(struct stx_order *o)
{
	struct stf_record *first = o->heap[0].record;
	struct stx_waiting last = o->heap[--o->n];
	size_t i = 0, k;

	while ((k = 2 * i + 1) < o->n) {
		k += k + 1 < o->n && record_is_before(&o->heap[k + 1], &o->heap[k]);
		if (!record_is_before(&o->heap[k], &last)) {
			break;
		}
		o->heap[i] = o->heap[k];
		i = k;
	}
	o->heap[i] = last;
	return first;
}

const struct stf_record *stx_order_take(struct stx_order *o)
{
	int ready = o->n &&
		(o->ended || o->n > MOST || (o->newest >= o->late && o->heap[0].record->time <= o->newest - o->late));

	free(o->given);
	o->given = ready ? take_first(o) : NULL;
	return o->given;
}

void stx_order_free(struct stx_order *o)
{
	while (o->n) {
		free(o->heap[--o->n].record);
	}
	free(o->heap);
	free(o->given);
}
