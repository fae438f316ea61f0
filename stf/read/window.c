/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins reading in the middle of a trace: at the last anchor before the window, with the state at that time. */
#include "config.h"
#include "stf/read/window.h"
#include "stf/component/frames.h"
#include "stf/component/native.h"
#include "stf/read/walk.h"
#include "stf/write/stream.h"

#include <stdlib.h>

#include "base/grow.h"

/* The state of one file just before the window. */
struct before {
	struct stf_cursor *c;
	struct stf_source *s;
	struct stf_walk walk;
	struct stf_err *fault;
};

static int no_memory(struct before *b)
{
	return stf_no_memory(b->fault);
}

static int add_to_history(struct before *b)
{
	return stf_walk_record(&b->walk, b->s) < 0 ? no_memory(b) : 0;
}

/* Only records of these kinds stay open; an anchor cannot refer to others. */
static int can_be_open(const struct stf_record *r)
{
	enum stf_kind k = r->layout->kind;

	return k == STF_KIND_MSG || k == STF_KIND_COLL || k == STF_KIND_SCOPE || k == STF_KIND_FIO;
}

/* Reads the record that an anchor lists as open into s->record. Returns 0: it is not such a record. */
static int read_open(struct stf_source *s, uint64_t offset, uint64_t prevtime, struct stf_err *err)
{
	int rc;

	if (offset >= s->size) {
		return 0;
	}
	if (stf_source_seek(s, offset, prevtime, err) < 0) {
		return -1;
	}
	rc = stf_source_next(s, err);
	return rc > 0 ? can_be_open(&s->record) : rc;
}

static int apply_open(struct before *b, const struct stf_history *r, const struct stf_anchor_place *a)
{
	uint32_t i;
	int rc;

	for (i = 0; i < r->size_1_3; i++) {
		if (r->file[i] != b->s->file || r->offset[i] >= a->offset) {
			continue;
		}
		rc = read_open(b->s, r->offset[i], r->prevtime[i], b->fault);
		if (rc < 0 || (rc > 0 && add_to_history(b) < 0)) {
			return -1;
		}
	}
	return 0;
}

/* Takes in one history record. */
static int apply(struct before *b, const struct stf_record *rec, const struct stf_anchor_place *a)
{
	struct stf_counter_history c;
	struct stf_function_history_1 f;
	struct stf_counter_value v;
	struct stf_history o;
	uint32_t i;

	if (stf_get_counter_history(rec, &c) == 0) {
		for (i = 0; i < c.size_1_2; i++) {
			if (stf_history_counter(b->walk.h, c.counters[i], c.values[i]) < 0) {
				return no_memory(b);
			}
		}
	} else if (stf_get_counter_value(rec, &v) == 0) {
		for (i = 0; i < v.size_1_2; i++) {
			if (stf_history_thread_counter(b->walk.h, v.willy, v.counters[i], v.values[i]) < 0) {
				return no_memory(b);
			}
		}
	} else if (stf_get_function_history_1(rec, &f) == 0) {
		for (i = 0; i < f.size_1_2; i++) {
			if (stf_history_push(b->walk.h, f.willy, f.function_stack[i], f.scls ? f.scls[i] : 0) < 0) {
				return no_memory(b);
			}
		}
	} else if (stf_get_history(rec, &o) == 0 && o.file && o.offset && o.prevtime) {
		return apply_open(b, &o, a);
	}
	return 0;
}

/* Reads the histories after anchor a. */
static int apply_anchor(struct before *b, const struct stf_anchors *t, const struct stf_anchor_place *a)
{
	struct stf_source *s = stf_reader_source(b->c->reader, t->where, b->fault);
	int rc = -1;

	if (!s || stf_source_seek(s, a->at, 0, b->fault) < 0) {
		goto out;
	}
	rc = stf_source_next(s, b->fault);
	while (rc > 0 && (rc = stf_source_next(s, b->fault)) > 0) {
		if (s->record.layout->id == STF_ID_end_of_history || s->record.layout->id == STF_ID_anchor) {
			rc = 0;
		} else if (apply(b, &s->record, a) < 0) {
			rc = -1;
		}
	}
out:
	stf_source_close(s);
	return rc;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Finds the last anchor that precedes all records of the window; NULL: start at the beginning. For a state, the
 * anchor must have complete histories. */
static const struct stf_anchor_place *find_anchor(const struct stf_anchors *t, uint64_t from, uint64_t late, int state)
{
	size_t lo = 0, hi = t->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (plus(t->anchor[mid].latest, late) < from) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	while (state && lo && (!t->anchor[lo - 1].tells || (t->by_thread && !t->anchor[lo - 1].by_thread))) {
		lo--;
	}
	return lo ? &t->anchor[lo - 1] : NULL;
}

/* Reads everything before the window from the current position of the source, then goes back to the first record
 * of the window. */
static int absorb_all(struct before *b, uint64_t start, uint64_t now)
{
	struct stf_source *s = b->s;
	uint64_t from = b->c->filter.from;
	struct stf_err err;
	int rc;

	while ((rc = stf_source_next(s, &err)) > 0) {
		if (s->record.time < from) {
			if (add_to_history(b) < 0) {
				return -1;
			}
		} else if (s->late == 0) {
			stf_source_back(s);
			return 0;
		} else if (s->record.time > plus(from, s->late)) {
			break;
		}
	}
	/* damage is found again when the records are delivered, but a lack of memory is not; both are reported at
	 * the end */
	if (rc < 0 && b->fault->code == STF_OK) {
		*b->fault = err;
	}
	return stf_source_seek(s, start, now, b->fault);
}

static int keep_state(struct before *b, const struct stf_record *r, uint64_t time, uint32_t file)
{
	struct stf_cursor *c = b->c;
	struct stf_record **place, *copy;

	if (!stf_filter_record(&c->filter, r)) {
		return 0;
	}
	copy = stf_copy_record(r);
	place = copy ? TKM_APPEND(c->state, c->n_state) : NULL;
	if (!place) {
		free(copy);
		return no_memory(b);
	}
	copy->time = time;
	copy->file = file;
	copy->number = c->n_state - 1; /* orders records with equal times when they are sorted */
	*place = copy;
	return 0;
}

/* Reads the bytes of the open records from the file, and returns to the previous position. */
static int keep_open(struct before *b, const struct stf_record *r)
{
	struct stf_source *s = b->s;
	struct stf_mark was = { s->offset + s->pos, s->now, s->number };
	struct stf_history h;
	uint32_t i;
	int rc = 0;

	stf_get_history(r, &h);
	for (i = 0; i < h.size_1_3 && rc >= 0; i++) {
		rc = read_open(s, h.offset[i], h.prevtime[i], b->fault);
		if (rc > 0) {
			rc = keep_state(b, &s->record, s->record.time, s->file);
		}
	}
	if (rc < 0 || stf_source_seek(s, was.at, was.now, b->fault) < 0) {
		return -1;
	}
	return 0;
}

/* Makes a record of the history, with its values in scratch.value. */
static int keep_told(struct before *b, struct stf_record *r, struct stf_value *value)
{
	uint64_t from = b->c->filter.from;

	switch (r->layout->id) {
	case STF_ID_history:
		return keep_open(b, r);
	case STF_ID_counter_value:
		/* not a time of the thread, and not an event of the window */
		value[0].u = from - 1;
		return keep_state(b, r, from - 1, b->s->file);
	case STF_ID_counter_history:
		if (!(b->c->filter.categories >> STF_KIND_COUNTER & 1)) {
			return 0;
		}
		return keep_state(b, r, from, b->s->file);
	default:
		return keep_state(b, r, from, b->s->file);
	}
}

/* Converts the history to records of our layout. */
static int deliver(struct before *b)
{
	struct stf_fdef def = { 0 };
	struct stf_scratch scratch = { 0 };
	struct stf_record r = { .values = scratch.value };
	uint64_t size;
	uint8_t *p;
	int rc = 0;

	b->walk.mem->cur = b->walk.mem->buf;
	b->walk.mem->now = 0;
	if (stf_history_state(b->walk.h, b->walk.mem, b->s->file, b->c->filter.from) < 0) {
		return no_memory(b);
	}
	for (p = b->walk.mem->buf; p < b->walk.mem->cur && rc == 0; p += size) {
		size = stf_wire_size(p, TKM_HOST_BIG);
		def.id = *p;
		r.layout = stf_layout(*p);
		scratch.mem.n = 0;
		/* twice the size, because arrays are aligned and a zero byte follows each */
		if (stf_buf_reserve(&scratch.mem, 2 * size + 64) < 0 ||
			!stf_native_decode(&def, p, p + size, &scratch)) {
			rc = no_memory(b);
		} else {
			rc = keep_told(b, &r, scratch.value);
		}
	}
	free(scratch.mem.p);
	return rc;
}

static int state_of(
	struct stf_cursor *c, struct stf_source *s, const struct stf_anchors *t, const struct stf_anchor_place *a)
{
	struct before b = { .c = c, .s = s, .fault = &c->fault };
	uint64_t start = a ? a->offset : 0, now = a ? a->time_prev : 0;
	int rc = -1;

	if (stf_walk_begin(&b.walk) < 0) {
		no_memory(&b);
		goto out;
	}
	if (a && apply_anchor(&b, t, a) < 0) {
		goto out;
	}
	if (stf_source_seek(s, start, now, b.fault) < 0 || absorb_all(&b, start, now) < 0) {
		goto out;
	}
	rc = deliver(&b);
out:
	stf_walk_end(&b.walk);
	return rc;
}

/* The order of delivery: begin_of_history, counters, stacks, open records by time, end_of_history. */
static int rank(const struct stf_record *r)
{
	switch (r->layout->id) {
	case STF_ID_begin_of_history:
		return 0;
	case STF_ID_counter_history:
	case STF_ID_counter_value:
		return 1;
	case STF_ID_function_history:
	case STF_ID_function_history_1:
		return 2;
	case STF_ID_end_of_history:
		return 4;
	default:
		return 3;
	}
}

static int by_rank(const void *x, const void *y)
{
	const struct stf_record *a = *(struct stf_record *const *)x, *b = *(struct stf_record *const *)y;

	if (rank(a) != rank(b)) {
		return rank(a) - rank(b);
	}
	if (a->time != b->time) {
		return a->time < b->time ? -1 : 1;
	}
	if (a->file != b->file) {
		return a->file < b->file ? -1 : 1;
	}
	return a->number < b->number ? -1 : 1;
}

static int put_ends(struct stf_cursor *c)
{
	struct before b = { .c = c, .fault = &c->fault };
	struct stf_value v = { .u = c->filter.from };
	struct stf_record r = { .layout = stf_layout(STF_ID_begin_of_history), .values = &v };

	if (keep_state(&b, &r, c->filter.from, 0) < 0) {
		return -1;
	}
	r.layout = stf_layout(STF_ID_end_of_history);
	return keep_state(&b, &r, c->filter.from, 0);
}

/* A file whose state cannot be found is still read; the fault is reported at the end. */
int stf_window_begin(struct stf_cursor *c, int state, struct stf_err *err)
{
	const struct stf_anchors *t;
	const struct stf_anchor_place *a;
	struct stf_source *s;
	size_t i;

	for (i = 0; i < c->n; i++) {
		s = c->heap[i];
		if (!s->timed) {
			continue;
		}
		s->late = stf_reader_late(c->reader, stf_reader_find(c->reader, STF_ID_file_declaration, s->file));
		t = stf_reader_anchors(c->reader, s->file);
		if (!t) {
			return stf_no_memory(err);
		}
		if (t->fault.code != STF_OK && c->fault.code == STF_OK) {
			c->fault = t->fault;
		}
		if (!s->blocks.n) {
			stf_frames_know(s, t);
		}
		a = find_anchor(t, c->filter.from, s->late, state);
		if (state && c->filter.from > 0 && state_of(c, s, t, a) == 0) {
			continue;
		}
		if (stf_source_seek(s, a ? a->offset : 0, a ? a->time_prev : 0, err) < 0) {
			return -1;
		}
	}
	if (state && put_ends(c) < 0) {
		*err = c->fault;
		return -1;
	}
	if (c->n_state) {
		qsort(c->state, c->n_state, sizeof(*c->state), by_rank);
		for (i = 0; i < c->n_state; i++) {
			c->state[i]->number = 0;
		}
	}
	return 0;
}
