/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the message bursts as an STF trace with corrected stamps, and reads it back. The offsets that timertest prints
 * come from the trace, not from memory, so the verdict is about what a user of the trace would see. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/text.h"
#include "calib/map/stretch.h"
#include "include/stf.h"

static int from_stf(struct tkm_err *err, const struct stf_err *e)
{
	return tkm_fail(err, e->code == STF_ERR_EXISTS ? TKM_ERR_EXISTS : TKM_ERR_IO, "%s%s%.300s", e->file,
		e->file[0] ? ": " : "", e->text);
}

/* ---- writing ---- */

/* Events of one rank on the global axis: ticks with what they can be off by, and, in the end, stamps, unique and
 * ascending: clock tick above, event counter below (Intel Trace Collector guide, section 3.6). */
struct stamps {
	uint64_t *stamp;
	int64_t *tick, *band;
	uint64_t *message; /* 1 + index of the message */
};

/* As many event bits as the guide (13) unless the run is too long for 64-bit stamps. */
static uint32_t choose_event_bits(const struct cal_test_result *r)
{
	uint64_t span = (uint64_t)r->run.end.v * 2 + 1;
	uint32_t bits = 13;

	while (bits > 0 && span >> (62 - bits)) {
		bits--;
	}
	return bits;
}

static void free_stamps(struct stamps *s)
{
	free(s->stamp);
	free(s->tick);
	free(s->band);
	free(s->message);
}

static int make_ticks(struct cal_test_result *r, int rank, struct stamps *s, struct tkm_err *err)
{
	const struct cal_test_rank *me = &r->rank[rank];
	const struct cal_rank *c = &r->run.rank[rank];
	double lag = isfinite(c->effective_tick_s) ? c->effective_tick_s : 0, bound;
	int64_t last = 0, tick;
	struct cal_walk walk;
	size_t i, node = 0, n = me->events + 1;

	*s = (struct stamps){ calloc(n, sizeof(*s->stamp)), calloc(n, sizeof(*s->tick)), calloc(n, sizeof(*s->band)),
		calloc(n, sizeof(*s->message)) };
	if (!s->stamp || !s->tick || !s->band || !s->message) {
		return tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory");
	}
	cal_walk_begin(&walk, &c->map);
	for (i = 0; i < me->events; i++) {
		while (node < c->map.nodes && c->map.node[node].session <= me->event[i].session) {
			cal_walk_node(&walk, node++);
		}
		tick = cal_walk_at(&walk, ltick(me->event[i].local), &bound).v;
		if (tick < last) {
			/* the clock went back: keep the order and say so */
			r->repairs++;
			r->largest_repair_s = fmax(r->largest_repair_s, (double)(last - tick) * r->run.period_s);
			bound += (double)(last - tick) * r->run.period_s;
			tick = last;
		}
		s->tick[i] = last = tick;
		/* a reading lags behind its clock by up to an effective tick */
		s->band[i] = (int64_t)ceil(fmin((bound + lag) / r->run.period_s, 0x1p60));
	}
	return 0;
}

/* Unique stamps of the ticks. */
static void make_stamps(struct cal_test_result *r, int rank, uint32_t bits, struct stamps *s)
{
	uint64_t most = ((uint64_t)1 << bits) - 1, counter = 0;
	int64_t last = -1;
	size_t i;

	for (i = 0; i < r->rank[rank].events; i++) {
		int64_t tick = s->tick[i] < last ? last : s->tick[i];

		counter = tick == last ? counter + 1 : 0;
		r->most_on_tick = counter > r->most_on_tick ? counter : r->most_on_tick;
		if (counter > most) {
			tick++;
			counter = 0;
		}
		last = tick;
		s->stamp[i] = (uint64_t)tick << bits | counter;
	}
}

struct message {
	uint64_t sent, received;
	int32_t from, to, cycle;
	size_t sent_at, received_at; /* which event of the rank */
	int64_t ticks;               /* that it took before any was moved */
};

/* Raises the event counter of a stamp to `least`, and those after it on the same tick. */
static void raise_stamps(const struct cal_test_rank *rank, struct stamps *s, size_t i, uint64_t least)
{
	for (; i < rank->events && s->stamp[i] < least; i++) {
		s->stamp[i] = least++;
	}
}

/* A message that arrives on the tick on which it was sent has the later event counter. What that moves may be sent on the same tick
 * again, so this goes on until nothing moves: as often as a chain of messages on one tick is long. */
static void order_on_ticks(
	const struct cal_test_result *r, struct stamps *s, const struct message *m, size_t n, uint32_t bits)
{
	uint64_t most = ((uint64_t)1 << bits) - 1, passes;
	int moved = 1;
	size_t k;

	for (passes = 0; moved && passes <= most; passes++) {
		for (moved = 0, k = 0; k < n; k++) {
			uint64_t sent = s[m[k].from].stamp[m[k].sent_at], received = s[m[k].to].stamp[m[k].received_at];

			if (received <= sent && received >> bits == sent >> bits && (sent & most) < most) {
				raise_stamps(&r->rank[m[k].to], &s[m[k].to], m[k].received_at, sent + 1);
				moved = 1;
			}
		}
	}
}

static int by_sent(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	return (x->sent > y->sent) - (x->sent < y->sent);
}

/* Pairs the n-th send to a peer in a cycle with the peer's n-th receive. The events of a rank are in
 * the order of cycles and, within a cycle, of its pairs, so two walkers find each other. */
static int match_event(
	const struct cal_test_result *r, struct stamps *s, struct message **out, size_t *count, struct tkm_err *err)
{
	size_t total = 0, n = 0, i;
	size_t *next = calloc((size_t)r->ranks * (size_t)r->ranks + 1, sizeof(*next));
	struct message *m;
	int a;

	for (a = 0; a < r->ranks; a++) {
		total += r->rank[a].events;
	}
	m = malloc((total / 2 + 1) * sizeof(*m));
	if (!m || !next) {
		free(m);
		free(next);
		return tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory for %zu messages", total / 2);
	}
	for (a = 0; a < r->ranks; a++) {
		for (i = 0; i < r->rank[a].events; i++) {
			const struct cal_test_event *e = &r->rank[a].event[i];
			const struct cal_test_rank *peer = &r->rank[e->peer];
			size_t *k = &next[(size_t)a * (size_t)r->ranks + (size_t)e->peer];

			if (!e->sent) {
				continue;
			}
			while (*k < peer->events && (peer->event[*k].peer != a || peer->event[*k].sent)) {
				++*k;
			}
			if (*k == peer->events || peer->event[*k].cycle != e->cycle) {
				free(next);
				free(m);
				return tkm_fail(err, TKM_ERR_DATA,
					"trace: a message from rank %d to %d was not received", a, e->peer);
			}
			m[n++] = (struct message){
				.from = a, .to = e->peer, .cycle = e->cycle, .sent_at = i, .received_at = *k
			};
			s[a].message[i] = s[e->peer].message[(*k)++] = n;
		}
	}
	free(next);
	*out = m;
	*count = n;
	return 0;
}

/* Messages that seem to arrive before they were sent without correction. */
static uint64_t reversed_uncorrected(const struct cal_test_result *r, const struct message *m, size_t n)
{
	uint64_t reversed = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		long double sent = (long double)r->rank[m[i].from].event[m[i].sent_at].local /
			cal_rank_hz(&r->run.rank[m[i].from]);
		long double received = (long double)r->rank[m[i].to].event[m[i].received_at].local /
			cal_rank_hz(&r->run.rank[m[i].to]);

		reversed += received < sent;
	}
	return reversed;
}

static int store_moved_stamp(void *ctx, const struct cal_event *e, struct tkm_err *err)
{
	struct stamps *s = ctx;

	(void)err;
	s[e->rank].tick[e->tag] = e->stamp;
	return 0;
}

static int by_tick(const void *a, const void *b)
{
	const struct cal_event *x = a, *y = b;

	if (x->stamp != y->stamp) {
		return x->stamp < y->stamp ? -1 : 1;
	}
	if (x->rank != y->rank) {
		return x->rank < y->rank ? -1 : 1;
	}
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Moves ticks within their bands until no message arrives before it was sent. */
static int repair(struct cal_test_result *r, struct stamps *s, struct tkm_err *err)
{
	struct cal_causality *c = cal_causality_open(r->ranks, 0, store_moved_stamp, s, err);
	struct cal_event *e;
	size_t total = 0, n = 0, i;
	int a, rc = -1;

	for (a = 0; a < r->ranks; a++) {
		total += r->rank[a].events;
	}
	e = malloc((total + 1) * sizeof(*e));
	if (!c || !e) {
		tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory for %zu stamps", total);
		goto out;
	}
	for (a = 0; a < r->ranks; a++) {
		for (i = 0; i < r->rank[a].events; i++) {
			e[n++] = (struct cal_event){ s[a].tick[i], s[a].band[i], a,
				r->rank[a].event[i].sent ? CAL_EVENT_SENT : CAL_EVENT_RECEIVED, s[a].message[i], i };
		}
	}
	qsort(e, n, sizeof(*e), by_tick);
	for (i = 0; i < n; i++) {
		if (cal_causality_add(c, &e[i], err) < 0) {
			goto out;
		}
	}
	rc = cal_causality_finish(c, &r->causality, err);
out:
	free(e);
	cal_causality_close(c);
	return rc;
}

/* The offsets of the clocks are those before stamps were moved. */
static int remember_moves(
	struct cal_test_result *r, const struct stamps *s, const struct message *m, size_t n, struct tkm_err *err)
{
	size_t i;

	r->longer_s = malloc((n + 1) * sizeof(*r->longer_s));
	if (!r->longer_s) {
		return tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory for %zu messages", n);
	}
	for (i = 0; i < n; i++) {
		int64_t now = s[m[i].to].tick[m[i].received_at] - s[m[i].from].tick[m[i].sent_at];

		r->longer_s[i] = (double)(now - m[i].ticks) * r->run.period_s;
	}
	return 0;
}

/* The surroundings of one process's clock, the lines that timertest prints. */
static void write_environment(struct stf_writer *w, const struct tmr_env *e)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (f) {
		tmr_env_print(f, "", e);
	}
	if (f && tkm_text_end(f, &text) == 0) {
		stf_writer_info(w, "environment", text);
	}
	free(text);
}

/* How far the stamps of each process may be off, as doc/stf-format.md section 4 has it; a stamp that was moved to keep an order is as
 * much worse as it was moved. */
static void write_bounds(struct stf_writer *w, const struct cal_test_result *r, uint32_t bits)
{
	double moved = (double)r->causality.largest * r->run.period_s + r->largest_repair_s;
	char text[CAL_STRETCHES * 50 + 30];
	struct cal_stretch s[CAL_STRETCHES];
	size_t k, count, events;
	int64_t at;
	int i, n;

	for (i = 0; i < r->ranks; i++) {
		const struct cal_map *map = &r->run.rank[i].map;

		events = r->rank[i].events;
		count = events ? cal_map_stretches(map, ltick(r->rank[i].event[0].local),
					 ltick(r->rank[i].event[events - 1].local), s)
			       : 0;
		n = snprintf(text, sizeof(text), "process %d", i);
		for (k = 0; k < count; k++) {
			at = cal_map_at(map, s[k].from).v;
			at = k == 0 || at < 0 ? 0 : at;
			n += snprintf(text + n, sizeof(text) - (size_t)n, " %llu ",
				(unsigned long long)((uint64_t)at << bits));
			n += isnan(s[k].bound_s) ? snprintf(text + n, sizeof(text) - (size_t)n, "unknown")
						 : snprintf(text + n, sizeof(text) - (size_t)n, "%.9g",
							   tkm_round_up(s[k].bound_s + moved, 9, 'g'));
		}
		if (count) {
			stf_writer_info(w, "clock-bound", text);
		}
	}
}

static void provenance(struct stf_writer *w, const struct cal_test_options *o, const struct cal_test_result *r)
{
	char text[600], a[32];
	double widest = 0;
	int i;
	size_t k;

	stf_writer_info(w, "program", PACKAGE_STRING " timertest");
	for (i = 0; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];

		snprintf(text, sizeof(text), "rank %d: host %s, timer %s, clock source %s, boot %s", i, c->host,
			c->timer, r->rank[i].env.clocksource, c->boot_id);
		stf_writer_info(w, "clock", text);
		write_environment(w, &r->rank[i].env);
		for (k = 0; k < c->map.nodes; k++) {
			widest = fmax(widest, cal_map_session_bound(&c->map, c->map.node[k].local));
		}
	}
	snprintf(text, sizeof(text), "interpolation %s; bound at the sessions at most %s; assumed drift %g, wander %g",
		cal_interpolation_name(r->run.interpolation), tkm_print_upper(a, sizeof(a), widest, 3), o->max_drift,
		o->max_wander);
	stf_writer_info(w, "correction", text);
	snprintf(text, sizeof(text), "%lld stamps moved to keep their order, largest by %s", r->repairs,
		tkm_print_time(a, sizeof(a), r->largest_repair_s, 3));
	stf_writer_info(w, "repairs", text);
	snprintf(text, sizeof(text),
		"%llu of %llu messages reversed without correction, %llu after correction, %llu after "
		"moving %llu stamps by at most %s",
		(unsigned long long)r->reversed_uncorrected, (unsigned long long)r->causality.messages,
		(unsigned long long)r->causality.before, (unsigned long long)r->causality.after,
		(unsigned long long)r->causality.moved,
		tkm_print_time(a, sizeof(a), (double)r->causality.largest * r->run.period_s, 3));
	stf_writer_info(w, "causality", text);
}

struct ids {
	uint32_t communicator, send, receive;
};

static int declare_trace(struct stf_writer *w, const struct cal_test_options *o, const struct cal_test_result *r,
	uint32_t bits, struct ids *ids)
{
	static const char comm_name[] = "MPI_COMM_WORLD";
	uint32_t *threads = malloc(((size_t)r->ranks + 1) * sizeof(*threads));
	uint32_t first = STF_WILLY(0, 0), last = STF_WILLY(r->ranks - 1, 0);
	int32_t stride = 1;
	struct stf_communicator_definition comm = { .id = 1,
		.size_1_1 = sizeof(comm_name) - 1,
		.name = comm_name,
		.size_2_3 = 1,
		.first_id = &first,
		.last_id = &last,
		.stride = &stride };
	struct stf_function_definition f = { .id = 1 };
	uint32_t cls = stf_writer_class(w, "MPI", 0);
	int rc = cls && threads ? 0 : -1, i;

	for (i = 0; threads && i < r->ranks; i++) {
		threads[i] = 1;
	}
	rc |= threads ? stf_writer_processes(w, threads, (uint32_t)r->ranks) : -1;
	free(threads);
	for (i = 0; i < r->ranks && rc == 0; i++) {
		double offset, skew;
		char name[32];

		cal_rank_skew(&r->run, i, &offset, &skew);
		snprintf(name, sizeof(name), "Process %d", i);
		/* one thread: its id is the process's; the address is not looked up, a name server may hang */
		rc |= stf_writer_willy(
			w, STF_WILLY(i, 0), r->rank[i].env.host, "", r->rank[i].pid, r->rank[i].pid, offset, skew);
		rc |= stf_writer_willy_name(w, STF_WILLY(i, 0), name);
	}
	f.name = stf_writer_string(w, "MPI_Send");
	f.classid = cls;
	rc |= stf_write_function_definition(w, &f);
	f.id = 2;
	f.name = stf_writer_string(w, "MPI_Recv");
	rc |= stf_write_function_definition(w, &f);
	rc |= stf_write_communicator_definition(w, &comm);
	*ids = (struct ids){ comm.id, 1, 2 };
	provenance(w, o, r);
	write_bounds(w, r, bits);
	return rc;
}

static int write_messages(struct stf_writer *w, const struct message *m, size_t n, const struct ids *ids)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct stf_one_to_one_communication c = { .time = m[i].sent,
			.sender = STF_WILLY(m[i].from, 0),
			.receive_time = (int64_t)(m[i].received - m[i].sent),
			.receiver = STF_WILLY(m[i].to, 0),
			.communicator = ids->communicator,
			.size = 8,
			.tag = (uint32_t)m[i].cycle,
			.sender_function = ids->send,
			.receiver_function = ids->receive };

		if (stf_write_one_to_one_communication(w, &c) < 0) {
			return -1;
		}
	}
	return 0;
}

/* All events on the global axis, in an order that can be. */
static int place_events(struct cal_test_result *r, struct stamps *s, struct message **m, size_t *n, struct tkm_err *err)
{
	size_t k;
	int i;

	for (i = 0; i < r->ranks; i++) {
		if (make_ticks(r, i, &s[i], err) < 0) {
			return -1;
		}
	}
	if (match_event(r, s, m, n, err) < 0) {
		return -1;
	}
	for (k = 0; k < *n; k++) {
		struct message *one = &(*m)[k];

		one->ticks = s[one->to].tick[one->received_at] - s[one->from].tick[one->sent_at];
	}
	return repair(r, s, err);
}

int cal_test_trace_write(
	const char *path, const struct cal_test_options *o, struct cal_test_result *r, struct tkm_err *err)
{
	uint32_t bits = choose_event_bits(r);
	struct stf_writer_options opt = { .resolution = ldexp(r->run.period_s, -(int)bits),
		.eventbits = bits,
		.force = o->force,
		.comment = "message bursts of timertest" };
	struct stamps *s = calloc((size_t)r->ranks + 1, sizeof(*s));
	struct message *m = NULL;
	struct stf_writer *w = NULL;
	struct stf_err se = { .code = STF_OK };
	struct ids ids;
	size_t n = 0, k;
	int rc = -1, i;

	if (!s) {
		return tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory");
	}
	if (place_events(r, s, &m, &n, err) < 0) {
		goto out;
	}
	r->reversed_uncorrected = reversed_uncorrected(r, m, n);
	for (i = 0; i < r->ranks; i++) {
		make_stamps(r, i, bits, &s[i]);
	}
	order_on_ticks(r, s, m, n, bits);
	for (k = 0; k < n; k++) {
		m[k].sent = s[m[k].from].stamp[m[k].sent_at];
		m[k].received = s[m[k].to].stamp[m[k].received_at];
	}
	qsort(m, n, sizeof(*m), by_sent);
	if (r->causality.moved && remember_moves(r, s, m, n, err) < 0) {
		goto out;
	}
	w = stf_writer_create(path, &opt, &se);
	if (!w) {
		from_stf(err, &se);
		goto out;
	}
	if (declare_trace(w, o, r, bits, &ids) < 0 || write_messages(w, m, n, &ids) < 0) {
		from_stf(err, stf_writer_error(w));
		stf_writer_abort(w);
		goto out;
	}
	rc = stf_writer_finish(w, 0, (uint64_t)r->run.end.v << bits, &se);
	if (rc < 0) {
		from_stf(err, &se);
	}
out:
	for (i = 0; i < r->ranks; i++) {
		free_stamps(&s[i]);
	}
	free(s);
	free(m);
	return rc;
}

/* ---- reading ---- */

/* A one-way time as it comes from the trace. */
struct way {
	int a, b, cycle, back; /* a < b; back: from b to a */
	size_t number;         /* in the trace, that is, in time */
	uint64_t begin;
	double seconds;
};

struct ways {
	size_t n, room;
	struct way *way;
};

/* Bursts together, and in each the way there before the way back. */
static int by_burst(const void *p, const void *q)
{
	const struct way *x = p, *y = q;

	if (x->cycle != y->cycle) {
		return x->cycle > y->cycle ? 1 : -1;
	}
	if (x->a != y->a) {
		return x->a > y->a ? 1 : -1;
	}
	if (x->b != y->b) {
		return x->b > y->b ? 1 : -1;
	}
	if (x->back != y->back) {
		return x->back > y->back ? 1 : -1;
	}
	return x->number > y->number ? 1 : -1;
}

static int add_way(struct ways *w, const struct way *one, struct tkm_err *err)
{
	if (TKM_GROW(w->way, w->room, w->n + 1) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory");
	}
	w->way[w->n] = *one;
	w->way[w->n].number = w->n;
	w->n++;
	return 0;
}

/* Nine tenths of the round trips within this many times the shortest make a quiet burst, as in
 * calib/map/fit.c. */
static const double quiet_ratio = 1.6;

/* The mean offset of the kept ping-pongs; of a burst that was disturbed in more than a tenth of them, where a
 * mean means nothing, the middle of what is certain. */
static double burst_offset(const struct way *there, const struct way *back, const struct cal_sample *s, size_t n,
	const struct cal_test_burst *b)
{
	double shortest = INFINITY, sum = 0;
	size_t i, within = 0, kept = 0;

	for (i = 0; i < n; i++) {
		shortest = fmin(shortest, there[i].seconds + back[i].seconds);
	}
	for (i = 0; i < n; i++) {
		within += there[i].seconds + back[i].seconds <= quiet_ratio * shortest;
		if (s[i].kept) {
			sum += 0.5 * (there[i].seconds - back[i].seconds);
			kept++;
		}
	}
	return within * 10 >= n * 9 ? sum / (double)kept : 0.5 * (b->low_s + b->high_s);
}

/* Ping-pong i is there[i] and back[i]; the round trip is their sum, whatever the clocks' offset. */
static int condense(const struct way *there, const struct way *back, size_t n, double resolution,
	struct cal_test_burst *b, struct tkm_err *err)
{
	struct cal_sample *s = calloc(n + 1, sizeof(*s));
	double any_low = INFINITY, any_high = -INFINITY;
	size_t kept = 0, i;

	if (!s) {
		return tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory");
	}
	*b = (struct cal_test_burst){ .a = there->a,
		.b = there->b,
		.cycle = there->cycle,
		.exchanges = (int)n,
		.time_s = (double)there->begin * resolution,
		.low_s = -INFINITY,
		.high_s = INFINITY };
	for (i = 0; i < n; i++) {
		s[i].recv = ltick(llrint((there[i].seconds + back[i].seconds) * 1e12));
		b->high_s = fmin(b->high_s, there[i].seconds);
		b->low_s = fmax(b->low_s, -back[i].seconds);
		any_high = fmax(any_high, there[i].seconds);
		any_low = fmin(any_low, -back[i].seconds);
		b->offset_all_s += 0.5 * (there[i].seconds - back[i].seconds) / (double)n;
	}
	if (b->low_s > b->high_s) {
		/* the clocks moved against each other during the burst, by more than its messages took */
		b->low_s = any_low;
		b->high_s = any_high;
	}
	cal_filter(s, n, 0.1, 1);
	for (i = 0; i < n; i++) {
		if (s[i].kept) {
			b->latency_s += 0.5 * (there[i].seconds + back[i].seconds);
			kept++;
		}
	}
	b->latency_s /= (double)kept;
	b->offset_s = burst_offset(there, back, s, n, b);
	free(s);
	return 0;
}

/* The stretch of one burst in the sorted ways. */
static int add_burst(const struct way *w, size_t n, double resolution, struct cal_test_result *r, struct tkm_err *err)
{
	size_t there = 0;
	struct cal_test_burst *b;
	double lag;

	while (there < n && !w[there].back) {
		there++;
	}
	if (there == 0 || there == n) {
		return 0; /* one direction alone gives no information about the offset */
	}
	b = TKM_APPEND(r->burst, r->bursts);
	if (!b) {
		return tkm_fail(err, TKM_ERR_NOMEM, "trace: out of memory");
	}
	if (condense(w, w + there, there < n - there ? there : n - there, resolution, b, err) < 0) {
		return -1;
	}
	/* a stamp can lag behind its clock by one effective tick at either end */
	lag = r->run.rank[b->a].effective_tick_s + r->run.rank[b->b].effective_tick_s;
	b->low_s -= lag;
	b->high_s += lag;
	return 0;
}

static int read_message(const struct stf_record *rec, double resolution, uint32_t bits, struct ways *w,
	const struct cal_test_result *r, struct tkm_err *err)
{
	struct stf_one_to_one_communication m;
	int from, to, ranks = r->ranks;
	double longer = r->longer_s ? r->longer_s[w->n] : 0;
	int64_t ticks;

	if (stf_get_one_to_one_communication(rec, &m) < 0) {
		return 0;
	}
	from = (int)stf_willy_process(m.sender);
	to = (int)stf_willy_process(m.receiver);
	if (from >= ranks || to >= ranks) {
		return tkm_fail(
			err, TKM_ERR_FORMAT, "trace: a message from rank %d to %d in a run of %d", from, to, ranks);
	}
	/* the event counters are no time */
	ticks = (int64_t)((m.time + (uint64_t)m.receive_time) >> bits) - (int64_t)(m.time >> bits);
	return add_way(w,
		&(struct way){ .a = from < to ? from : to,
			.b = from < to ? to : from,
			.cycle = (int)m.tag,
			.back = from > to,
			.begin = m.time,
			.seconds = (double)ticks * ldexp(resolution, (int)bits) - longer },
		err);
}

static int read_messages(struct stf_reader *rd, double resolution, uint32_t bits, struct cal_test_result *r,
	struct ways *w, struct tkm_err *err)
{
	struct stf_err se = { .code = STF_OK };
	struct stf_cursor *cursor = stf_cursor_open(rd, NULL, &se);
	const struct stf_record *rec;
	int got = -1;

	while (cursor && (got = stf_cursor_next(cursor, &rec, &se)) > 0) {
		if (read_message(rec, resolution, bits, w, r, err) < 0) {
			stf_cursor_close(cursor);
			return -1;
		}
	}
	stf_cursor_close(cursor);
	return got < 0 ? from_stf(err, &se) : 0;
}

int cal_test_trace_read(const char *path, struct cal_test_result *r, struct tkm_err *err)
{
	struct stf_err se = { .code = STF_OK };
	struct stf_reader *rd = stf_reader_open(path, 0, &se);
	struct ways w = { 0 };
	double resolution;
	uint32_t bits;
	size_t i, end;
	int rc = -1;

	if (!rd) {
		return from_stf(err, &se);
	}
	if (stf_reader_clock(rd, &resolution, &bits) < 0) {
		tkm_fail(err, TKM_ERR_FORMAT, "%s: the trace does not say its clock", path);
	} else {
		rc = read_messages(rd, resolution, bits, r, &w, err);
	}
	if (w.n) {
		qsort(w.way, w.n, sizeof(*w.way), by_burst);
	}
	for (i = 0; rc == 0 && i < w.n; i = end) {
		for (end = i; end < w.n && w.way[end].a == w.way[i].a && w.way[end].b == w.way[i].b &&
			w.way[end].cycle == w.way[i].cycle;
			end++) {
		}
		rc = add_burst(&w.way[i], end - i, resolution, r, err);
	}
	free(w.way);
	stf_reader_close(rd);
	return rc;
}
