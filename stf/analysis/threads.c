/* SPDX-License-Identifier: BSD-3-Clause */
/* What each thread does at the moment of the reading. */
#include "config.h"
#include "stf/analysis/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

int stf_threads_read(struct stf_threads *t, const struct stf_reader *r)
{
	uint32_t i;

	t->n_threads = stf_reader_processes(r, &t->n_processes);
	t->first = calloc((size_t)t->n_processes + 1, sizeof(*t->first));
	for (i = 0; t->first && i < t->n_processes; i++) {
		t->first[i] = t->n;
		t->n += t->n_threads[i] <= 0x8000 ? t->n_threads[i] : 0x8000;
	}
	t->thread = calloc(t->n + 1, sizeof(struct stf_thread *));
	return t->first && t->thread && stf_bounds_read(&t->waits.bounds, r) == 0 && stf_names_read(&t->names, r) == 0
		? 0
		: -1;
}

void stf_threads_free(struct stf_threads *t)
{
	uint64_t i;

	for (i = 0; t->thread && i < t->n; i++) {
		if (t->thread[i]) {
			free(t->thread[i]->stack);
			free(t->thread[i]->sender);
			free(t->thread[i]);
		}
	}
	free(t->thread);
	free(t->first);
	stf_names_free(&t->names);
	stf_waits_free(&t->waits);
}

static struct stf_thread **place_of_thread(const struct stf_threads *t, uint32_t willy)
{
	uint32_t p = stf_willy_process(willy), k = stf_willy_thread(willy);

	return !stf_willy_is_group(willy) && p < t->n_processes && k < t->n_threads[p] ? &t->thread[t->first[p] + k]
										       : NULL;
}

struct stf_thread *stf_threads_find(const struct stf_threads *t, uint32_t willy)
{
	struct stf_thread **at = place_of_thread(t, willy);

	return at ? *at : NULL;
}

struct stf_thread *stf_threads_get(struct stf_threads *t, uint32_t willy)
{
	struct stf_thread **at = place_of_thread(t, willy);

	if (at && !*at) {
		*at = calloc(1, sizeof(**at));
		if (*at) {
			(*at)->sum.willy = willy;
			(*at)->since = t->start;
		}
	}
	return at ? *at : NULL;
}

/* ---- where the time is spent since the last wait ---- */

static void count_busy(struct stf_thread *h, uint64_t time)
{
	uint32_t function = h->depth ? h->stack[h->depth - 1] : 0;
	unsigned i, least = 0;

	for (i = 0; i < STF_MOST_BUSY && h->busy[i].ticks && h->busy[i].function != function; i++) {
		least = h->busy[i].ticks < h->busy[least].ticks ? i : least;
	}
	i = i < STF_MOST_BUSY ? i : least;
	if (h->busy[i].function != function) {
		h->busy[i].function = function;
		h->busy[i].ticks = 0;
	}
	h->busy[i].ticks += time > h->since ? time - h->since : 0;
}

static uint32_t busiest_function(const struct stf_thread *h)
{
	unsigned i, most = 0;

	for (i = 1; i < STF_MOST_BUSY; i++) {
		most = h->busy[i].ticks > h->busy[most].ticks ? i : most;
	}
	return h->busy[most].function;
}

/* ---- waits ---- */

/* When a wait of this call that ends at `to` began. Of calls that looked in vain before it, only the time in them counts, and only
 * if this call looks, too, or receives what they looked for. */
static uint64_t begin_of_wait(const struct stf_call *c, enum stf_wait_kind kind, uint64_t to)
{
	uint64_t waited = c->polled + (to > c->enter ? to - c->enter : 0);

	if (!c->polled || (kind != STF_WAIT_LATE_SENDER && !(c->flags & STF_CALL_POLLS))) {
		return c->enter + c->counted;
	}
	return to < c->polling_since ? to : to - c->polling_since < waited ? c->polling_since : to - waited;
}

/* Adds the time of a call, up to `to`, to the waits. */
static int count_wait(
	struct stf_threads *t, struct stf_thread *h, struct stf_call *c, const struct stf_need *need, uint64_t to)
{
	const struct stf_thread *cause = stf_threads_find(t, need->cause);
	struct stf_one_wait one = { .kind = need->kind,
		.willy = h->sum.willy,
		.function = c->function,
		.scl = c->scl,
		.cause = need->cause,
		.cause_function = need->cause_function,
		.from = begin_of_wait(c, need->kind, to),
		.to = to,
		.ready = need->ready,
		.past = &h->past,
		.cause_past = cause ? &cause->past : NULL };
	int rc;

	if (one.to <= one.from) {
		return 0;
	}
	rc = stf_waits_add(&t->waits, &one);
	if (rc > 0) {
		memset(h->busy, 0, sizeof(h->busy));
	}
	c->counted += one.to - one.from;
	if (!h->sum.ends) {
		*(rc > 0 ? &h->sum.wait : &h->sum.undecided) += one.to - one.from;
	}
	return rc < 0 ? -1 : 0;
}

/* The call that was left at that time; NULL: it is too long ago, or was not recorded. */
static struct stf_call *call_left_at(struct stf_thread *h, uint64_t leave)
{
	unsigned i;

	for (i = 0; i < STF_LAST_CALLS; i++) {
		if (h->last[i].flags && h->last[i].leave == leave) {
			return &h->last[i];
		}
	}
	return NULL;
}

uint32_t stf_thread_busy(const struct stf_thread *h)
{
	return h->call_depth ? h->call.before : h->last[(h->next_last + STF_LAST_CALLS - 1) % STF_LAST_CALLS].before;
}

/* Longer than between two calls that look for one thing: the collector joins those of a millisecond. */
static uint64_t polling_gap(const struct stf_threads *t)
{
	return (uint64_t)(2e-3 / t->waits.resolution);
}

/* Has the thread looked in vain since before this time, and does it go on? */
static int polls_at(const struct stf_threads *t, const struct stf_thread *h, uint64_t time)
{
	return h->call.polled && (h->call_depth || h->polls) && time > h->call.polling_since &&
		(time <= h->call.leave || time - h->call.leave <= polling_gap(t));
}

int stf_thread_needs(struct stf_threads *t, struct stf_thread *h, const struct stf_need *need)
{
	struct stf_call *c = &h->call;

	if (need->done <= need->ready) {
		t->reversed += need->done < need->ready;
		c = call_left_at(h, need->done);
		return c ? count_wait(t, h, c, need, c->leave) : 0;
	}
	if ((!h->call_depth || need->ready <= c->enter) && !polls_at(t, h, need->ready)) {
		return 0; /* the call that completes it begins later */
	}
	/* one that is complete earlier and was possible later explains more */
	while (h->n_needs && h->need[h->n_needs - 1].done >= need->done) {
		h->n_needs--;
	}
	/* one beyond the room completes later than all others, in a later call */
	if (h->n_needs < STF_MOST_NEEDS) {
		h->need[h->n_needs++] = *need;
	}
	return 0;
}

/* ---- late receivers ---- */

void stf_thread_sends(struct stf_thread *h, uint64_t time, uint32_t to, uint64_t received)
{
	if (h->call_depth && h->call.flags & STF_CALL_SENDS && h->call.enter == time) {
		h->received = received;
		h->receiver = to;
	}
}

/* Did the sender wait for h, which received its message in the call c? */
static int count_late_receiver(
	struct stf_threads *t, const struct stf_thread *h, const struct stf_call *c, struct stf_sender *s)
{
	struct stf_thread *from = stf_threads_find(t, s->willy);
	struct stf_need need = { c->enter, s->received, h->sum.willy, c->before, STF_WAIT_LATE_RECEIVER };

	return c->flags & STF_CALL_RECEIVES && from && c->enter > s->call.enter && c->enter <= s->until
		? count_wait(t, from, &s->call, &need, c->enter < s->call.leave ? c->enter : s->call.leave)
		: 0;
}

/* Forgets the senders that had come back before this thread enters its call. */
static void drop_senders(struct stf_thread *h, uint64_t time)
{
	size_t i, n = 0;

	for (i = 0; i < h->n_senders; i++) {
		if (h->sender[i].until >= time) {
			h->sender[n++] = h->sender[i];
		}
	}
	h->n_senders = n;
}

/* By how much stamps of these two threads may disagree, in time-stamp units; 0 if that is not known. */
static uint64_t disagreement(struct stf_threads *t, uint32_t a, uint32_t b, uint64_t time)
{
	struct stf_waits *w = &t->waits;
	double bound = stf_bounds_at(&w->bounds, stf_willy_process(a), time) +
		stf_bounds_at(&w->bounds, stf_willy_process(b), time);

	return bound > 0 && bound < 1 ? (uint64_t)(bound / w->resolution) + 1 : 0;
}

/* A call that sent was left. Had the receiver come by then? If it is still in its call, or is about to enter it, that is known when
 * it leaves it. */
static int look_for_receiver(struct stf_threads *t, const struct stf_thread *h, const struct stf_call *c)
{
	struct stf_thread *to = stf_threads_find(t, h->receiver);
	struct stf_sender s = { *c, h->sum.willy, h->received, c->leave };
	const struct stf_call *left = to ? call_left_at(to, h->received) : NULL;

	if (!to) {
		return 0;
	}
	s.until += disagreement(t, h->sum.willy, h->receiver, c->leave);
	if (left) {
		return count_late_receiver(t, to, left, &s);
	}
	if (to->call_depth && to->call.enter <= c->enter) {
		return 0;
	}
	drop_senders(to, to->call_depth ? to->call.enter : c->leave);
	if (TKM_GROW(to->sender, to->sender_room, to->n_senders + 1) < 0) {
		return -1;
	}
	to->sender[to->n_senders++] = s;
	return 0;
}

static int count_senders(struct stf_threads *t, struct stf_thread *h, const struct stf_call *c)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < h->n_senders && rc == 0; i++) {
		rc = h->sender[i].received == c->leave ? count_late_receiver(t, h, c, &h->sender[i]) : 0;
	}
	drop_senders(h, c->leave);
	return rc;
}

/* ---- events ---- */

static void open_call(struct stf_threads *t, struct stf_thread *h, uint64_t time, uint32_t function, unsigned flags)
{
	int goes_on = h->polls && time - h->call.leave <= polling_gap(t);

	if (!goes_on) {
		h->call.polling_since = time;
		h->call.polled = 0;
		h->n_needs = 0;
	}
	h->polls = 0;
	h->call.enter = time;
	h->call.function = function;
	h->call.before = busiest_function(h);
	h->call.flags = flags;
	h->call.counted = 0;
	h->received = UINT64_MAX;
	h->call_depth = h->depth;
	h->sum.calls++;
	if (flags & STF_CALL_FINALIZE && !h->sum.ends) {
		h->sum.ends = 1;
		h->sum.end = time;
	}
}

static int close_call(struct stf_threads *t, struct stf_thread *h, uint64_t time)
{
	struct stf_call *c = &h->call;
	unsigned i = h->n_needs;
	int rc = 0;

	c->leave = h->left = time;
	h->call_depth = 0;
	if (!h->sum.ends) {
		h->sum.mpi += time - c->enter;
	}
	while (i && h->need[i - 1].done > time) {
		i--;
	}
	if (i) {
		rc = count_wait(t, h, c, &h->need[i - 1], h->need[i - 1].ready < time ? h->need[i - 1].ready : time);
	}
	if (c->flags & STF_CALL_POLLS && !i) {
		h->polls = 1;
		c->polled += time - c->enter;
	}
	if (rc == 0 && h->n_senders) {
		rc = count_senders(t, h, c);
	}
	if (rc == 0 && h->received != UINT64_MAX) {
		rc = look_for_receiver(t, h, c);
	}
	if (c->flags & STF_CALL_INIT) { /* what counts begins here */
		h->is_main = h->sum.begins = 1;
		h->sum.begin = time;
		h->sum.mpi = h->sum.wait = h->sum.undecided = 0;
	}
	h->last[h->next_last++ % STF_LAST_CALLS] = *c;
	return rc;
}

int stf_thread_enter(struct stf_threads *t, uint32_t willy, uint64_t time, uint32_t function, uint32_t scl)
{
	struct stf_thread *h = stf_threads_get(t, willy);
	unsigned flags;

	if (!h) {
		return place_of_thread(t, willy) ? -1 : 0;
	}
	if (TKM_GROW(h->stack, h->room, h->depth + 1) < 0) {
		return -1;
	}
	if (!h->call_depth) {
		count_busy(h, time);
	}
	h->stack[h->depth++] = function;
	h->since = time;
	flags = h->call_depth ? 0 : stf_names_function(&t->names, function);
	if (flags) {
		open_call(t, h, time, function, flags);
		h->call.scl = scl;
	} else if (!h->call_depth) {
		h->polls = 0;
	}
	return 0;
}

int stf_thread_leave(struct stf_threads *t, uint32_t willy, uint64_t time)
{
	struct stf_thread *h = stf_threads_find(t, willy);
	int rc = 0;

	if (!h || !h->depth) {
		return 0;
	}
	if (!h->call_depth) {
		count_busy(h, time);
	} else if (h->depth == h->call_depth) {
		rc = close_call(t, h, time);
	}
	h->depth--;
	h->since = time;
	return rc;
}

void stf_threads_end(struct stf_threads *t, uint64_t time)
{
	uint64_t i;

	for (i = 0; i < t->n; i++) {
		struct stf_thread *h = t->thread[i];

		if (h && h->call_depth) {
			h->sum.open = h->call.function;
			h->sum.open_since = h->call.enter;
			h->sum.mpi += h->sum.ends ? 0 : time - h->call.enter;
		}
		if (h && !h->sum.ends) {
			h->sum.end = time;
		}
		if (h && !h->sum.begins) {
			h->sum.begin = t->start;
		}
	}
}
