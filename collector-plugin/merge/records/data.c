/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the records of the streams of all files, or of those whose records go to one set of the trace's files:
 * always the earliest next record. Of records with the same time, the one of the first stream comes first. So leaving
 * records out does not change the order of the others. */
#include "config.h"
#include "collector-plugin/merge/common/private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "collector-plugin/merge/records/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/merge/records/source.h"
#include "collector-plugin/raw/reader.h"

struct queue {
	struct vt_merge_part *part;
	struct vt_merge_source *s;
	uint32_t *heap; /* of indexes into s, the earliest at 0 */
	size_t n;
	size_t n_sources;
};

static int64_t global_slow(struct vt_merge_source *s)
{
	if (s->f->map->parts > 1) {
		s->walk.over = (int)s->c.sessions;
		return cal_walk_next(&s->walk, ltick(s->c.now), &s->bound_s).v;
	}
	cal_map_span(s->f->map, ltick(s->c.now), &s->span);
	return cal_map_at(s->f->map, ltick(s->c.now)).v;
}

static inline uint64_t global(const struct vt_merge *m, struct vt_merge_source *s)
{
	int64_t now = s->c.now, t;

	t = now >= s->span.from && now <= s->span.to ? cal_span_at(&s->span, now) : global_slow(s);
	t -= m->origin;
	return t < 0 ? 0 : (uint64_t)t;
}

/* Records of a group all go to one set, whichever process recorded them. */
static int group_belongs(struct vt_merge_part *part, const struct vt_merge_source *s, unsigned group)
{
	uint32_t home = group == VT_RAW_NODE ? s->f->node_set : 0;

	if (part->everything || home == part->set) {
		return 1;
	}
	part->stray |= !(s->f->of_groups & (group == VT_RAW_NODE ? VT_MERGE_OF_NODE : VT_MERGE_OF_GROUPS));
	return 0;
}

/* Does this stream's record belong to the part? */
static inline int record_belongs(
	struct vt_merge_part *part, const struct vt_merge_source *s, const struct vt_raw_record *h)
{
	if (__builtin_expect((h->where & VT_RAW_GROUP) != 0, 0)) {
		return group_belongs(part, s, h->where & 0x7fffu);
	}
	return !s->foreign;
}

/* The stamps of a stream were taken in order. If a stamp is nevertheless earlier than the one before it, it is moved
 * up to that one if the bound of the correction allows it. Otherwise the clock was set back, or a signal handler made
 * a record between the stamp of a call and its record; then the stamp stays and the trace reports it. */
static void enforce_order(struct vt_merge_part *part, struct vt_merge_source *s)
{
	uint64_t back = s->floor - s->time;
	double bound_s = s->f->map == &s->f->own ? 0
		: s->f->map->parts > 1           ? s->bound_s
						 : cal_map_bound(s->f->map, ltick(s->c.now));
	double bound = bound_s / part->m->period_s;

	if ((double)back <= 2 * bound) {
		s->time = s->floor;
		part->repairs.moved++;
		part->repairs.largest = back > part->repairs.largest ? back : part->repairs.largest;
	} else {
		part->repairs.left++;
		part->repairs.farthest = back > part->repairs.farthest ? back : part->repairs.farthest;
	}
}

/* Goes on to the next record of the part. Returns 0 at the end of the stream. */
static inline int next_record(struct vt_merge_part *part, struct vt_merge_source *s)
{
	if (__builtin_expect(s->closing, 0)) {
		return s->states.n > 0;
	}
	while (vt_raw_cursor_next(&s->c)) {
		int wanted = __builtin_expect(record_belongs(part, s, &s->c.h), 1);

		/* a walk must pass every record, so that all parts find the same steps */
		if (wanted || s->f->map->parts > 1) {
			s->time = global(part->m, s);
		}
		if (wanted) {
			if (__builtin_expect(s->time < s->floor, 0)) {
				enforce_order(part, s);
			}
			s->floor = s->time;
			return 1;
		}
	}
	s->closing = s->states.n > 0;
	if (s->closing) {
		s->time = s->f->end > (int64_t)s->floor ? (uint64_t)s->f->end : s->floor;
	}
	return s->closing;
}

/* sources: the array that the indexes *a and *b are of. */
static int raw_source_is_earlier(const void *sources, const uint32_t *a, const uint32_t *b)
{
	const struct vt_merge_source *s = sources;

	return s[*a].time != s[*b].time ? s[*a].time < s[*b].time : *a < *b;
}

TKM_HEAP(source_heap, uint32_t, raw_source_is_earlier);

/* Counters without a definition are left out: their values would mean nothing. */
static int write_sample(struct vt_merge_part *part, const struct vt_merge_source *s)
{
	uint64_t value[VT_RAW_MAX_COUNTERS];
	uint32_t id[VT_RAW_MAX_COUNTERS], raw_id, to, i, n = 0, m = s->c.h.n;
	struct stf_counter_value r = {
		.time = s->time, .willy = vt_merge_willy(s->f, s->c.h.where), .values = value, .counters = id
	};
	const uint8_t *p = s->c.body;

	/* counters without a thread are left out, too */
	if ((s->c.h.where & (VT_RAW_GROUP | VT_RAW_PLACE)) == VT_RAW_PLACE &&
		!vt_merge_id(&s->f->places, s->c.h.where - VT_RAW_PLACE)) {
		part->lost++;
		return 0;
	}
	for (i = 0; i < m; i++) {
		memcpy(&raw_id, p + 8 * (size_t)m + 4 * (size_t)i, 4);
		to = vt_merge_id(&s->f->counters, raw_id);
		memcpy(&value[n], p + 8 * (size_t)i, 8);
		id[n] = to;
		n += to != 0;
	}
	r.size_1_2 = n;
	if (n == 0) {
		part->lost++;
		return 0;
	}
	part->samples++;
	return stf_write_counter_value(part->w, &r);
}

/* Makes an event of the present record, with the states of its thread. A stream goes to another thread when its own
 * thread has ended. */
static struct vt_merge_event event_of_source(struct vt_merge_source *s)
{
	return (struct vt_merge_event){ .time = s->time,
		.ticks = s->c.now,
		.willy = vt_merge_willy(s->f, s->closing ? s->owner : s->c.h.where),
		.f = s->f,
		.h = &s->c.h,
		.body = s->c.body,
		.states = &s->states };
}

static int write_source_event(struct vt_merge_part *part, struct vt_merge_source *s)
{
	struct vt_merge_event e;
	int rc = 0;

	if (s->owner != s->c.h.where) {
		s->closing = 1;
		e = event_of_source(s);
		while (rc == 0 && s->states.n) {
			rc = vt_merge_close_state(part, &e);
		}
		s->closing = 0;
		s->owner = s->c.h.where;
	}
	e = event_of_source(s);
	return rc == 0 ? vt_merge_event(part, &e) : rc;
}

/* Closes one state that is still open at the end of a stream. */
static int close_one(struct vt_merge_part *part, struct vt_merge_source *s)
{
	struct vt_merge_event e = event_of_source(s);

	return vt_merge_close_state(part, &e);
}

static int write_comment(struct vt_merge_part *part, const struct vt_merge_source *s)
{
	struct stf_comment c = {
		.time = s->time, .willy = vt_merge_willy(s->f, s->c.h.where), .text = (const char *)s->c.p + 12
	};
	uint32_t n;

	memcpy(&n, s->c.p + 8, 4);
	c.size_1_1 = n;
	return stf_write_comment(part->w, &c);
}

static inline int write_raw_record(struct vt_merge_part *part, struct vt_merge_source *s)
{
	if (__builtin_expect(s->closing, 0)) {
		return close_one(part, s);
	}
	if (s->c.h.type == VT_RAW_COUNTERS) {
		return write_sample(part, s);
	}
	return s->c.h.type == VT_RAW_COMMENT ? write_comment(part, s) : write_source_event(part, s);
}

/* Writes the records of the earliest source, up to the next record of any other source. */
static int write_earliest_source(struct queue *q)
{
	struct vt_merge_part *part = q->part;
	uint32_t me = q->heap[0], next = UINT32_MAX;
	struct vt_merge_source *s = &q->s[me];
	uint64_t limit = UINT64_MAX;
	int more = 1;

	if (q->n > 1) {
		next = q->heap[q->n > 2 && raw_source_is_earlier(q->s, &q->heap[2], &q->heap[1]) ? 2 : 1];
		limit = q->s[next].time;
	}
	do {
		if (write_raw_record(part, s) < 0 || vt_merge_run(part, s, limit) < 0) {
			return -1;
		}
		part->last = s->time > part->last ? s->time : part->last;
		more = next_record(part, s);
	} while (more && (s->time < limit || (s->time == limit && me < next)));
	if (!more) {
		q->heap[0] = q->heap[--q->n];
	}
	source_heap_sift(q->s, q->heap, q->n, 0);
	return 0;
}

/* Adds the streams of one file. n: number of sources so far. */
static size_t fill_file(struct queue *q, const struct vt_merge_file *f, size_t n)
{
	struct vt_merge_part *part = q->part;
	int foreign = !part->everything && f->set != part->set;
	size_t k;

	for (k = 0; k < vt_raw_streams(f->raw); k++) {
		struct vt_merge_source *s = &q->s[n];

		s->f = f;
		s->foreign = foreign || f->discarded;
		s->span = (struct cal_span){ .from = 1 };
		cal_walk_begin(&s->walk, f->map);
		s->floor = 0;
		vt_raw_cursor(f->raw, k, &s->c);
		if (foreign) {
			s->c.damaged = &part->seen_elsewhere;
		}
		if (next_record(part, s)) {
			q->heap[q->n++] = (uint32_t)n++;
		}
	}
	return n;
}

static const struct vt_merge_file *file_of_part(const struct vt_merge_part *part, size_t i)
{
	return &part->m->file[part->everything ? i : part->served[i].file];
}

static int fill_queue(struct queue *q)
{
	const struct vt_merge_part *part = q->part;
	size_t i, n = 0, files = part->everything ? part->m->n : part->n_served;

	for (i = 0; i < files; i++) {
		n += vt_raw_streams(file_of_part(part, i)->raw);
	}
	q->s = calloc(n + 1, sizeof(*q->s));
	q->heap = calloc(n + 1, sizeof(*q->heap));
	if (!q->s || !q->heap) {
		return -1;
	}
	for (i = 0, n = 0; i < files; i++) {
		n = fill_file(q, file_of_part(part, i), n);
	}
	q->n_sources = n;
	for (i = q->n / 2; i-- > 0;) {
		source_heap_sift(q->s, q->heap, q->n, i);
	}
	return 0;
}

/* Threads that had states. The streams of a file are side by side; a thread may have had several. */
static uint64_t count_callers(const struct queue *q)
{
	unsigned char has[0x10000 / 8] = { 0 };
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < q->n_sources; i++) {
		const struct vt_merge_source *s = &q->s[i];
		uint32_t thread = stf_willy_thread(vt_merge_willy(s->f, s->owner));

		if (i && s->f != s[-1].f) {
			memset(has, 0, sizeof(has));
		}
		if (s->states.function && !(has[thread / 8 % sizeof(has)] & 1 << thread % 8)) {
			has[thread / 8 % sizeof(has)] |= (unsigned char)(1 << thread % 8);
			n++;
		}
	}
	return n;
}

int vt_merge_part_data(struct vt_merge_part *part)
{
	struct queue q = { .part = part };
	int rc = fill_queue(&q);
	size_t i;

	if (rc < 0) {
		part->error = (struct stf_err){ .code = STF_ERR_NOMEM, .text = "merge: out of memory for the streams" };
	}
	while (rc == 0 && q.n) {
		if (write_earliest_source(&q) < 0) {
			part->error = part->error.code ? part->error : *stf_writer_error(part->w);
			rc = -1;
		}
	}
	part->callers = q.s ? count_callers(&q) : 0;
	for (i = 0; i < q.n_sources; i++) {
		free(q.s[i].states.function);
	}
	free(q.s);
	free(q.heap);
	return rc;
}
