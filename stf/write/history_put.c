/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the state that a history has collected: as an anchor, or for some time. */
#include "stf/write/history.h"
#include "stf/write/history_parts.h"
#include "stf/write/put.h"
#include "stf/write/stream.h"

#define SPARSE 12 /* at least this many bytes of data for each byte of histories */

/* Writes values of one thread. For all threads together, writes only values of unknown threads (`nobody`), or all
 * values. A record has fewer than 256 values, because its size field is U1. */
static int put_set(struct stf_stream *to, const struct stf_lasts *s, const struct stf_thread_values *t, int nobody)
{
	uint32_t id[255];
	uint64_t value[255];
	struct stf_counter_history all = { .counters = id, .values = value };
	struct stf_counter_value own = { .willy = t ? t->willy : 0, .counters = id, .values = value };
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		if (!nobody || !s->c[i].by_thread) {
			id[n] = s->c[i].id;
			value[n++] = s->c[i].value;
		}
		if (n == 255 || (n && i + 1 == s->n)) {
			all.size_1_2 = own.size_1_2 = (uint32_t)n;
			if (t ? stf_put_counter_value(to, &own) < 0 : stf_put_counter_history(to, &all) < 0) {
				return -1;
			}
			n = 0;
		}
	}
	return 0;
}

static int put_threads(const struct stf_history_state *h, struct stf_stream *to)
{
	size_t i;

	for (i = 0; i < h->n_threads; i++) {
		if (put_set(to, &h->thread[i].set, &h->thread[i], 0) < 0) {
			return -1;
		}
	}
	return 0;
}

static int has_scl(const struct stf_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->n && !s->scl[i]; i++) {
		;
	}
	return i < s->n;
}

/* The number of bytes of the histories. */
static uint64_t size_of(const struct stf_history_state *h)
{
	uint64_t size = sizeof(struct stf_wire_begin_of_history) + sizeof(struct stf_wire_end_of_history) +
		12 * h->all.n + 20 * h->n_open;
	size_t i;

	for (i = 0; i < h->n_stacks; i++) {
		if (h->stack[i].n) {
			size += has_scl(&h->stack[i])
				? sizeof(struct stf_wire_function_history_1) + 8 * (uint64_t)h->stack[i].n
				: sizeof(struct stf_wire_function_history) + 4 * (uint64_t)h->stack[i].n;
		}
	}
	for (i = 0; i < h->n_threads; i++) {
		size += sizeof(struct stf_wire_counter_value) + 12 * h->thread[i].set.n;
	}
	return size;
}

/* If there is much state, most anchors have only a place and a time. A reader that needs the state then starts at
 * an earlier anchor. The sizes are those in the file. Histories are expected to be compressed as much as the last ones were. */
static int state_is_due(const struct stf_stream *s, uint64_t offset)
{
	uint64_t stored = s->zst ? s->out.size : offset, size = size_of(s->history);

	if (s->anc->zst && s->anc->base) {
		size = (uint64_t)((double)size * (double)s->anc->out.size / (double)s->anc->base);
	}
	if (offset && stored - s->history->told < SPARSE * size) {
		return 0;
	}
	s->history->told = stored;
	return 1;
}

static int put_stacks(struct stf_history_state *h, struct stf_stream *anc)
{
	const struct stf_stack *s;
	size_t k;
	int rc = 0;

	for (k = 0; k < h->n_stacks && rc == 0; k++) {
		s = &h->stack[k];
		if (has_scl(s)) {
			struct stf_function_history_1 r = {
				.willy = s->willy, .size_1_2 = s->n, .function_stack = s->function, .scls = s->scl
			};

			rc = stf_put_function_history_1(anc, &r);
		} else if (s->n) {
			struct stf_function_history r = {
				.willy = s->willy, .size_1_1 = s->n, .function_stack = s->function
			};

			rc = stf_put_function_history(anc, &r);
		}
	}
	return rc;
}

static int put_open(struct stf_history_state *h, struct stf_stream *anc, uint32_t file)
{
	struct stf_history r = { 0 };
	uint32_t files[255];
	uint64_t offset[255], prevtime[255];
	size_t i, n = 0;

	r.file = files;
	r.offset = offset;
	r.prevtime = prevtime;
	for (i = 0; i < h->n_open; i++) {
		files[n] = file;
		offset[n] = h->open[i].offset;
		prevtime[n++] = h->open[i].prevtime;
		if (n == 255 || i + 1 == h->n_open) {
			r.size_1_3 = (uint32_t)n;
			if (stf_put_history(anc, &r) < 0) {
				return -1;
			}
			n = 0;
		}
	}
	return 0;
}

void stf_history_drop_ended(struct stf_history_state *h, uint64_t time_prev)
{
	size_t i, n = 0;

	for (i = 0; i < h->n_open; i++) {
		if (h->open[i].end > time_prev) {
			h->open[n++] = h->open[i];
		}
	}
	h->n_open = n;
}

int stf_history_anchor(struct stf_stream *s, uint64_t offset)
{
	struct stf_anchor a = { .time_prev = s->now, .offset = offset };
	struct stf_begin_of_history begin = { 0 };
	struct stf_end_of_history end = { 0 };
	struct stf_history_state *h = s->history;
	struct stf_stream *anc = s->anc;

	stf_history_drop_ended(h, s->now);
	if (stf_put_anchor(anc, &a) < 0) {
		return -1;
	}
	if (!state_is_due(s, offset)) {
		return 0;
	}
	stf_history_sort(h);
	if (stf_put_begin_of_history(anc, &begin) < 0 || put_set(anc, &h->all, NULL, 0) < 0 ||
		put_threads(h, anc) < 0 || put_stacks(h, anc) < 0 || put_open(h, anc, s->file) < 0) {
		return -1;
	}
	return stf_put_end_of_history(anc, &end);
}

int stf_history_state(struct stf_history_state *h, struct stf_stream *to, uint32_t file, uint64_t from)
{
	stf_history_drop_ended(h, from - 1);
	stf_history_sort(h);
	return put_set(to, &h->all, NULL, 1) < 0 || put_threads(h, to) < 0 || put_stacks(h, to) < 0
		? -1
		: put_open(h, to, file);
}
