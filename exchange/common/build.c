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

struct operation {
	struct xch_build_member m; /* of the first member seen, or the last one */
	uint64_t *start, *end, *sent, *received;
	unsigned char *seen; /* 1: began, 2: ended */
	uint32_t n, ended;
	struct operation *before, *after;
};

struct xch_build {
	struct xch_input *in;
	struct tkm_err *err;
	struct tkm_table functions, scopes, files, classes, counters;
	struct tkm_table operations; /* those that wait */
	struct xch_match *match;     /* made at the first message */
	uint32_t next_function, next_scope, next_file, next_counter;
	uint32_t *threads; /* of each process */
	uint32_t n_processes, all;
	struct operation *open, *newest; /* in the order in which they began */
	uint64_t large;                  /* numbers of bytes that no record can hold */
	uint64_t time;
	uint32_t willy, n; /* the record of samples being collected */
	uint64_t values[UINT8_MAX];
	uint32_t counters_of[UINT8_MAX];
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

	if (!b) {
		return;
	}
	while ((o = b->open)) {
		b->open = o->after;
		operation_free(o);
	}
	xch_match_free(b->match);
	tkm_table_free(&b->functions);
	tkm_table_free(&b->scopes);
	tkm_table_free(&b->files);
	tkm_table_free(&b->classes);
	tkm_table_free(&b->counters);
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

uint32_t xch_build_class(struct xch_build *b, const char *cls, uint32_t parent)
{
	uint64_t *id;

	if (!*cls) {
		return 0;
	}
	id = tkm_table_put(&b->classes, cls, strlen(cls), sizeof(uint64_t));
	if (id && !*id) {
		*id = stf_writer_class(b->in->w, cls, parent);
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
	f.classid = xch_build_class(b, cls, 0);
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
	s.classid = xch_build_class(b, cls, 0);
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
	c.classid = xch_build_class(b, cls, 0);
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

/* Members are written as triplets: each run with one stride is one triplet. */
int xch_build_communicator(struct xch_build *b, uint32_t id, const char *name, const uint32_t *willies, uint32_t n)
{
	struct stf_communicator_definition c = { .id = id, .name = name, .size_1_1 = (uint32_t)strlen(name) };
	uint32_t *first = calloc(3 * (size_t)n + 1, sizeof(*first)), *last = first + n, i, k;
	int32_t *stride = (int32_t *)(last + n);
	int rc;

	if (!first) {
		return no_memory(b);
	}
	for (i = 0; i < n; i = k) {
		first[c.size_2_3] = willies[i];
		stride[c.size_2_3] =
			i + 1 < n && willies[i + 1] > willies[i] ? (int32_t)(willies[i + 1] - willies[i]) : 1;
		for (k = i + 1; k < n && willies[k] == willies[k - 1] + (uint32_t)stride[c.size_2_3]; k++) {
		}
		last[c.size_2_3++] = willies[k - 1];
	}
	c.first_id = first;
	c.last_id = last;
	c.stride = stride;
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

/* What xch_match_half() and xch_match_end() return. */
static int matched(struct xch_build *b, int rc)
{
	return rc == 0 ? 0 : stf_writer_error(b->in->w)->code == STF_OK ? no_memory(b) : xch_input_stf(b->in, b->err);
}

int xch_build_half(struct xch_build *b, const struct xch_half *h)
{
	b->match = b->match ? b->match : xch_match_new(b->in->w);
	return b->match ? matched(b, xch_match_half(b->match, h)) : no_memory(b);
}

uint64_t xch_build_alone(const struct xch_build *b)
{
	uint64_t alone = 0;

	if (b->match) {
		xch_match_count(b->match, &alone);
	}
	return alone;
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
	o->before = b->newest;
	*(b->newest ? &b->newest->after : &b->open) = o;
	b->newest = o;
	return o;
}

/* What a kind has no field for decides: one to all has no bytes sent by others than the root. */
static unsigned kind_of(const struct operation *o)
{
	const struct xch_build_member *m = &o->m;
	int rooted = m->root_rank < o->n, sent = 0, received = 0; /* by others than the root */
	uint32_t i;

	if (!m->by_bytes) {
		return m->what;
	}
	for (i = 0; i < o->n; i++) {
		sent |= i != m->root_rank && o->sent[i];
		received |= i != m->root_rank && o->received[i];
	}
	if (rooted && (!sent || !received)) {
		return !received && (m->what == 3 || sent) ? 3 : 2;
	}
	return m->what == 1 && !sent && !received ? 1 : 4;
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

	switch (kind_of(o)) {
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

uint32_t xch_build_bytes(struct xch_build *b, uint64_t bytes)
{
	b->large += bytes >= STF_BYTES_AT_LEAST;
	return bytes < STF_BYTES_AT_LEAST ? (uint32_t)bytes : STF_BYTES_AT_LEAST;
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
		bytes[i] = xch_build_bytes(b, o->sent[i]);
		bytes[o->n + i] = xch_build_bytes(b, o->received[i]);
	}
	rc = xch_build_written(b, write_arrays(b, o, time, o->start, o->end, bytes, bytes + o->n));
	free(bytes);
	return rc;
}

/* Writes an operation, unless nobody has begun it, and frees it. */
static int end_operation(struct xch_build *b, struct operation *o)
{
	int rc = memchr(o->seen, 1, o->n) || memchr(o->seen, 3, o->n) ? write_operation(b, o) : 0;

	*(o->after ? &o->after->before : &b->newest) = o->before;
	*(o->before ? &o->before->after : &b->open) = o->after;
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
	if (m->by_bytes) {
		o->m = *m;
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

int xch_build_end(struct xch_build *b)
{
	struct stf_group_definition g = { .id = b->all & 0x7fffffffu, .name = "all threads", .size_1_1 = 11 };
	uint32_t *members, i, k, n = 0;
	char text[100];
	int rc = flush_samples(b) < 0 || (b->match && matched(b, xch_match_end(b->match)) < 0) ? -1 : 0;

	while (rc == 0 && b->open) {
		rc = end_operation(b, b->open);
	}
	if (rc == 0 && b->large) {
		snprintf(text, sizeof(text),
			"%" PRIu64 " sizes are at least 4294967295 bytes: a record holds no larger ones", b->large);
		rc = stf_writer_info(b->in->w, "missing", text) < 0 ? xch_input_stf(b->in, b->err) : 0;
	}
	if (rc == 0 && b->match) {
		b->in->records += xch_match_count(b->match, &(uint64_t){ 0 });
	}
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
