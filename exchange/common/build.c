/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/common/build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"
#include "exchange/common/private.h"

/* ---- the trace under way ---- */

/* A half that waits, in the queue of its key. */
struct half {
	struct xch_build_half h;
	struct half *next;
};
struct queue {
	struct half *first, *last;
};

struct operation {
	struct xch_build_member m; /* of the first member seen */
	uint64_t *start, *end, *sent, *received;
	unsigned char *seen; /* 1: began, 2: ended */
	uint32_t n, ended;
	struct operation *before, *after;
};

struct xch_build {
	struct xch_input *in;
	struct tkm_err *err;
	struct tkm_table functions, scopes, files, classes, counters;
	struct tkm_table messages,
		operations; /* those that wait: each message and operation may have a key of its own */
	uint32_t next_function, next_scope, next_file, next_counter;
	uint32_t *threads; /* of each process */
	uint32_t n_processes, all;
	struct operation *open;
	uint64_t time;
	uint32_t willy, n; /* the record of samples being collected */
	uint64_t values[UINT8_MAX];
	uint32_t counters_of[UINT8_MAX];
	uint64_t halves, parts; /* what was not complete at the end */
};

enum { MAX_PROCESSES = 1 << 16, MAX_THREADS = 1 << 15, MAX_MEMBERS = 1 << 20 };

struct xch_build *xch_build_new(struct xch_input *in, struct tkm_err *err)
{
	struct xch_build *b = calloc(1, sizeof(*b));

	if (!b) {
		xch_fail_memory(err, in->path);
		return NULL;
	}
	b->in = in;
	b->err = err;
	return b;
}

static int no_memory(struct xch_build *b)
{
	return xch_fail_memory(b->err, b->in->path);
}

static void operation_free(struct operation *o)
{
	free(o->start);
	free(o->seen);
	free(o);
}

void xch_build_free(struct xch_build *b)
{
	struct operation *o;
	struct queue *q;
	struct half *h;

	if (!b) {
		return;
	}
	for (q = NULL; (q = tkm_table_next(&b->messages, q));) {
		while ((h = q->first)) {
			q->first = h->next;
			free(h);
		}
	}
	while ((o = b->open)) {
		b->open = o->before;
		operation_free(o);
	}
	tkm_table_free(&b->functions);
	tkm_table_free(&b->scopes);
	tkm_table_free(&b->files);
	tkm_table_free(&b->classes);
	tkm_table_free(&b->counters);
	tkm_table_free(&b->messages);
	tkm_table_free(&b->operations);
	free(b->threads);
	free(b);
}

int xch_build_written(struct xch_build *b, int rc)
{
	b->in->records++;
	return rc < 0 ? xch_input_stf(b->in, b->err) : 0;
}

/* ---- names ---- */

int xch_build_thread(struct xch_build *b, uint32_t process, uint32_t thread)
{
	if (process >= MAX_PROCESSES || thread >= MAX_THREADS) {
		return tkm_fail(b->err, TKM_ERR_FORMAT,
			"%s: process %" PRIu32 ", thread %" PRIu32
			": STF has room for 65536 processes of 32768 threads",
			b->in->path, process, thread);
	}
	if (process >= b->n_processes && TKM_EXTEND(b->threads, b->n_processes, process + 1) < 0) {
		return no_memory(b);
	}
	b->threads[process] = b->threads[process] > thread ? b->threads[process] : thread + 1;
	return 0;
}

uint32_t xch_build_class(struct xch_build *b, const char *cls)
{
	uint64_t *id;

	if (!*cls) {
		return 0;
	}
	id = tkm_table_put(&b->classes, cls, strlen(cls), sizeof(uint64_t));
	if (id && !*id) {
		*id = stf_writer_class(b->in->w, cls, 0);
	}
	if (!id || !*id) {
		(void)(id ? xch_input_stf(b->in, b->err) : no_memory(b));
		return 0;
	}
	return (uint32_t)*id;
}

/* The value of "class, zero byte, name". */
static uint64_t *named(struct xch_build *b, struct tkm_table *t, const char *cls, const char *name)
{
	size_t n = strlen(cls) + 1, k = strlen(name);
	char small[512], *key = n + k <= sizeof(small) ? small : malloc(n + k);
	uint64_t *v = NULL;

	if (key) {
		memcpy(key, cls, n);
		memcpy(key + n, name, k);
		v = tkm_table_put(t, key, n + k, sizeof(uint64_t));
	}
	if (key != small) {
		free(key);
	}
	if (!v) {
		no_memory(b);
	}
	return v;
}

static uint32_t string(struct xch_build *b, const char *text)
{
	uint32_t id = stf_writer_string(b->in->w, text);

	if (!id) {
		xch_input_stf(b->in, b->err);
	}
	return id;
}

uint32_t xch_build_function(struct xch_build *b, const char *cls, const char *name)
{
	uint64_t *v = named(b, &b->functions, cls, name);
	struct stf_function_definition f = { .id = b->next_function + 1 };

	if (!v || *v) {
		return v ? (uint32_t)*v : 0;
	}
	f.name = string(b, name);
	f.classid = xch_build_class(b, cls);
	if (!f.name || (*cls && !f.classid)) {
		return 0;
	}
	if (stf_write_function_definition(b->in->w, &f) < 0) {
		xch_input_stf(b->in, b->err);
		return 0;
	}
	*v = ++b->next_function;
	return f.id;
}

uint32_t xch_build_scope(struct xch_build *b, const char *cls, const char *name)
{
	uint64_t *v = named(b, &b->scopes, cls, name);
	struct stf_scope_definition s = { .id = b->next_scope + 1 };

	if (!v || *v) {
		return v ? (uint32_t)*v : 0;
	}
	s.name = string(b, name);
	s.classid = xch_build_class(b, cls);
	if (!s.name || (*cls && !s.classid)) {
		return 0;
	}
	if (stf_write_scope_definition(b->in->w, &s) < 0) {
		xch_input_stf(b->in, b->err);
		return 0;
	}
	*v = ++b->next_scope;
	return s.id;
}

uint32_t xch_build_file(struct xch_build *b, const char *name)
{
	uint64_t *v = named(b, &b->files, "", name);
	struct stf_file_io_file_definition f = { .id = b->next_file + 1 };

	if (!v || *v) {
		return v ? (uint32_t)*v : 0;
	}
	f.name = string(b, name);
	if (!f.name) {
		return 0;
	}
	if (stf_write_file_io_file_definition(b->in->w, &f) < 0) {
		xch_input_stf(b->in, b->err);
		return 0;
	}
	*v = ++b->next_file;
	return f.id;
}

uint32_t xch_build_all_threads(struct xch_build *b)
{
	/* the number of a group that the trace's own groups hardly have */
	b->all = STF_GROUP(0x7ffffffe);
	return b->all;
}

uint32_t xch_build_counter(struct xch_build *b, const char *cls, const char *name, const char *unit, unsigned type)
{
	uint64_t *v = named(b, &b->counters, cls, name);
	struct stf_counter_definition c = { .id = 0x40000000u + b->next_counter,
		.type = (uint8_t)(type | STF_COUNTER_POINT),
		.willy = xch_build_all_threads(b),
		.unit = unit,
		.size_1_1 = (uint32_t)strlen(unit) };

	if (!v || *v) {
		return v ? (uint32_t)*v : 0;
	}
	c.name = string(b, name);
	c.classid = xch_build_class(b, cls);
	if (!c.name || (*cls && !c.classid)) {
		return 0;
	}
	if (stf_write_counter_definition(b->in->w, &c) < 0) {
		xch_input_stf(b->in, b->err);
		return 0;
	}
	*v = c.id;
	b->next_counter++;
	return c.id;
}

int xch_build_communicator(struct xch_build *b, uint32_t id, const char *name, const uint32_t *willies, uint32_t n)
{
	struct stf_communicator_definition c = { .id = id, .name = name, .size_1_1 = (uint32_t)strlen(name) };
	uint32_t *first = calloc(3 * (size_t)n + 1, sizeof(*first)), *last = first + n, k = 0, i;
	int32_t *stride = (int32_t *)(last + n);
	int rc;

	if (!first) {
		return no_memory(b);
	}
	/* runs of neighbours are one triplet */
	for (i = 0; i < n; i++) {
		if (k && willies[i] == last[k - 1] + 1 &&
			stf_willy_thread(willies[i]) == stf_willy_thread(first[k - 1])) {
			last[k - 1]++;
		} else {
			first[k] = last[k] = willies[i];
			stride[k++] = 1;
		}
	}
	c.first_id = first;
	c.last_id = last;
	c.stride = stride;
	c.size_2_3 = k;
	rc = stf_write_communicator_definition(b->in->w, &c) < 0 ? xch_input_stf(b->in, b->err) : 0;
	free(first);
	return rc;
}

/* ---- samples and comments ---- */

static int flush_samples(struct xch_build *b)
{
	struct stf_counter_value v = {
		.time = b->time, .willy = b->willy, .size_1_2 = b->n, .values = b->values, .counters = b->counters_of
	};

	if (!b->n) {
		return 0;
	}
	b->n = 0;
	return xch_build_written(b, stf_write_counter_value(b->in->w, &v));
}

int xch_build_value(struct xch_build *b, uint64_t time, uint32_t willy, uint32_t counter, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < b->n && b->counters_of[i] != counter; i++) {
		;
	}
	if ((i < b->n || time != b->time || willy != b->willy || b->n == UINT8_MAX) && flush_samples(b) < 0) {
		return -1;
	}
	b->time = time;
	b->willy = willy;
	b->values[b->n] = value;
	b->counters_of[b->n++] = counter;
	return 0;
}

int xch_build_comment(struct xch_build *b, uint64_t time, uint32_t willy, const char *text, size_t n)
{
	struct stf_comment c = { .time = time, .willy = willy, .text = text, .size_1_1 = (uint32_t)n };

	return xch_build_written(b, stf_write_comment(b->in->w, &c));
}

/* ---- messages ---- */

static int write_message(struct xch_build *b, const struct xch_build_half *send, const struct xch_build_half *receive)
{
	const struct xch_build_half *h = send ? send : receive;
	struct stf_one_to_one_communication m = { .time = h->time,
		.sender = h->from,
		.receiver = h->to,
		.communicator = h->communicator,
		.size = h->size,
		.tag = h->tag,
		.sender_function = send ? send->function : 0,
		.receiver_function = receive ? receive->function : 0 };

	m.receive_time = !receive ? STF_RECEIVE_UNKNOWN
		: !send           ? STF_SEND_UNKNOWN
				  : (int64_t)(receive->time - send->time);
	return xch_build_written(b, stf_write_one_to_one_communication(b->in->w, &m));
}

int xch_build_half(struct xch_build *b, const struct xch_build_half *h)
{
	struct {
		uint64_t id;
		uint32_t from, to, communicator, tag;
	} key = { h->id, h->from, h->to, h->communicator, h->tag };
	struct queue *q;
	struct half *n;
	int rc;

	if (h->id) {
		key.from = key.to = key.communicator = key.tag = 0;
	}
	q = tkm_table_put(&b->messages, &key, sizeof(key), sizeof(*q));
	if (!q) {
		return no_memory(b);
	}
	if (q->first && q->first->h.receive != h->receive) {
		n = q->first;
		q->first = n->next;
		if (!q->first) {
			tkm_table_remove(&b->messages, q);
		}
		rc = h->receive ? write_message(b, &n->h, h) : write_message(b, h, &n->h);
		free(n);
		return rc;
	}
	n = malloc(sizeof(*n));
	if (!n) {
		return no_memory(b);
	}
	*n = (struct half){ *h, NULL };
	*(q->first ? &q->last->next : &q->first) = n;
	q->last = n;
	return 0;
}

/* ---- collective operations ---- */

static struct operation *begin_operation(struct xch_build *b, const struct xch_build_member *m)
{
	struct operation *o = calloc(1, sizeof(*o));
	uint32_t n = m->members ? m->members : 1;

	if (o) {
		o->start = calloc(4 * (size_t)n, sizeof(*o->start));
		o->seen = calloc(n, 1);
	}
	if (!o || !o->start || !o->seen) {
		if (o) {
			operation_free(o);
		}
		no_memory(b);
		return NULL;
	}
	o->end = o->start + n;
	o->sent = o->end + n;
	o->received = o->sent + n;
	o->n = n;
	o->m = *m;
	o->before = b->open;
	if (b->open) {
		b->open->after = o;
	}
	b->open = o;
	return o;
}

static int write_arrays(struct xch_build *b, const struct operation *o, uint64_t time, const uint64_t *start,
	const uint64_t *delta, const uint32_t *sent, const uint32_t *received)
{
	const struct xch_build_member *m = &o->m;
	struct stf_all_to_all_communication x = { time, m->communicator, m->operation, o->n, start, delta, sent,
		received };
	struct stf_all_communication a = { time, m->communicator, m->operation, o->n, start, delta };
	struct stf_one_to_all_communication s = { .time = time,
		.sender = m->root,
		.communicator = m->communicator,
		.type = m->operation,
		.size_1_3 = o->n,
		.start_time = start,
		.delta = delta,
		.receive_size = received };
	struct stf_all_to_one_communication g = { .time = time,
		.receiver = m->root,
		.communicator = m->communicator,
		.type = m->operation,
		.size_1_3 = o->n,
		.start_time = start,
		.delta = delta,
		.send_size = sent };
	uint32_t i;

	switch (m->what) {
	case 4:
		return stf_write_all_to_all_communication(b->in->w, &x);
	case 2:
		for (i = 0; i < o->n; i++) {
			s.sent += sent[i]; /* only the root sends */
		}
		return stf_write_one_to_all_communication(b->in->w, &s);
	case 3:
		for (i = 0; i < o->n; i++) {
			g.recvd += received[i];
		}
		return stf_write_all_to_one_communication(b->in->w, &g);
	default:
		return stf_write_all_communication(b->in->w, &a);
	}
}

static int write_operation(struct xch_build *b, struct operation *o)
{
	uint64_t time = UINT64_MAX;
	uint32_t *bytes, i;
	int rc;

	bytes = calloc(2 * (size_t)o->n, sizeof(*bytes));
	if (!bytes) {
		return no_memory(b);
	}
	for (i = 0; i < o->n; i++) {
		time = (o->seen[i] & 1) && o->start[i] < time ? o->start[i] : time;
	}
	for (i = 0; i < o->n; i++) {
		o->end[i] = o->seen[i] == 3 ? o->end[i] - o->start[i] : 0;
		o->start[i] = o->seen[i] & 1 ? o->start[i] - time : UINT64_MAX;
		bytes[i] = (uint32_t)o->sent[i];
		bytes[o->n + i] = (uint32_t)o->received[i];
	}
	rc = xch_build_written(b, write_arrays(b, o, time, o->start, o->end, bytes, bytes + o->n));
	free(bytes);
	return rc;
}

static int end_operation(struct xch_build *b, struct operation *o)
{
	int rc = write_operation(b, o);

	if (o->after) {
		o->after->before = o->before;
	} else {
		b->open = o->before;
	}
	if (o->before) {
		o->before->after = o->after;
	}
	operation_free(o);
	return rc;
}

int xch_build_member(struct xch_build *b, const struct xch_build_member *m)
{
	struct {
		uint64_t id;
		uint32_t communicator, operation;
	} key = { m->id, m->communicator, 0 };
	uint64_t *v = tkm_table_put(&b->operations, &key, sizeof(key), sizeof(uint64_t));
	struct operation *o = v ? (struct operation *)(uintptr_t)*v : NULL;

	if (m->members > MAX_MEMBERS) {
		return tkm_fail(b->err, TKM_ERR_FORMAT, "%s: a collective operation of %" PRIu32 " members",
			b->in->path, m->members);
	}
	if (!v || (!o && !(o = begin_operation(b, m)))) {
		return no_memory(b);
	}
	*v = (uint64_t)(uintptr_t)o;
	if (m->rank >= o->n || (o->seen[m->rank] & (m->end ? 2 : 1))) {
		b->in->skipped++;
		return 0;
	}
	if (m->end) {
		o->end[m->rank] = m->time;
		o->seen[m->rank] |= 2;
		o->ended++;
	} else {
		o->start[m->rank] = m->time;
		o->sent[m->rank] = m->sent;
		o->received[m->rank] = m->received;
		o->seen[m->rank] |= 1;
	}
	if (o->ended == o->n && o->seen[m->rank] == 3) {
		tkm_table_remove(&b->operations, v);
		return end_operation(b, o);
	}
	return 0;
}

/* ---- the end ---- */

static int end_halves(struct xch_build *b)
{
	struct queue *q;
	struct half *h;
	int rc = 0;

	for (q = NULL; rc == 0 && (q = tkm_table_next(&b->messages, q));) {
		while (rc == 0 && (h = q->first)) {
			q->first = h->next;
			b->halves++;
			rc = h->h.receive ? write_message(b, NULL, &h->h) : write_message(b, &h->h, NULL);
			free(h);
		}
	}
	return rc;
}

static int end_operations(struct xch_build *b)
{
	struct operation *o;
	uint32_t i, began;
	int rc = 0;

	while (rc == 0 && (o = b->open)) {
		for (i = began = 0; i < o->n; i++) {
			began += o->seen[i] & 1;
		}
		b->parts++;
		if (began) {
			rc = end_operation(b, o);
		} else {
			b->open = o->before;
			if (b->open) {
				b->open->after = NULL;
			}
			operation_free(o);
		}
	}
	return rc;
}

int xch_build_end(struct xch_build *b)
{
	struct stf_group_definition g = { .id = b->all & 0x7fffffffu, .name = "all threads", .size_1_1 = 11 };
	uint32_t *members, i, k, n = 0;
	int rc = flush_samples(b) < 0 || end_halves(b) < 0 || end_operations(b) < 0 ? -1 : 0;

	for (i = 0; i < b->n_processes; i++) {
		b->threads[i] = b->threads[i] ? b->threads[i] : 1;
		n += b->threads[i];
	}
	if (rc == 0 && b->n_processes && stf_writer_processes(b->in->w, b->threads, b->n_processes) < 0) {
		rc = xch_input_stf(b->in, b->err);
	}
	if (rc == 0 && b->all) {
		members = calloc((size_t)n + 1, sizeof(*members));
		for (i = n = 0; members && i < b->n_processes; i++) {
			for (k = 0; k < b->threads[i]; k++) {
				members[n++] = STF_WILLY(i, k);
			}
		}
		g.willies = members;
		g.size_2_1 = n;
		rc = !members                                          ? no_memory(b)
			: stf_write_group_definition(b->in->w, &g) < 0 ? xch_input_stf(b->in, b->err)
								       : 0;
		free(members);
	}
	return rc;
}
