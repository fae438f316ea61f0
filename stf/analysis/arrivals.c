/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective operations, until the reading has passed the time at which they let others go on. */
#include "config.h"
#include "stf/analysis/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/heap.h"

/* So many waiters are held at most; then the first arrival is taken although calls before it may not have been read. */
enum { MOST_HELD = 1 << 21 };

static int arrival_is_earlier(const void *of, struct stf_arrival *const *a, struct stf_arrival *const *b)
{
	(void)of;
	return (*a)->ready < (*b)->ready;
}

TKM_HEAP(arrival_heap, struct stf_arrival *, arrival_is_earlier);

/* ---- messages ---- */

static int pass_message(struct stf_arrivals *a, const struct stf_sent *s)
{
	struct stf_thread *from = stf_threads_find(a->t, s->sender), *to = stf_threads_get(a->t, s->receiver);
	struct stf_need need = { .ready = a->now,
		.done = a->now + (uint64_t)s->takes,
		.cause = s->sender,
		.cause_function = from ? stf_thread_busy(from) : 0,
		.kind = s->kind };
	struct stf_play_arrival play = {
		.done = need.done, .ready = a->now, .is_message = s->kind == STF_WAIT_LATE_SENDER
	};

	if (from) {
		stf_thread_sends(a->t, from, a->now, &(struct stf_started){ s->receiver, need.done, s->bytes });
		play.times = stf_thread_played(a->t, from, a->now);
		play.times = stf_play_message(&a->t->replay, &play.times, s->bytes);
	}
	if (from && to && stf_play_arrives(&to->play, &play) < 0) {
		return -1;
	}
	if (to) {
		stf_past_meets(&to->past, s->sender, (struct stf_meeting){ need.ready, need.done });
	}
	return to ? stf_thread_needs(a->t, to, &need) : 0;
}

/* Those of a thread with events that are held back stay. */
static int pass_messages(struct stf_arrivals *a)
{
	const struct stf_thread *from;
	size_t i, n = 0;
	int rc = 0;

	for (i = 0; i < a->n_sent && rc == 0; i++) {
		from = stf_threads_find(a->t, a->sent[i].sender);
		if (from && from->held) {
			a->sent[n++] = a->sent[i];
		} else {
			rc = pass_message(a, &a->sent[i]);
		}
	}
	a->n_sent = n;
	return rc;
}

/* What the receiver waits for, by the function that sends. */
static enum stf_wait_kind kind_of_message(const struct stf_arrivals *a, uint32_t sender_function)
{
	unsigned flags = stf_names_function(&a->t->names, sender_function);

	return flags & STF_CALL_POSTS          ? STF_WAIT_LATE_POST
		: flags & STF_CALL_ENDS_ACCESS ? STF_WAIT_LATE_COMPLETE
		: flags & STF_CALL_UNLOCKS     ? STF_WAIT_LOCK
					       : STF_WAIT_LATE_SENDER;
}

/* Puts and gets, also copies of GPUs, that were read from another format; exchange/ gives their communicators this name. Some other call
 * than one that receives may be open when they end. */
static int is_one_sided(struct stf_arrivals *a, uint32_t communicator)
{
	const char *name;

	if (communicator != a->communicator || a->messages == 0) {
		name = stf_reader_name(a->t->names.r, STF_ID_communicator_definition, communicator);
		a->communicator = communicator;
		a->one_sided = name && !strcmp(name, "puts and gets");
	}
	return a->one_sided;
}

int stf_arrivals_message(struct stf_arrivals *a, const struct stf_record *rec)
{
	/* of all: time, sender, receive_time, receiver, communicator, size; the last two are the functions */
	const struct stf_value *v = rec->values;
	int64_t takes = (int64_t)v[2].u;
	int one_sided = is_one_sided(a, (uint32_t)v[4].u);
	struct stf_thread *h;

	a->messages++;
	if (takes == STF_RECEIVE_UNKNOWN || takes == STF_SEND_UNKNOWN) {
		a->halves++;
		return 0;
	}
	if (one_sided) {
		return 0;
	}
	h = stf_threads_find(a->t, (uint32_t)v[3].u);
	if (h && takes > 0 && v[1].u != v[3].u) {
		stf_coming_add(&h->coming, (struct stf_partner){ (uint32_t)v[1].u, 0 }, v[0].u + (uint64_t)takes);
	}
	if (a->n_sent && a->now != v[0].u && pass_messages(a) < 0) {
		return -1;
	}
	if (TKM_GROW(a->sent, a->sent_room, a->n_sent + 1) < 0) {
		return -1;
	}
	a->now = v[0].u;
	a->sent[a->n_sent++] = (struct stf_sent){ (uint32_t)v[1].u, (uint32_t)v[3].u, takes, (uint32_t)v[5].u,
		kind_of_message(a, (uint32_t)v[rec->layout->n_fields - 2].u) };
	return 0;
}

/* ---- collective operations ---- */

static struct stf_parts parts_of_operation(const struct stf_record *rec)
{
	struct stf_all_communication a;
	struct stf_all_to_all_communication x;
	struct stf_all_to_one_communication g;
	struct stf_one_to_all_communication b;

	switch (rec->layout->class_id) {
	case STF_ID_all_communication:
		stf_get_all_communication(rec, &a);
		return (struct stf_parts){ a.time, a.start_time, a.delta, NULL, a.size_1_2, 0, a.communicator, a.type,
			NULL };
	case STF_ID_all_to_all_communication:
		stf_get_all_to_all_communication(rec, &x);
		return (struct stf_parts){ x.time, x.start_time, x.delta, x.send_size, x.size_1_4, 0, x.communicator,
			x.type, NULL };
	case STF_ID_all_to_one_communication:
		stf_get_all_to_one_communication(rec, &g);
		return (struct stf_parts){ g.time, g.start_time, g.delta, g.send_size, g.size_1_3, g.receiver,
			g.communicator, g.type, NULL };
	default:
		stf_get_one_to_all_communication(rec, &b);
		return (struct stf_parts){ b.time, b.start_time, b.delta, b.receive_size, b.size_1_3, b.sender,
			b.communicator, b.type, NULL };
	}
}

/* Has the member come, and before that time? */
static int came_before(const struct stf_parts *p, uint32_t i, uint64_t ready)
{
	return p->start[i] != UINT64_MAX && p->time + p->start[i] < ready;
}

/* Members first to last - 1 that began before `ready` may have waited for that member. */
static int add_arrival(struct stf_arrivals *a, const struct stf_parts *p, enum stf_wait_kind kind, uint32_t cause,
	uint32_t first, uint32_t last)
{
	uint64_t ready = p->time + p->start[cause];
	struct stf_arrival *new;
	uint32_t i, n = 0;

	for (i = first; i < last; i++) {
		n += (uint32_t)came_before(p, i, ready);
	}
	if (!n) {
		return 0;
	}
	new = malloc(sizeof(*new) + n * sizeof(new->waiter[0]));
	if (!new || TKM_GROW(a->heap, a->room, a->n + 1) < 0) {
		free(new);
		return -1;
	}
	*new = (struct stf_arrival){ ready, p->willy[cause], 0, kind };
	for (i = first; i < last; i++) {
		if (came_before(p, i, ready)) {
			new->waiter[new->n++] = (struct stf_waiter){ p->willy[i], p->time + p->start[i],
				p->time + p->start[i] + p->delta[i] };
		}
	}
	arrival_heap_add(NULL, a->heap, a->n++, new);
	a->held += n;
	return 0;
}

/* The member before `last` that came last; p->n: none came. */
static uint32_t last_to_come(const struct stf_parts *p, uint32_t last, uint32_t except)
{
	uint32_t i, late = p->n;

	for (i = 0; i < last; i++) {
		if (i != except && p->start[i] != UINT64_MAX && (late == p->n || p->start[i] > p->start[late])) {
			late = i;
		}
	}
	return late;
}

static int add_scan(struct stf_arrivals *a, const struct stf_parts *p)
{
	uint32_t i, late = p->n;
	int rc = 0;

	for (i = 0; i < p->n && rc == 0; i++) {
		rc = late < p->n ? add_arrival(a, p, STF_WAIT_EARLY_SCAN, late, i, i + 1) : 0;
		if (p->start[i] != UINT64_MAX && (late == p->n || p->start[i] > p->start[late])) {
			late = i;
		}
	}
	return rc;
}

/* ---- fences ---- */

/* By how much two stamps may be off against each other, in seconds: one of member i, and the begin of member k. */
static double bound_to_begin(struct stf_arrivals *a, const struct stf_parts *p, uint32_t i, uint64_t stamp, uint32_t k)
{
	struct stf_bounds *b = &a->t->waits.bounds;
	uint32_t mine = stf_willy_process(p->willy[i]), other = stf_willy_process(p->willy[k]);

	return mine == other ? 0 : stf_bounds_at(b, mine, stamp) + stf_bounds_at(b, other, p->time + p->start[k]);
}

enum order { BEFORE, AFTER, UNKNOWN };

/* When did member k begin: before member i left, or after? */
static enum order began(struct stf_arrivals *a, const struct stf_parts *p, uint32_t k, uint32_t i)
{
	uint64_t left = p->start[i] + p->delta[i];
	double bound = bound_to_begin(a, p, i, p->time + left, k), second = a->t->waits.resolution;

	if (p->start[k] > left) {
		return (double)(p->start[k] - left) * second <= bound ? UNKNOWN : AFTER;
	}
	return (double)(left - p->start[k]) * second < bound ? UNKNOWN : BEFORE;
}

/* Member i of a fence that some members left early: the member that it may have waited for. i: none, or the clocks leave it open. */
static uint32_t came_last(struct stf_arrivals *a, const struct stf_parts *p, uint32_t i)
{
	uint32_t k, late = i;

	for (k = 0; k < p->n; k++) {
		enum order order = k == i || p->start[k] == UINT64_MAX ? AFTER : began(a, p, k, i);

		if (order == UNKNOWN) {
			return i;
		}
		late = order == BEFORE && p->start[k] > p->start[late] ? k : late;
	}
	return late;
}

/* A fence need not make its members wait, so each may have waited for those only that came before it left. */
static int add_fence(struct stf_arrivals *a, const struct stf_parts *p)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < p->n && rc == 0; i++) {
		rc = p->start[i] != UINT64_MAX ? add_arrival(a, p, STF_WAIT_FENCE, came_last(a, p, i), i, i + 1) : 0;
	}
	return rc;
}

/* Did all members stay until the last one had begun, as far as the clocks say? */
static int all_stayed(struct stf_arrivals *a, const struct stf_parts *p, uint32_t last)
{
	uint32_t i;

	for (i = 0; i < p->n && (i == last || p->start[i] == UINT64_MAX || began(a, p, last, i) != AFTER); i++) {
	}
	return i == p->n;
}

static int add_arrivals_of(struct stf_arrivals *a, const struct stf_parts *p, enum stf_wait_kind kind)
{
	uint32_t root, late = last_to_come(p, p->n, p->n);

	if (kind == STF_WAIT_FENCE && late < p->n && !all_stayed(a, p, late)) {
		return add_fence(a, p);
	}
	for (root = 0; root < p->n && stf_willy_process(p->willy[root]) != stf_willy_process(p->root); root++) {
	}
	if (stf_begins_add(&a->begins, p, kind, root) < 0) {
		return -1;
	}
	if (kind == STF_WAIT_EARLY_SCAN) {
		return add_scan(a, p);
	}
	if (kind == STF_WAIT_LATE_BROADCAST) {
		return root < p->n && p->start[root] != UINT64_MAX ? add_arrival(a, p, kind, root, 0, p->n) : 0;
	}
	late = last_to_come(p, p->n, kind == STF_WAIT_EARLY_REDUCE ? root : p->n);
	if (late == p->n) {
		return 0;
	}
	return kind == STF_WAIT_EARLY_REDUCE ? root < p->n ? add_arrival(a, p, kind, late, root, root + 1) : 0
					     : add_arrival(a, p, kind, late, 0, p->n);
}

/* ---- how far apart the members begin ---- */

/* The member that was the last to begin, for certain; p->n: that is not known. */
static uint32_t certain_last(struct stf_arrivals *a, const struct stf_parts *p, uint32_t late)
{
	uint32_t before = last_to_come(p, p->n, late);
	double bound;

	if (before == p->n) {
		return p->n;
	}
	bound = bound_to_begin(a, p, late, p->time + p->start[late], before);
	return (double)(p->start[late] - p->start[before]) * a->t->waits.resolution <= bound ? p->n : late;
}

static int count_last(struct stf_arrivals *a, const struct stf_parts *p, uint32_t late, struct stf_spread *s)
{
	const uint32_t key[3] = { p->type, p->communicator, p->willy[late] };
	uint64_t *n = tkm_table_put(&a->lasts, key, sizeof(key), sizeof(*n));

	if (!n) {
		return -1;
	}
	if (++*n > s->last_count) {
		s->last_count = *n;
		s->last = p->willy[late];
	}
	return 0;
}

static int add_spread(struct stf_arrivals *a, const struct stf_parts *p)
{
	const uint32_t key[2] = { p->type, p->communicator };
	struct stf_spread *s = tkm_table_put(&a->spreads, key, sizeof(key), sizeof(*s));
	uint32_t late = last_to_come(p, p->n, p->n), i, last;
	uint64_t first = UINT64_MAX, length;

	if (!s) {
		return -1;
	}
	s->type = p->type;
	s->communicator = p->communicator;
	for (i = 0; i < p->n; i++) {
		if (p->start[i] != UINT64_MAX) {
			first = p->start[i] < first ? p->start[i] : first;
			s->inside += p->delta[i];
		}
	}
	length = p->start[late] - first;
	s->count++;
	s->sum += length;
	if (length > s->worst) {
		s->worst = length;
		s->worst_at = p->time + first;
	}
	last = certain_last(a, p, late);
	s->undecided += last == p->n;
	return last == p->n ? 0 : count_last(a, p, last, s);
}

static void add_coming(const struct stf_arrivals *a, const struct stf_parts *p, const struct stf_members *m)
{
	struct stf_thread *h;
	uint32_t i;

	for (i = 0; m && i < p->n && i < m->n; i++) {
		h = p->start[i] != UINT64_MAX ? stf_threads_find(a->t, m->willy[i]) : NULL;
		if (h) {
			stf_coming_add(&h->coming, (struct stf_partner){ p->communicator, 1 },
				p->time + p->start[i] + p->delta[i]);
		}
	}
}

int stf_arrivals_operation(struct stf_arrivals *a, const struct stf_record *rec)
{
	struct stf_parts p = parts_of_operation(rec);
	const struct stf_members *m = stf_names_members(&a->t->names, p.communicator);
	const struct stf_operation *o = &a->t->names.operation[p.type];
	uint32_t i, seen = 0;

	a->operations++;
	add_coming(a, &p, m);
	if (!m || o->kind < 0 || o->class != rec->layout->class_id) {
		a->no_root++;
		return 0;
	}
	p.n = p.n < m->n ? p.n : m->n;
	p.willy = m->willy;
	for (i = 0; i < p.n; i++) {
		seen += p.start[i] != UINT64_MAX;
	}
	a->incomplete += seen < m->n;
	if (seen > 1 && add_spread(a, &p) < 0) {
		return -1;
	}
	return add_arrivals_of(a, &p, (enum stf_wait_kind)o->kind);
}

static int pass_arrival(struct stf_arrivals *a, const struct stf_arrival *v)
{
	struct stf_thread *cause = stf_threads_find(a->t, v->cause);
	int joins = v->kind == STF_WAIT_BARRIER || v->kind == STF_WAIT_N_TO_N;
	struct stf_need need = { .ready = v->ready,
		.cause = v->cause,
		.cause_function = cause ? stf_thread_busy(cause) : 0,
		.kind = v->kind };
	struct stf_thread *h;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < v->n && rc == 0; i++) {
		/* communicators only name processes */
		h = stf_threads_in_call(a->t, v->waiter[i].willy, v->waiter[i].start);
		need.done = v->waiter[i].end;
		if (h && joins) {
			stf_past_joins(&h->past, (struct stf_meeting){ v->ready, need.done });
		} else if (h) {
			stf_past_meets(&h->past, v->cause, (struct stf_meeting){ v->ready, need.done });
		}
		rc = h ? stf_thread_needs(a->t, h, &need) : 0;
	}
	if (cause && joins) {
		stf_past_joins(&cause->past, (struct stf_meeting){ v->ready, v->ready });
	}
	return rc;
}

int stf_arrivals_pass(struct stf_arrivals *a, uint64_t time)
{
	const struct stf_thread *cause;
	struct stf_arrival *first;
	int rc = 0;

	if (a->n_sent && a->now < time) {
		rc = pass_messages(a);
	}
	if (rc == 0) {
		rc = stf_begins_pass(&a->begins, a->t, time);
	}
	while (rc == 0 && a->n && (a->heap[0]->ready < time || a->held > MOST_HELD)) {
		first = a->heap[0];
		cause = stf_threads_find(a->t, first->cause);
		if (cause && cause->held) {
			break;
		}
		a->heap[0] = a->heap[--a->n];
		arrival_heap_sift(NULL, a->heap, a->n, 0);
		a->held -= first->n;
		rc = pass_arrival(a, first);
		free(first);
	}
	return rc;
}

void stf_arrivals_free(struct stf_arrivals *a)
{
	while (a->n) {
		free(a->heap[--a->n]);
	}
	stf_begins_free(&a->begins);
	tkm_table_free(&a->spreads);
	tkm_table_free(&a->lasts);
	free(a->heap);
	free(a->sent);
}
