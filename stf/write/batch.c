/* SPDX-License-Identifier: BSD-3-Clause */
/* Records that the merge stores itself: their place in the stream, and what the stream must know of them. */
#include "config.h"
#include "stf/write/batch.h"
#include "stf/write/writer.h"

_Static_assert(STX_ENTER == sizeof(struct stf_wire_enter_function) &&
		STX_LEAVE == sizeof(struct stf_wire_leave_function) &&
		STX_VALUES == sizeof(struct stf_wire_counter_value),
	"the sizes of batch.h are those of the records");

enum { FEW = 8 }; /* so few records are rather left to the next walk of the history */

static struct stf_batch begin(struct stf_writer *w, unsigned id, unsigned kind, uint32_t willy)
{
	struct stf_stream *to = stf_route(w, id, kind, willy, 0);
	struct stf_batch b = { .to = to, .willy = willy };

	if (to && !to->big) {
		b.p = to->cur;
		b.room = (size_t)(to->limit - to->cur);
		b.now = to->now;
	}
	return b;
}

struct stf_batch stf_batch_states(struct stf_writer *w, uint32_t willy)
{
	return begin(w, STF_ID_enter_function, STF_KIND_FUNC, willy);
}

struct stf_batch stf_batch_values(struct stf_writer *w, uint32_t willy)
{
	return begin(w, STF_ID_counter_value, STF_KIND_COUNTER, willy);
}

/* Makes the records part of the stream. Returns 1 if the history can learn them at once; -1: error. */
static int take(const struct stf_batch *b, const struct stf_done *d)
{
	struct stf_stream *to = b->to;

	if (d->n >= FEW && stf_stream_walk(to) < 0) {
		return -1;
	}
	to->cur = d->p;
	to->now = d->last;
	return d->n >= FEW && to->seen == b->p;
}

/* 1: the history has learned of all records in the buffer. */
static int told(struct stf_stream *to, int learned)
{
	if (learned > 0) {
		to->seen = to->cur;
		to->seen_now = to->now;
	}
	return learned < 0 ? stf_no_memory(to->err) : 0;
}

int stf_batch_end_states(const struct stf_batch *b, const struct stf_done *d)
{
	struct stf_stream *to = b->to;
	int rc = take(b, d);

	to->used[STF_ID_enter_function] |= d->enters > 0;
	to->used[STF_ID_leave_function] |= d->enters < d->n;
	return rc > 0 ? told(to, stf_history_states(to->history, b->willy, d)) : rc;
}

int stf_batch_end_values(const struct stf_batch *b, const struct stf_done *d)
{
	struct stf_stream *to = b->to;
	size_t size = (size_t)(d->p - b->p) / d->n;
	int rc = take(b, d);

	to->used[STF_ID_counter_value] = 1;
	return rc > 0 ? told(to, stf_history_values(to->history, d->p - size, d)) : rc;
}
