/* SPDX-License-Identifier: BSD-3-Clause */
/* --print-statistics of a trace without STATISTICS: the same rows, computed from the events. */
#include "config.h"
#include "tools/print/computed.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/table.h"

/* As the collector has them in the rows (Intel Trace Collector guide, section 2.8.2). */
enum { NO_PARTNER = -1, ALL_MEMBERS = -2 };

struct frame {
	uint64_t enter, inner; /* inner: time in what it called */
	uint32_t function;
};

struct thread_frames {
	struct frame *frame;
	size_t n, room;
};

/* What a row is about, without its times. */
struct row_key {
	uint32_t willy, function, receiver, bytes;
	int32_t processes;
};

/* A communication of the call that is entered, or left, at a time. */
struct communication {
	uint32_t receiver, bytes;
	int32_t processes;
};

struct communications {
	struct communication *one;
	size_t n;
};

/* Which call communications belong to. */
struct call_key {
	uint64_t time;
	uint32_t willy, at_end;
};

struct computed {
	const struct stt_trace *t;
	struct tkm_table rows, threads, pending; /* by row_key, willy, call_key */
};

static int add_communication(
	struct computed *c, uint32_t willy, uint64_t time, int at_end, const struct communication *one)
{
	struct call_key key;
	struct communications *all;
	struct communication *new;

	memset(&key, 0, sizeof(key));
	key.time = time;
	key.willy = willy;
	key.at_end = (uint32_t)at_end;
	all = tkm_table_put(&c->pending, &key, sizeof(key), sizeof(*all));
	new = all ? TKM_APPEND(all->one, all->n) : NULL;
	if (!new) {
		return -1;
	}
	*new = *one;
	return 0;
}

static uint32_t bytes_of_row(uint64_t bytes)
{
	return bytes < STF_ROW_BYTES_AT_LEAST ? (uint32_t)bytes : STF_ROW_BYTES_AT_LEAST;
}

static int take_message(struct computed *c, const struct stf_record *rec)
{
	struct stf_one_to_one_communication_4 m;
	struct communication one;
	uint32_t from, to;
	int rc = 0;

	stf_get_one_to_one_communication_4(rec, &m);
	from = stf_willy_process(m.sender);
	to = stf_willy_process(m.receiver);
	one = (struct communication){ STF_WILLY(to, 0), bytes_of_row(m.size), from == to ? 1 : 2 };
	if (m.receive_time != STF_SEND_UNKNOWN) {
		rc = add_communication(c, m.sender, m.time, 0, &one);
	}
	if (rc == 0 && m.receive_time != STF_RECEIVE_UNKNOWN) {
		one.receiver = STF_WILLY(from, 0);
		one.processes = -one.processes;
		rc = add_communication(c, m.receiver,
			m.receive_time == STF_SEND_UNKNOWN ? m.time : m.time + (uint64_t)m.receive_time, 1, &one);
	}
	return rc;
}

/* The parts of the members of a collective operation; sent, received: NULL where the record has none. */
struct member_bytes {
	const uint64_t *start, *delta;
	const uint32_t *sent, *received;
	uint32_t n, root, root_sent, communicator;
	uint8_t operation;
};

static struct member_bytes bytes_of_members(const struct stf_record *rec)
{
	struct stf_all_communication a;
	struct stf_all_to_all_communication x;
	struct stf_all_to_one_communication g;
	struct stf_one_to_all_communication b;

	switch (rec->layout->class_id) {
	case STF_ID_all_communication:
		stf_get_all_communication(rec, &a);
		return (struct member_bytes){ a.start_time, a.delta, NULL, NULL, a.size_1_2, UINT32_MAX, 0,
			a.communicator, a.type };
	case STF_ID_all_to_all_communication:
		stf_get_all_to_all_communication(rec, &x);
		return (struct member_bytes){ x.start_time, x.delta, x.send_size, x.receive_size, x.size_1_4,
			UINT32_MAX, 0, x.communicator, x.type };
	case STF_ID_all_to_one_communication:
		stf_get_all_to_one_communication(rec, &g);
		return (struct member_bytes){ g.start_time, g.delta, g.send_size, NULL, g.size_1_3, g.receiver, 0,
			g.communicator, g.type };
	default:
		stf_get_one_to_all_communication(rec, &b);
		return (struct member_bytes){ b.start_time, b.delta, NULL, b.receive_size, b.size_1_3, b.sender, b.sent,
			b.communicator, b.type };
	}
}

/* The bytes that count for a member: what it contributes to a gather or reduction, what it gets of a scatter, else both. */
static uint64_t counted_bytes_of(const struct member_bytes *m, uint32_t i, uint32_t willy, int scatters)
{
	uint64_t n = (uint64_t)(m->sent ? m->sent[i] : 0) + (m->received ? m->received[i] : 0);

	return !scatters && stf_willy_process(willy) == stf_willy_process(m->root) ? n + m->root_sent : n;
}

/* The members of a communicator are triplets of willies, in the order of the arrays. */
static int take_operation(struct computed *c, const struct stf_record *rec)
{
	const struct member_bytes m = bytes_of_members(rec);
	const char *name = stf_reader_name(c->t->r, STF_ID_collective_operation_definition, m.operation);
	const struct stf_record *def = stf_reader_find(c->t->r, STF_ID_communicator_definition, m.communicator);
	struct communication one = { (uint32_t)ALL_MEMBERS, 0, (int32_t)m.n };
	struct stf_communicator_definition d;
	int scatters = name && strcasestr(name, "scatter") != NULL, rc = 0;
	uint32_t i = 0, k;
	int64_t w;

	if (!def || stf_get_communicator_definition(def, &d) < 0) {
		return 0;
	}
	for (k = 0; k < d.size_2_3; k++) {
		int64_t step = d.stride[k] ? d.stride[k] : 1;

		for (w = d.first_id[k]; i < m.n && rc == 0 && (step > 0 ? w <= d.last_id[k] : w >= d.last_id[k]);
			w += step) {
			one.bytes = bytes_of_row(counted_bytes_of(&m, i, (uint32_t)w, scatters));
			if (m.start[i] != UINT64_MAX) {
				rc = add_communication(c, (uint32_t)w, rec->time + m.start[i] + m.delta[i], 1, &one);
			}
			i++;
		}
	}
	return rc;
}

/* ---- calls ---- */

static struct thread_frames *frames_of(struct computed *c, uint32_t willy)
{
	return tkm_table_put(&c->threads, &willy, sizeof(willy), sizeof(struct thread_frames));
}

static int enter_frame(struct computed *c, uint32_t willy, uint64_t time, uint32_t function)
{
	struct thread_frames *f = frames_of(c, willy);

	if (!f || TKM_GROW(f->frame, f->room, f->n + 1) < 0) {
		return -1;
	}
	f->frame[f->n++] = (struct frame){ time, 0, function };
	return 0;
}

static void widen_times(uint64_t *least, uint64_t *most, uint64_t *sum, uint64_t v, int first)
{
	*least = first || v < *least ? v : *least;
	*most = v > *most ? v : *most;
	*sum += v;
}

static int add_to_row(struct computed *c, const struct row_key *key, uint64_t inclusive, uint64_t exclusive)
{
	struct stf_lw_statistics *s = tkm_table_put(&c->rows, key, sizeof(*key), sizeof(*s));

	if (!s) {
		return -1;
	}
	s->willy = key->willy;
	s->function = key->function;
	s->receiver = key->receiver;
	s->bytes_sent = key->bytes;
	s->comm_size = key->processes;
	widen_times(&s->minTicksIncl, &s->maxTicksIncl, &s->sumTicksIncl, inclusive, !s->count);
	widen_times(&s->minTicksExcl, &s->maxTicksExcl, &s->sumTicksExcl, exclusive, !s->count);
	s->count += s->count < STF_COUNT_AT_LEAST;
	return 0;
}

/* The k-th of all communications of a call; NULL after the last. */
static const struct communication *nth_of_call(struct communications *const all[2], size_t k)
{
	size_t n = all[0] ? all[0]->n : 0;

	return k < n ? &all[0]->one[k] : all[1] && k - n < all[1]->n ? &all[1]->one[k - n] : NULL;
}

static struct communications *pending_of(const struct computed *c, uint32_t willy, uint64_t time, uint32_t at_end)
{
	struct call_key key;

	memset(&key, 0, sizeof(key));
	key.time = time;
	key.willy = willy;
	key.at_end = at_end;
	return tkm_table_find(&c->pending, &key, sizeof(key));
}

/* Each communication of a call gets an equal part of its time; the first ones get the remainder. */
static int count_frame(struct computed *c, uint32_t willy, const struct frame *f, uint64_t time)
{
	struct communications *all[2] = { pending_of(c, willy, f->enter, 0), pending_of(c, willy, time, 1) };
	uint64_t n = (all[0] ? all[0]->n : 0) + (all[1] ? all[1]->n : 0), i, in = time - f->enter, ex = in - f->inner;
	struct row_key key = { willy, f->function, (uint32_t)NO_PARTNER, (uint32_t)NO_PARTNER, 1 };
	const struct communication *one;
	int rc = n ? 0 : add_to_row(c, &key, in, ex);

	for (i = 0; rc == 0 && (one = nth_of_call(all, i)); i++) {
		key.receiver = one->receiver;
		key.bytes = one->bytes;
		key.processes = one->processes;
		rc = add_to_row(c, &key, in / n + (i < in % n), ex / n + (i < ex % n));
	}
	for (i = 0; i < 2; i++) {
		if (all[i]) {
			free(all[i]->one);
			tkm_table_remove(&c->pending, all[i]);
		}
	}
	return rc;
}

static int leave_frame(struct computed *c, uint32_t willy, uint64_t time)
{
	struct thread_frames *f = frames_of(c, willy);
	int rc;

	if (!f || !f->n) {
		return f ? 0 : -1;
	}
	f->n--;
	rc = count_frame(c, willy, &f->frame[f->n], time);
	if (f->n) {
		f->frame[f->n - 1].inner += time - f->frame[f->n].enter;
	}
	return rc;
}

static int count_event(struct computed *c, const struct stf_record *rec)
{
	const struct stf_value *v = rec->values;

	switch (rec->layout->class_id) {
	case STF_ID_enter_function:
		return enter_frame(c, (uint32_t)v[1].u, rec->time, (uint32_t)v[2].u);
	case STF_ID_leave_function:
		return leave_frame(c, (uint32_t)v[1].u, rec->time);
	case STF_ID_one_to_one_communication:
		return take_message(c, rec);
	case STF_ID_all_communication:
	case STF_ID_all_to_all_communication:
	case STF_ID_all_to_one_communication:
	case STF_ID_one_to_all_communication:
		return take_operation(c, rec);
	default:
		return 0;
	}
}

/* ---- the rows ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct stf_lw_statistics *x = a, *y = b;
	const uint32_t p[] = { stf_willy_process(x->willy), stf_willy_thread(x->willy), x->function, x->receiver,
		x->bytes_sent, (uint32_t)x->comm_size };
	const uint32_t q[] = { stf_willy_process(y->willy), stf_willy_thread(y->willy), y->function, y->receiver,
		y->bytes_sent, (uint32_t)y->comm_size };
	size_t i;

	for (i = 0; i < sizeof(p) / sizeof(p[0]) - 1 && p[i] == q[i]; i++) {
	}
	return (p[i] > q[i]) - (p[i] < q[i]);
}

static struct stf_lw_statistics *sorted_rows(const struct computed *c, size_t *n)
{
	struct stf_lw_statistics *all = calloc(tkm_table_count(&c->rows) + 1, sizeof(*all));
	const struct stf_lw_statistics *s = NULL;

	*n = 0;
	while (all && (s = tkm_table_next(&c->rows, s))) {
		all[(*n)++] = *s;
	}
	if (all) {
		qsort(all, *n, sizeof(*all), compare_rows);
	}
	return all;
}

static void free_computed(struct computed *c)
{
	struct thread_frames *f = NULL;
	struct communications *p = NULL;

	while ((f = tkm_table_next(&c->threads, f))) {
		free(f->frame);
	}
	while ((p = tkm_table_next(&c->pending, p))) {
		free(p->one);
	}
	tkm_table_free(&c->threads);
	tkm_table_free(&c->pending);
	tkm_table_free(&c->rows);
}

int stt_compute_statistics(
	const struct stt_options *o, const struct stt_trace *t, struct stf_lw_statistics **rows, size_t *n)
{
	struct stf_cursor_options want = stf_cursor_options();
	struct computed c = { .t = t };
	const struct stf_record *rec;
	struct stf_cursor *cursor;
	struct stf_err e;
	int more, rc = 0;

	want.categories = 1u << STF_KIND_FUNC | 1u << STF_KIND_MSG | 1u << STF_KIND_COLL;
	want.in_order = 1;
	cursor = stf_cursor_open_with(t->r, &want, &e);
	more = cursor ? 1 : -1;
	while (rc == 0 && more > 0 && (more = stf_cursor_next(cursor, &rec, &e)) > 0) {
		rc = count_event(&c, rec);
		stt_progress(o, t, rec->time, 0);
	}
	stt_progress(o, t, 0, 1);
	stf_cursor_close(cursor);
	*rows = rc == 0 ? sorted_rows(&c, n) : NULL;
	free_computed(&c);
	if (!*rows) {
		return stt_fault(o, "out of memory");
	}
	return more < 0 ? stt_cursor_fault(o, &e) : STT_OK;
}
