/* SPDX-License-Identifier: BSD-3-Clause */
/* --sumdata: summary data of a trace. The Intel Trace Collector guide, section 3.4, names the files TRACE.sum.fnc, .cop
 * and .msg but not their format. Ours are SINGLESTF traces with the declarations of the trace and the records that STF
 * calls "computed on trace data": function_profile, collop_profile and onetoone_profile. */
#include "config.h"
#include "tools/convert/sumdata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"
#include "tools/convert/convert.h"

/* A call that is open, and the time of the calls inside it. */
struct open_call {
	uint32_t function;
	uint64_t since, inside;
};

struct stack {
	struct open_call *call;
	size_t n, room;
};

struct function_key {
	uint32_t willy, function;
};

struct message_key {
	uint32_t sender, receiver, from, to, tag, communicator, size;
};

struct operation_key {
	uint32_t type, root, communicator;
};

/* One member's part in the operations of a key. */
struct part {
	uint64_t n, min_sent, max_sent, sent, min_received, max_received, received, min_time, max_time, time;
	double min_rate, max_rate, rate;
};

struct operations {
	struct part *part; /* by rank in the communicator */
	uint32_t n;
};

struct sums {
	const struct stt_trace *t;
	struct stack *stack;        /* of each thread */
	struct tkm_table functions, /* function_key: struct stf_function_profile */
		messages,           /* message_key: struct stf_onetoone_profile */
		operations;         /* operation_key: struct operations */
	uint64_t last;
	int no_memory;
};

static uint32_t bounded_number(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- functions ---- */

static void close_summed_call(struct sums *s, uint32_t willy, struct stack *k, uint64_t time)
{
	struct open_call c = k->call[--k->n];
	struct function_key key = { willy, c.function };
	uint64_t all = time > c.since ? time - c.since : 0, self = all > c.inside ? all - c.inside : 0;
	struct stf_function_profile *p = tkm_table_put(&s->functions, &key, sizeof(key), sizeof(*p));

	if (!p) {
		s->no_memory = 1;
		return;
	}
	if (k->n) {
		k->call[k->n - 1].inside += all;
	}
	p->min_self = !p->count || self < p->min_self ? self : p->min_self;
	p->max_self = self > p->max_self ? self : p->max_self;
	p->total_self += self;
	p->min_inclusive = !p->count || all < p->min_inclusive ? all : p->min_inclusive;
	p->max_inclusive = all > p->max_inclusive ? all : p->max_inclusive;
	p->total_inclusive += all;
	p->count += p->count < UINT32_MAX;
}

static struct stack *stack_of(struct sums *s, uint32_t willy)
{
	long long k = stf_willy_is_group(willy) ? -1 : stt_thread_number(s->t, willy);

	return k < 0 ? NULL : &s->stack[k];
}

static void see_summed_call(struct sums *s, const struct stf_record *rec)
{
	uint32_t willy = (uint32_t)stf_value(rec, "willy")->u;
	struct stack *k = stack_of(s, willy);

	if (!k) {
		return;
	}
	if (rec->layout->class_id == STF_ID_leave_function) {
		if (k->n) {
			close_summed_call(s, willy, k, rec->time);
		}
	} else if (TKM_GROW(k->call, k->room, k->n + 1) < 0) {
		s->no_memory = 1;
	} else {
		k->call[k->n++] = (struct open_call){ (uint32_t)stf_value(rec, "function")->u, rec->time, 0 };
	}
}

/* ---- messages ---- */

static void see_summed_message(struct sums *s, const struct stf_record *rec)
{
	struct stf_one_to_one_communication_4 m;
	struct stf_onetoone_profile *p;
	struct message_key key;

	stf_get_one_to_one_communication_4(rec, &m);
	if (m.receive_time == STF_RECEIVE_UNKNOWN || m.receive_time == STF_SEND_UNKNOWN) {
		return;
	}
	key = (struct message_key){ m.sender, m.receiver, m.sender_function, m.receiver_function, m.tag, m.communicator,
		m.size };
	p = tkm_table_put(&s->messages, &key, sizeof(key), sizeof(*p));
	if (!p) {
		s->no_memory = 1;
		return;
	}
	p->min_time = !p->count || m.receive_time < p->min_time ? m.receive_time : p->min_time;
	p->max_time = !p->count || m.receive_time > p->max_time ? m.receive_time : p->max_time;
	p->sum_time += m.receive_time;
	p->count += p->count < UINT32_MAX;
}

/* ---- collective operations ---- */

static void add_operation_part(struct part *p, uint64_t sent, uint64_t received, uint64_t ticks, double resolution)
{
	double rate = ticks ? (double)(sent + received) / ((double)ticks * resolution) : 0;
	int first = p->n++ == 0;

	p->min_sent = first || sent < p->min_sent ? sent : p->min_sent;
	p->max_sent = sent > p->max_sent ? sent : p->max_sent;
	p->sent += sent;
	p->min_received = first || received < p->min_received ? received : p->min_received;
	p->max_received = received > p->max_received ? received : p->max_received;
	p->received += received;
	p->min_time = first || ticks < p->min_time ? ticks : p->min_time;
	p->max_time = ticks > p->max_time ? ticks : p->max_time;
	p->time += ticks;
	p->min_rate = first || rate < p->min_rate ? rate : p->min_rate;
	p->max_rate = rate > p->max_rate ? rate : p->max_rate;
	p->rate += rate;
}

static uint64_t bytes_of_member(const struct stf_value *v, uint32_t i)
{
	return v && i < v->count ? ((const uint32_t *)v->array)[i] : 0;
}

/* The rank of a thread in a communicator; UINT32_MAX: none. */
static uint32_t rank_of_root(const struct stf_reader *r, uint32_t communicator, uint32_t willy)
{
	const struct stf_record *rec = stf_reader_find(r, STF_ID_communicator_definition, communicator);
	struct stf_communicator_definition d;
	int64_t step, from, rank = 0;
	uint32_t i;

	for (i = 0; rec && stf_get_communicator_definition(rec, &d) == 0 && i < d.size_2_3; i++) {
		step = d.stride[i] ? d.stride[i] : 1;
		from = (int64_t)willy - (int64_t)d.first_id[i];
		if (from % step == 0 && from / step >= 0 &&
			from / step <= ((int64_t)d.last_id[i] - (int64_t)d.first_id[i]) / step) {
			return (uint32_t)(rank + from / step);
		}
		rank += ((int64_t)d.last_id[i] - (int64_t)d.first_id[i]) / step + 1;
	}
	return UINT32_MAX;
}

/* The records of the four classes name their fields alike. Of operations with a root, "receiver" or "sender" is the
 * root, and "recvd" or "sent" its bytes. */
static void see_summed_operation(struct sums *s, const struct stf_record *rec)
{
	const struct stf_value *start = stf_value(rec, "start_time"), *delta = stf_value(rec, "delta"),
			       *sent = stf_value(rec, "send_size"), *received = stf_value(rec, "receive_size"),
			       *to_root = stf_value(rec, "recvd"), *from_root = stf_value(rec, "sent"),
			       *root = stf_value(rec, to_root ? "receiver" : "sender");
	struct operation_key key = { (uint32_t)stf_value(rec, "type")->u, root ? (uint32_t)root->u : 0,
		(uint32_t)stf_value(rec, "communicator")->u };
	uint32_t i, at = root ? rank_of_root(s->t->r, key.communicator, key.root) : UINT32_MAX;
	const uint64_t *since = start->array, *time = delta->array;
	struct operations *o = tkm_table_put(&s->operations, &key, sizeof(key), sizeof(*o));

	if (!o || (start->count > o->n && TKM_EXTEND(o->part, o->n, start->count) < 0)) {
		s->no_memory = 1;
		return;
	}
	for (i = 0; i < start->count; i++) {
		if (since[i] != UINT64_MAX) {
			add_operation_part(&o->part[i], i == at && from_root ? from_root->u : bytes_of_member(sent, i),
				i == at && to_root ? to_root->u : bytes_of_member(received, i), time[i],
				s->t->resolution);
		}
	}
}

/* ---- all of it ---- */

static void see_summed_record(struct sums *s, const struct stf_record *rec)
{
	switch (rec->layout->class_id) {
	case STF_ID_enter_function:
	case STF_ID_leave_function:
		see_summed_call(s, rec);
		break;
	case STF_ID_one_to_one_communication:
		see_summed_message(s, rec);
		break;
	case STF_ID_all_communication:
	case STF_ID_all_to_all_communication:
	case STF_ID_all_to_one_communication:
	case STF_ID_one_to_all_communication:
		see_summed_operation(s, rec);
		break;
	default:
		break;
	}
	s->last = rec->time > s->last ? rec->time : s->last;
}

static int read_sums(struct sums *s, const struct stt_options *o)
{
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(s->t->r, NULL, &e);
	int more = c ? 1 : -1;
	uint32_t p, k;

	while (more > 0 && !s->no_memory && (more = stf_cursor_next(c, &rec, &e)) > 0) {
		stt_progress(o, s->t, rec->time, 0);
		see_summed_record(s, rec);
	}
	stf_cursor_close(c);
	stt_progress(o, s->t, 0, 1);
	/* calls that are open at the end */
	for (p = 0; p < s->t->n_processes; p++) {
		for (k = 0; k < s->t->threads[p]; k++) {
			struct stack *stack = stack_of(s, STF_WILLY(p, k));

			while (stack->n && !s->no_memory) {
				close_summed_call(s, STF_WILLY(p, k), stack, s->last);
			}
		}
	}
	if (s->no_memory) {
		return stt_fault(o, "%s: out of memory", s->t->path);
	}
	/* of a damaged trace the rest is summed; the caller reports the damage */
	return more < 0 && e.code != STF_ERR_CHECKSUM ? stt_cursor_fault(o, &e) : STT_OK;
}

/* ---- writing ---- */

static int write_call_profiles(void *sums, struct stf_writer *w)
{
	struct sums *s = sums;
	struct stf_function_profile *p = NULL;
	const struct function_key *key;

	while ((p = tkm_table_next(&s->functions, p))) {
		key = tkm_table_key(p);
		p->willy = key->willy;
		p->function = key->function;
		if (stf_write_function_profile(w, p) < 0) {
			return -1;
		}
	}
	return 0;
}

static int write_message_profiles(void *sums, struct stf_writer *w)
{
	struct sums *s = sums;
	struct stf_onetoone_profile *p = NULL;
	const struct message_key *key;

	while ((p = tkm_table_next(&s->messages, p))) {
		key = tkm_table_key(p);
		p->sender = key->sender;
		p->receiver = key->receiver;
		p->funcsender = key->from;
		p->funcreceiver = key->to;
		p->tag = key->tag;
		p->comm = key->communicator;
		p->size = key->size;
		if (stf_write_onetoone_profile(w, p) < 0) {
			return -1;
		}
	}
	return 0;
}

static int write_operation_profile(struct stf_writer *w, const struct operation_key *key, const struct operations *o)
{
	uint32_t *n32 = calloc((size_t)o->n * 7 + 1, sizeof(*n32)), k = o->n, i;
	uint64_t *n64 = calloc((size_t)o->n * 3 + 1, sizeof(*n64));
	double *real = calloc((size_t)o->n * 3 + 1, sizeof(*real));
	const struct part *p;
	int rc = -1;

	for (i = 0; n32 && n64 && real && i < k; i++) {
		const uint64_t small[7] = { (p = &o->part[i])->n, p->min_sent, p->max_sent, p->sent, p->min_received,
			p->max_received, p->received };
		unsigned j;

		for (j = 0; j < 7; j++) {
			n32[j * k + i] = bounded_number(small[j]);
		}
		n64[i] = p->min_time;
		n64[k + i] = p->max_time;
		n64[2 * k + i] = p->time;
		real[i] = p->min_rate;
		real[k + i] = p->max_rate;
		real[2 * k + i] = p->n ? p->rate / (double)p->n : 0;
	}
	if (n32 && n64 && real) {
		const struct stf_collop_profile r = { .type = (uint8_t)key->type,
			.root = key->root,
			.comm = key->communicator,
			.size_1_13 = k,
			.count_exch = n32,
			.min_bytes_sent = n32 + k,
			.max_bytes_sent = n32 + 2 * k,
			.sum_bytes_sent = n32 + 3 * k,
			.min_bytes_recvd = n32 + 4 * k,
			.max_bytes_recvd = n32 + 5 * k,
			.sum_bytes_recvd = n32 + 6 * k,
			.min_rate = real,
			.max_rate = real + k,
			.avg_rate = real + 2 * k,
			.min_duration = n64,
			.max_duration = n64 + k,
			.sum_duration = n64 + 2 * k };

		rc = stf_write_collop_profile(w, &r);
	}
	free(n32);
	free(n64);
	free(real);
	return rc;
}

static int write_operation_profiles(void *sums, struct stf_writer *w)
{
	struct sums *s = sums;
	struct operations *o = NULL;

	while ((o = tkm_table_next(&s->operations, o))) {
		if (write_operation_profile(w, tkm_table_key(o), o) < 0) {
			return -1;
		}
	}
	return 0;
}

static int write_summary_files(struct sums *s, const struct stt_options *o, const char *to)
{
	static const struct {
		const char *suffix;
		int (*fill)(void *sums, struct stf_writer *w);
	} files[] = { { "fnc", write_call_profiles }, { "cop", write_operation_profiles },
		{ "msg", write_message_profiles } };
	char name[4200];
	size_t i;
	int rc = STT_OK;

	for (i = 0; rc == STT_OK && i < sizeof(files) / sizeof(*files); i++) {
		snprintf(name, sizeof(name), "%.4000s.sum.%s", to, files[i].suffix);
		rc = stt_write_declared(o, s->t, name, STT_SINGLE, files[i].fill, s);
	}
	if (rc == STT_OK) {
		stt_say(o, 1, "%s: summary data written to %s.sum.fnc, .cop and .msg", o->input, to);
	}
	return rc;
}

static void free_sums(struct sums *s)
{
	struct operations *o = NULL;
	uint64_t i;

	while ((o = tkm_table_next(&s->operations, o))) {
		free(o->part);
	}
	for (i = 0; s->stack && i < s->t->first[s->t->n_processes]; i++) {
		free(s->stack[i].call);
	}
	free(s->stack);
	tkm_table_free(&s->functions);
	tkm_table_free(&s->messages);
	tkm_table_free(&s->operations);
}

int stt_sumdata(const struct stt_options *o, const char *to)
{
	struct stt_trace t;
	struct sums s = { .t = &t };
	int rc;

	if (stt_trace_open(&t, o, STF_READ_DAMAGED) < 0) {
		return STT_FAULT;
	}
	s.stack = calloc(t.first[t.n_processes] + 1, sizeof(*s.stack));
	rc = !s.stack ? stt_fault(o, "%s: out of memory", o->input) : read_sums(&s, o);
	if (rc == STT_OK) {
		rc = write_summary_files(&s, o, to) | stt_damage(o, &t);
	}
	free_sums(&s);
	stt_trace_close(&t);
	return rc;
}
