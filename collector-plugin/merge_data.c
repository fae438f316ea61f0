/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of all streams of all files, always the earliest next one. */
#include "config.h"
#include "collector-plugin/merge_private.h"

#include <stdio.h>
#include <stdlib.h>

/* One stream, standing at a record whose dt is already in `now` and whose global time is `time`. */
struct source {
	struct vt_raw_cursor c;
	const struct vt_merge_file *f;
	uint64_t time;
	int64_t seen_tick;   /* where the map was looked up last, */
	int64_t seen_global; /* what it said, */
	int plain;           /* and whether a tick is a global tick all over the map */
};

struct queue {
	struct source *s;
	uint32_t *heap; /* of indexes into s, the earliest at 0 */
	size_t n;
};

static uint64_t global(const struct vt_merge *m, struct source *s)
{
	int64_t t = s->plain ? s->seen_global + (s->c.now - s->seen_tick) : cal_map_at(s->f->map, ltick(s->c.now)).v;

	t -= m->origin;
	return t < 0 ? 0 : (uint64_t)t;
}

/* Goes on from c->p to the next record that is no time. 0: the end of the stream. */
static int arrive(struct vt_merge *m, struct source *s)
{
	struct vt_raw_record h;

	for (;;) {
		if (s->c.p == s->c.end && !vt_raw_cursor_block(&s->c)) {
			return 0;
		}
		memcpy(&h, s->c.p, sizeof(h));
		if (h.type != VT_RAW_TIME) {
			break;
		}
		memcpy(&s->c.now, s->c.p + 8, 8);
		s->c.p += 16;
	}
	s->c.now += h.dt;
	s->time = global(m, s);
	return 1;
}

static int earlier(const struct queue *q, uint32_t a, uint32_t b)
{
	return q->s[a].time != q->s[b].time ? q->s[a].time < q->s[b].time : a < b;
}

static void sink(struct queue *q, size_t i)
{
	uint32_t moved = q->heap[i];
	size_t child;

	while ((child = 2 * i + 1) < q->n) {
		child += child + 1 < q->n && earlier(q, q->heap[child + 1], q->heap[child]);
		if (!earlier(q, q->heap[child], moved)) {
			break;
		}
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = moved;
}

static uint32_t willy_of(const struct vt_merge_file *f, uint16_t where)
{
	uint32_t id = where & 0x7fffu;

	if (!(where & VT_RAW_GROUP)) {
		return STF_WILLY(f->process, where);
	}
	return STF_GROUP(id == VT_RAW_NODE ? VT_MERGE_FIRST_NODE + f->node : vt_merge_id(&f->groups, id));
}

/* Counters without a definition are left out: their values would mean nothing. */
static int write_counters(struct vt_merge *m, struct source *s, const struct vt_raw_record *h)
{
	uint64_t value[VT_RAW_MAX_COUNTERS];
	uint32_t id[VT_RAW_MAX_COUNTERS], raw_id, to, i, n = 0;
	struct stf_counter_value r = { .time = s->time, .willy = willy_of(s->f, h->where), .values = value, .counters = id };
	const uint8_t *p = s->c.p + 8;

	for (i = 0; i < h->n; i++) {
		memcpy(&raw_id, p + 8 * (size_t)h->n + 4 * (size_t)i, 4);
		to = vt_merge_id(&s->f->counters, raw_id);
		memcpy(&value[n], p + 8 * (size_t)i, 8);
		id[n] = to;
		n += to != 0;
	}
	s->c.p += 8 + 12 * (size_t)h->n;
	r.size_1_2 = n;
	if (n == 0) {
		m->out->lost++;
		return 0;
	}
	m->out->samples++;
	return stf_write_counter_value(m->w, &r);
}

static int write_change(struct vt_merge *m, struct source *s, const struct vt_raw_record *h)
{
	uint32_t body[2], willy = willy_of(s->f, h->where);

	memcpy(body, s->c.p + 8, 8);
	s->c.p += 16;
	body[0] = vt_merge_id(&s->f->functions, body[0]);
	body[1] = vt_merge_id(&s->f->scls, body[1]);
	m->out->changes++;
	if (h->type == VT_RAW_LEAVE && body[1]) {
		struct stf_leave_function_1 r = { .time = s->time, .willy = willy, .scl = body[1] };

		return stf_write_leave_function_1(m->w, &r);
	}
	if (h->type == VT_RAW_LEAVE) {
		struct stf_leave_function r = { .time = s->time, .willy = willy };

		return stf_write_leave_function(m->w, &r);
	}
	if (body[1]) {
		struct stf_enter_function_1 r = { .time = s->time, .willy = willy, .function = body[0], .scl = body[1] };

		return stf_write_enter_function_1(m->w, &r);
	}
	{
		struct stf_enter_function r = { .time = s->time, .willy = willy, .function = body[0] };

		return stf_write_enter_function(m->w, &r);
	}
}

static int write_comment(struct vt_merge *m, struct source *s, const struct vt_raw_record *h)
{
	struct stf_comment c = { .time = s->time, .willy = willy_of(s->f, h->where), .text = (const char *)s->c.p + 12 };
	uint32_t n;

	memcpy(&n, s->c.p + 8, 4);
	c.size_1_1 = n;
	s->c.p += 12 + ((n + 3) & ~3u);
	return stf_write_comment(m->w, &c);
}

static int write_one(struct vt_merge *m, struct source *s)
{
	struct vt_raw_record h;

	memcpy(&h, s->c.p, sizeof(h));
	switch (h.type) {
	case VT_RAW_COUNTERS:
		return write_counters(m, s, &h);
	case VT_RAW_COMMENT:
		return write_comment(m, s, &h);
	default:
		return write_change(m, s, &h);
	}
}

/* All of the earliest source up to where another one is. */
static int write_run(struct vt_merge *m, struct queue *q)
{
	struct source *s = &q->s[q->heap[0]];
	uint64_t limit = UINT64_MAX;
	int more = 1;

	if (q->n > 1) {
		limit = q->s[q->heap[1]].time;
		if (q->n > 2 && q->s[q->heap[2]].time < limit) {
			limit = q->s[q->heap[2]].time;
		}
	}
	do {
		if (write_one(m, s) < 0) {
			return -1;
		}
		m->last = s->time > m->last ? s->time : m->last;
		more = arrive(m, s);
	} while (more && s->time <= limit);
	if (!more) {
		q->heap[0] = q->heap[--q->n];
	}
	if (q->n) {
		sink(q, 0);
	}
	return 0;
}

static int is_plain(const struct vt_merge *m, const struct vt_merge_file *f)
{
	return f->map == &f->own && m->period_s == 1e-9 && f->own.pieces == 1 && f->own.piece[0].rise == f->own.piece[0].length;
}

static int fill(struct vt_merge *m, struct queue *q)
{
	size_t i, k, n = 0;

	for (i = 0; i < m->n; i++) {
		n += vt_raw_streams(m->file[i].raw);
	}
	q->s = calloc(n + 1, sizeof(*q->s));
	q->heap = calloc(n + 1, sizeof(*q->heap));
	if (!q->s || !q->heap) {
		return tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for %zu streams", n);
	}
	for (i = 0, n = 0; i < m->n; i++) {
		struct vt_merge_file *f = &m->file[i];

		for (k = 0; k < vt_raw_streams(f->raw); k++) {
			struct source *s = &q->s[n];

			s->f = f;
			s->plain = is_plain(m, f);
			s->seen_tick = f->head->start_tick;
			s->seen_global = cal_map_at(f->map, ltick(s->seen_tick)).v;
			vt_raw_cursor(f->raw, k, &s->c);
			if (arrive(m, s)) {
				q->heap[q->n++] = (uint32_t)n++;
			}
		}
	}
	for (i = q->n / 2; i-- > 0;) {
		sink(q, i);
	}
	return 0;
}

int vt_merge_data(struct vt_merge *m)
{
	struct queue q = { 0 };
	int rc = fill(m, &q);

	while (rc == 0 && q.n) {
		if (write_run(m, &q) < 0) {
			rc = vt_merge_stf_error(m, stf_writer_error(m->w));
		}
	}
	free(q.s);
	free(q.heap);
	return rc;
}
