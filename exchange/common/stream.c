/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivers the events of a trace in the order of their time. A message or collective operation is one record of
 * STF. Those of its parts that have other times wait in a heap until reading has reached their time. */
#include "config.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/heap.h"

enum { MAX_WAITING = 1 << 20 }; /* events that wait because a part of a later record may precede them */

struct waiting {
	struct xch_event e;
	uint64_t seq;
	void *copy; /* the memory that e points to; NULL: none */
};

struct stack {
	uint32_t *function;
	size_t cap;
};

struct stream {
	struct xch_writer *w;
	struct xch_trace *t;
	struct tkm_err *err;
	struct waiting *heap;
	size_t n, cap;
	uint64_t seq, back; /* back: how much earlier than its record a part may be */
	uint64_t last;      /* time of the last event delivered */
	uint64_t messages, colls;
	struct stack *stack;    /* for each place, its stack */
	struct xch_event *held; /* sends and begins at s->last whose function is not yet entered */
	size_t n_held, held_room;
};

/* ---- delivering ---- */

/* Finds the counters of a sample. Those that the trace does not declare are lost. */
static int pass_sample(struct stream *s, const struct xch_event *e)
{
	struct xch_event found = *e;
	const struct xch_counter *known[UINT8_MAX];
	uint64_t values[UINT8_MAX];
	uint32_t i, n = 0;

	for (i = 0; i < e->u.sample.n; i++) {
		known[n] = xch_counter(s->t, e->u.sample.ids[i]);
		values[n] = e->u.sample.values[i];
		n += known[n] != NULL;
	}
	s->w->lost[XCH_SAMPLE] += e->u.sample.n - n;
	found.u.sample.n = n;
	found.u.sample.counter = known;
	found.u.sample.values = values;
	return n ? s->w->format->event(s->w, s->t, &found, s->err) : 0;
}

static void find_text(const struct stream *s, struct xch_event *e)
{
	struct stf_comment c;
	struct stf_report r;

	if (stf_get_comment(e->record, &c) == 0) {
		e->u.text.text = c.size_1_1 ? c.text : "";
		e->u.text.length = c.size_1_1;
	} else {
		stf_get_report(e->record, &r);
		e->u.text.text = stf_reader_string(s->t->r, r.description);
		e->u.text.text = e->u.text.text ? e->u.text.text : "";
		e->u.text.length = strlen(e->u.text.text);
	}
}

static int follow_stack(struct stream *s, struct xch_event *e)
{
	struct stack *k = &s->stack[e->place->index];

	if (e->kind == XCH_LEAVE) {
		e->u.function = e->place->depth ? k->function[--e->place->depth] : 0;
		return 0;
	}
	if (TKM_GROW(k->function, k->cap, e->place->depth + 1) < 0) {
		return xch_fail_memory(s->err, s->t->path);
	}
	k->function[e->place->depth++] = e->u.function;
	return 0;
}

static int pass_now(struct stream *s, struct xch_event *e)
{
	struct xch_writer *w = s->w;
	struct xch_place *p = e->place;

	if (!(w->format->holds >> e->kind & 1)) {
		w->lost[e->kind]++;
		return 0;
	}
	if (e->kind <= XCH_LEAVE && follow_stack(s, e) < 0) {
		return -1;
	}
	if (e->time < s->last) {
		w->disordered++;
	} else {
		s->last = e->time;
	}
	p->count[e->kind]++;
	p->first = e->time < p->first ? e->time : p->first;
	p->last = e->time > p->last ? e->time : p->last;
	if (e->scl) {
		w->lost[XCH_LOCATIONS] += !(w->format->holds >> XCH_LOCATIONS & 1);
		e->where = xch_named_by_id(s->t, XCH_SOURCES, e->scl);
	}
	w->events++;
	if (e->kind <= XCH_LEAVE) {
		e->what = xch_named_by_id(s->t, XCH_FUNCTIONS, e->u.function);
	} else if (e->kind == XCH_COMMENT || e->kind == XCH_REPORT) {
		find_text(s, e);
	}
	if ((e->kind == XCH_SAMPLE ? pass_sample(s, e) : w->format->event(w, s->t, e, s->err)) < 0) {
		return -1;
	}
	return w->f && ferror_unlocked(w->f) ? tkm_fail_errno(s->err, TKM_ERR_IO, errno, "cannot write %s", w->target)
					     : 0;
}

/* Is an event one of this function? Of a collective operation the name says it. */
static int is_of(const struct stream *s, const struct xch_event *e, uint32_t function)
{
	const struct xch_named *f = xch_named_by_id(s->t, XCH_FUNCTIONS, function);

	return e->kind == XCH_SEND ? !e->u.message.function || e->u.message.function->id == function
				   : f && e->what && !strcmp(f->name, e->what->name);
}

/* Delivers the held events of a place (NULL: all). */
static int release(struct stream *s, const struct xch_place *p)
{
	size_t i, kept = 0;
	int rc = 0;

	for (i = 0; i < s->n_held; i++) {
		if (rc == 0 && (!p || s->held[i].place == p)) {
			rc = pass_now(s, &s->held[i]);
		} else {
			s->held[kept++] = s->held[i];
		}
	}
	s->n_held = kept;
	return rc;
}

static int hold(struct stream *s, const struct xch_event *e)
{
	if (TKM_GROW(s->held, s->held_room, s->n_held + 1) < 0) {
		return xch_fail_memory(s->err, s->t->path);
	}
	s->held[s->n_held++] = *e;
	return 0;
}

/* Delivers what is held and comes before this event. */
static int release_before(struct stream *s, const struct xch_event *e)
{
	struct xch_event leave;
	size_t i;

	if (s->n_held && e->time != s->held[0].time) {
		return release(s, NULL);
	}
	for (i = 0; i < s->n_held && e->kind != XCH_IO_END; i++) {
		if (s->held[i].place == e->place && s->held[i].kind == XCH_LEAVE) {
			leave = s->held[i];
			memmove(&s->held[i], &s->held[i + 1], (--s->n_held - i) * sizeof(leave));
			return pass_now(s, &leave);
		}
	}
	return 0;
}

/* Readers take sends, and begins and ends of operations, to be in the function that is open. Sends and begins have the stamp
 * at which their function is entered, and may come before that: they are held until it is entered, at the latest to the end
 * of this stamp. Ends of operations on files have the stamp at which their function ends, and may come after that: while one
 * is open, the end of a function is held. */
static int pass_on(struct stream *s, struct xch_event *e)
{
	const struct xch_place *p = e->place;
	uint32_t top;
	size_t i;

	if (release_before(s, e) < 0) {
		return -1;
	}
	top = p->depth ? s->stack[p->index].function[p->depth - 1] : 0;
	if ((e->kind == XCH_SEND || e->kind == XCH_COLL_BEGIN) && !(p->depth && is_of(s, e, top))) {
		return hold(s, e);
	}
	for (i = 0; i < s->n_held; i++) {
		if (s->held[i].place == p &&
			(e->kind == XCH_COLL_END || (e->kind == XCH_LEAVE && is_of(s, &s->held[i], top)))) {
			return release(s, p) < 0 ? -1 : pass_now(s, e);
		}
	}
	if (e->kind == XCH_LEAVE && p->count[XCH_IO_BEGIN] > p->count[XCH_IO_END]) {
		return hold(s, e);
	}
	if (pass_now(s, e) < 0) {
		return -1;
	}
	for (i = 0; i < s->n_held && e->kind == XCH_ENTER; i++) {
		if (s->held[i].place == p && is_of(s, &s->held[i], e->u.function)) {
			return release(s, p);
		}
	}
	return 0;
}

static int event_is_before(const void *of, const struct waiting *a, const struct waiting *b)
{
	(void)of;
	return a->e.time != b->e.time ? a->e.time < b->e.time : a->seq < b->seq;
}

TKM_HEAP(event_heap, struct waiting, event_is_before);

static int deliver_first(struct stream *s)
{
	struct waiting top = s->heap[0];
	int rc;

	s->heap[0] = s->heap[--s->n];
	event_heap_sift(NULL, s->heap, s->n, 0);
	rc = pass_on(s, &top.e);
	free(top.copy);
	return rc;
}

/* Delivers the waiting events up to `time`. */
static int deliver_until(struct stream *s, uint64_t time)
{
	int rc = 0;

	while (rc == 0 && s->n && s->heap[0].e.time <= time) {
		rc = deliver_first(s);
	}
	return rc;
}

/* ---- waiting ---- */

static size_t size_of(enum stf_type type)
{
	static const uint8_t size[] = { 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1, 8, 4 };

	return size[type];
}

/* Copies a record into one piece of memory, so that it outlives the reader's buffer. */
static struct stf_record *copy_record(const struct stf_record *r)
{
	unsigned n = r->layout->n_fields, i;
	size_t size = sizeof(*r) + n * sizeof(*r->values), k;
	struct stf_record *c;
	struct stf_value *v;
	char *at;

	for (i = 0; i < n; i++) {
		size += r->layout->fields[i].is_array
			? (r->values[i].count * size_of(r->layout->fields[i].type) + 15) & ~7ul
			: 0;
	}
	c = malloc(size);
	if (!c) {
		return NULL;
	}
	*c = *r;
	v = (struct stf_value *)(c + 1);
	at = (char *)(v + n);
	memcpy(v, r->values, n * sizeof(*v));
	for (i = 0; i < n; i++) {
		if (r->layout->fields[i].is_array) {
			k = r->values[i].count * size_of(r->layout->fields[i].type);
			if (k) {
				memcpy(at, r->values[i].array, k);
			}
			at[k] = 0;
			v[i].array = at;
			at += (k + 15) & ~7ul;
		}
	}
	c->values = v;
	return c;
}

static int copy_of(struct waiting *n)
{
	uint32_t k = n->e.kind == XCH_SAMPLE ? n->e.u.sample.n : 0;
	uint64_t *p;

	if (n->e.record) {
		n->copy = copy_record(n->e.record);
		n->e.record = n->copy;
		return n->copy ? 0 : -1;
	}
	if (k) {
		n->copy = p = malloc(k * (sizeof(uint64_t) + sizeof(uint32_t)));
		if (!p) {
			return -1;
		}
		memcpy(p, n->e.u.sample.values, k * sizeof(uint64_t));
		memcpy(p + k, n->e.u.sample.ids, k * sizeof(uint32_t));
		n->e.u.sample.values = p;
		n->e.u.sample.ids = (uint32_t *)(p + k);
	}
	return 0;
}

static int hold_back(struct stream *s, const struct xch_event *e)
{
	struct waiting n = { .e = *e, .seq = s->seq++ };

	if (TKM_GROW(s->heap, s->cap, s->n + 1) < 0) {
		return xch_fail_memory(s->err, s->t->path);
	}
	if (copy_of(&n) < 0) {
		return xch_fail_memory(s->err, s->t->path);
	}
	event_heap_add(NULL, s->heap, s->n++, n);
	return s->n > MAX_WAITING && s->back ? deliver_first(s) : 0;
}

/* Delivers an event at the time of its record. */
static int deliver_event(struct stream *s, struct xch_event *e)
{
	if (s->back) {
		return hold_back(s, e) < 0 ? -1 : deliver_until(s, e->time < s->back ? 0 : e->time - s->back);
	}
	if (s->n && s->heap[0].e.time <= e->time && deliver_until(s, e->time) < 0) {
		return -1;
	}
	return pass_on(s, e);
}

/* Delivers an event at any other time. */
static int deliver_later(struct stream *s, const struct xch_event *e)
{
	return hold_back(s, e);
}

/* ---- records ---- */

/* Sets the event's place. Returns 0: it is not declared. */
static int find_place(struct stream *s, struct xch_event *e, uint32_t willy)
{
	e->place = xch_place(s->t, willy);
	s->w->homeless += !e->place;
	return e->place != NULL;
}

int xch_is_at_least(const struct xch_event *e)
{
	switch (e->kind) {
	case XCH_SEND:
	case XCH_RECEIVE:
		return e->u.message.size == STF_BYTES_AT_LEAST;
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		return e->u.coll.sent == STF_BYTES_AT_LEAST || e->u.coll.received == STF_BYTES_AT_LEAST;
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		return e->u.io.bytes == STF_BYTES_AT_LEAST;
	default:
		return 0;
	}
}

static uint32_t see_bytes(struct stream *s, uint32_t bytes)
{
	s->w->at_least += bytes == STF_BYTES_AT_LEAST;
	return bytes;
}

static int message(struct stream *s, const struct stf_record *rec)
{
	struct stf_one_to_one_communication_4 m;
	struct xch_event from = { .kind = XCH_SEND, .time = rec->time }, to = { .kind = XCH_RECEIVE };
	struct xch_place *a, *b;
	int known, rc = 0;

	stf_get_one_to_one_communication_4(rec, &m);
	from.time = m.time;
	known = m.receive_time != STF_RECEIVE_UNKNOWN && m.receive_time != STF_SEND_UNKNOWN;
	to.time = m.time + (known ? (uint64_t)m.receive_time : 0);
	a = xch_place(s->t, m.sender);
	b = xch_place(s->t, m.receiver);
	if (!a || !b) {
		s->w->homeless++;
		return 0;
	}
	from.u.message = (struct xch_message){ .id = ++s->messages,
		.other = b,
		.other_time = to.time,
		.other_known = known,
		.communicator = m.communicator,
		.tag = m.tag,
		.size = see_bytes(s, m.size),
		.function = xch_named_by_id(s->t, XCH_FUNCTIONS, m.sender_function) };
	to.u.message = from.u.message;
	to.u.message.other = a;
	to.u.message.other_time = from.time;
	to.u.message.function = xch_named_by_id(s->t, XCH_FUNCTIONS, m.receiver_function);
	from.place = a;
	to.place = b;
	from.scl = m.sender_scl;
	to.scl = m.receiver_scl;
	if (m.receive_time != STF_SEND_UNKNOWN) {
		rc = deliver_event(s, &from);
	}
	if (rc == 0 && known) {
		rc = deliver_later(s, &to);
	} else if (rc == 0 && m.receive_time == STF_SEND_UNKNOWN) {
		rc = deliver_event(s, &to);
	}
	return rc;
}

struct members {
	const uint64_t *start, *delta;
	const uint32_t *sent, *received, *scl; /* NULL: the record has no such array */
	uint32_t n, root, communicator, root_bytes;
	uint8_t operation, has_root;
};

static struct members members_of(const struct stf_record *rec)
{
	struct stf_all_communication_1 a;
	struct stf_all_to_all_communication_1 x;
	struct stf_all_to_one_communication_1 g;
	struct stf_one_to_all_communication_1 b;

	switch (rec->layout->class_id) {
	case STF_ID_all_communication:
		stf_get_all_communication_1(rec, &a);
		return (struct members){ a.start_time, a.delta, NULL, NULL, a.scl, a.size_1_3, 0, a.communicator, 0,
			a.type, 0 };
	case STF_ID_all_to_all_communication:
		stf_get_all_to_all_communication_1(rec, &x);
		return (struct members){ x.start_time, x.delta, x.send_size, x.receive_size, x.scl, x.size_1_5, 0,
			x.communicator, 0, x.type, 0 };
	case STF_ID_all_to_one_communication:
		stf_get_all_to_one_communication_1(rec, &g);
		return (struct members){ g.start_time, g.delta, g.send_size, NULL, g.scl, g.size_1_4, g.receiver,
			g.communicator, g.recvd, g.type, 1 };
	default:
		stf_get_one_to_all_communication_1(rec, &b);
		return (struct members){ b.start_time, b.delta, NULL, b.receive_size, b.scl, b.size_1_4, b.sender,
			b.communicator, b.sent, b.type, 1 };
	}
}

static int member(struct stream *s, const struct stf_record *rec, const struct members *m, uint32_t i, uint32_t willy)
{
	struct xch_event e = { .kind = XCH_COLL_BEGIN, .time = rec->time + m->start[i] };
	int is_root = m->has_root && willy == m->root;

	if (m->start[i] == UINT64_MAX) {
		s->w->lost[XCH_COLL_BEGIN]++;
		s->w->lost[XCH_COLL_END]++;
		return 0;
	}
	if (!find_place(s, &e, willy)) {
		return 0;
	}
	e.scl = m->scl ? m->scl[i] : 0;
	e.what = xch_named_by_id(s->t, XCH_OPERATIONS, m->operation);
	e.u.coll = (struct xch_coll){ .id = s->colls,
		.operation = m->operation,
		.communicator = m->communicator,
		.rank = i,
		.members = m->n,
		.root = m->has_root ? xch_place(s->t, m->root) : NULL,
		.sent = see_bytes(s,
			m->sent                          ? m->sent[i]
				: is_root && m->received ? m->root_bytes
							 : 0),
		.received = see_bytes(s,
			m->received                  ? m->received[i]
				: is_root && m->sent ? m->root_bytes
						     : 0),
		.other_time = e.time + m->delta[i] };
	if (deliver_later(s, &e) < 0) {
		return -1;
	}
	e.kind = XCH_COLL_END;
	e.u.coll.other_time = e.time;
	e.time += m->delta[i];
	return deliver_later(s, &e);
}

static int collective(struct stream *s, const struct stf_record *rec)
{
	struct members m = members_of(rec);
	const struct xch_communicator *c = xch_communicator(s->t, m.communicator);
	uint32_t i;
	int rc = 0;

	s->colls++;
	for (i = 0; i < m.n && rc == 0; i++) {
		if (c && i < c->n) {
			rc = member(s, rec, &m, i, c->members[i]);
		} else {
			s->w->homeless++;
		}
	}
	return rc == 0 && !s->back ? deliver_until(s, rec->time) : rc;
}

/* Delivers a record about one willy unchanged. */
static int deliver_record(struct stream *s, const struct stf_record *rec, enum xch_kind kind)
{
	const struct stf_value *v = stf_value(rec, "willy");
	struct xch_event e = { .kind = kind, .time = rec->time, .record = rec };

	return v && find_place(s, &e, (uint32_t)v->u) ? deliver_event(s, &e) : 0;
}

static int io(struct stream *s, const struct stf_record *rec, enum xch_kind kind)
{
	struct xch_event e = { .kind = kind, .time = rec->time };
	struct stf_file_io_begin_1 b;
	struct stf_file_io_end_1 n;
	uint32_t willy, file;

	if (kind == XCH_IO_BEGIN) {
		stf_get_file_io_begin_1(rec, &b);
		willy = b.willy;
		file = b.file;
		e.scl = b.scl;
		e.u.io = (struct xch_io){ b.type, see_bytes(s, b.bytes) };
	} else {
		stf_get_file_io_end_1(rec, &n);
		willy = n.willy;
		file = n.file;
		e.scl = n.scl;
		e.u.io = (struct xch_io){ n.type, see_bytes(s, n.bytes) };
	}
	e.what = xch_named_by_id(s->t, XCH_FILES, file);
	return find_place(s, &e, willy) ? deliver_event(s, &e) : 0;
}

static int scope(struct stream *s, const struct stf_record *rec, enum xch_kind kind)
{
	struct xch_event e = { .kind = kind, .time = rec->time };
	struct stf_enter_scope_1 b;
	struct stf_leave_scope_1 n;
	uint32_t willy, id;

	if (kind == XCH_SCOPE_BEGIN) {
		stf_get_enter_scope_1(rec, &b);
		willy = b.willy;
		e.scl = b.scl;
		id = b.scope;
		e.u.scope_number = b.seqnr;
	} else {
		stf_get_leave_scope_1(rec, &n);
		willy = n.willy;
		e.scl = n.scl;
		id = n.scope;
		e.u.scope_number = n.seqnr;
	}
	e.what = xch_named_by_id(s->t, XCH_SCOPES, id);
	return find_place(s, &e, willy) ? deliver_event(s, &e) : 0;
}

static int function(struct stream *s, const struct stf_record *rec)
{
	struct xch_event e = { .kind = XCH_ENTER, .time = rec->time };
	struct stf_enter_function_1 b;
	struct stf_leave_function_1 l;
	uint32_t willy;

	if (stf_get_enter_function_1(rec, &b) == 0) {
		willy = b.willy;
		e.scl = b.scl;
		e.u.function = b.function;
	} else {
		stf_get_leave_function_1(rec, &l);
		e.kind = XCH_LEAVE;
		willy = l.willy;
		e.scl = l.scl;
	}
	return find_place(s, &e, willy) ? deliver_event(s, &e) : 0;
}

static int sample(struct stream *s, const struct stf_record *rec)
{
	struct xch_event e = { .kind = XCH_SAMPLE, .time = rec->time };
	struct stf_counter_value c;

	stf_get_counter_value(rec, &c);
	e.u.sample.n = c.size_1_2;
	e.u.sample.values = c.values;
	e.u.sample.ids = c.counters;
	return find_place(s, &e, c.willy) ? deliver_event(s, &e) : 0;
}

static int batch(struct stream *s, const struct stf_counter_batch *b)
{
	struct xch_event e = { .kind = XCH_SAMPLE };
	uint64_t values[UINT8_MAX];
	uint32_t counters[UINT8_MAX];
	size_t i;
	int rc = 0;

	e.u.sample.n = b->k;
	e.u.sample.values = values;
	e.u.sample.ids = counters;
	for (i = 0; i < b->n && rc == 0; i++) {
		e.time = b->times[i];
		if (find_place(s, &e, stf_batch_willy(b, i))) {
			memcpy(values, b->values + i * b->stride, b->k * sizeof(*values));
			memcpy(counters, b->counters + i * b->stride, b->k * sizeof(*counters));
			rc = deliver_event(s, &e);
		}
	}
	return rc;
}

static int record(struct stream *s, const struct stf_record *rec)
{
	switch (rec->layout->class_id) {
	case STF_ID_enter_function:
	case STF_ID_leave_function:
		return function(s, rec);
	case STF_ID_counter_value:
		return sample(s, rec);
	case STF_ID_one_to_one_communication:
		return message(s, rec);
	case STF_ID_all_communication:
	case STF_ID_all_to_all_communication:
	case STF_ID_all_to_one_communication:
	case STF_ID_one_to_all_communication:
		return collective(s, rec);
	case STF_ID_enter_scope:
		return scope(s, rec, XCH_SCOPE_BEGIN);
	case STF_ID_leave_scope:
		return scope(s, rec, XCH_SCOPE_END);
	case STF_ID_file_io_begin:
		return io(s, rec, XCH_IO_BEGIN);
	case STF_ID_file_io_end:
		return io(s, rec, XCH_IO_END);
	case STF_ID_comment:
		return deliver_record(s, rec, XCH_COMMENT);
	case STF_ID_report:
		return deliver_record(s, rec, XCH_REPORT);
	case STF_ID_opaque_data:
		return deliver_record(s, rec, XCH_OPAQUE);
	case STF_ID_message_raw_event:
	case STF_ID_collop_raw_event:
		return deliver_record(s, rec, XCH_RAW);
	default: /* end_of_filter belongs to no function */
		return 0;
	}
}

/* ---- how much earlier than its record a part may be ---- */

/* This concerns messages received before they were sent, and records that the trace itself reports as late. */
static int look_back(struct stream *s)
{
	const struct stf_cursor_options o = { .categories = 1u << STF_KIND_MSG };
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open_with(s->t->r, &o, &e);
	const struct stf_value *v;
	const char *cls, *text;
	unsigned long long count, most;
	int64_t d;
	size_t i;

	while (c && stf_cursor_next(c, &rec, &e) > 0) { /* the main reading will report any fault */
		v = rec->layout->class_id == STF_ID_one_to_one_communication ? stf_value(rec, "receive_time") : NULL;
		d = v ? (int64_t)v->u : 0;
		if (d < 0 && d > STF_SEND_UNKNOWN && (uint64_t)-d > s->back) {
			s->back = (uint64_t)-d;
		}
	}
	stf_cursor_close(c);
	for (i = 0; stf_reader_info(s->t->r, i, &cls, &text) == 0; i++) {
		if (cls && !strcmp(cls, "late") && sscanf(text, "%*s %llu %llu", &count, &most) == 2 &&
			most > s->back) {
			s->back = most;
		}
	}
	return 0;
}

static int read_all(struct stream *s)
{
	const struct stf_record *rec;
	struct stf_counter_batch b;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(s->t->r, NULL, &e);
	int more = c ? 1 : -1, rc = 0;

	while (rc == 0 && more > 0 && (more = stf_cursor_next_batch(c, &rec, &b, &e)) > 0) {
		rc = more == 2 ? batch(s, &b) : record(s, rec);
	}
	stf_cursor_close(c);
	/* damaged pieces were left out; any other fault ends the conversion */
	if (rc == 0 && more < 0 && e.code != STF_ERR_CHECKSUM) {
		return xch_fail_stf(s->err, s->t->path, &e);
	}
	return rc == 0 ? deliver_until(s, UINT64_MAX) : rc;
}

int xch_stream(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct stream s = { .w = w, .t = t, .err = err };
	size_t i;
	int rc;

	s.stack = calloc(t->n_places + 1, sizeof(*s.stack));
	if (!s.stack) {
		return xch_fail_memory(err, t->path);
	}
	rc = look_back(&s) < 0 ? -1 : read_all(&s);
	rc = rc == 0 ? release(&s, NULL) : rc;
	while (s.n) {
		free(s.heap[--s.n].copy);
	}
	for (i = 0; i < t->n_places; i++) {
		free(s.stack[i].function);
	}
	free(s.heap);
	free(s.held);
	free(s.stack);
	return rc;
}
