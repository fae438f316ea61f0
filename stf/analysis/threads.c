/* SPDX-License-Identifier: BSD-3-Clause */
/* What each thread does at the moment of the reading. */
#include "config.h"
#include "stf/analysis/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* No MPI lets the sender of a shorter message wait for the receiver. */
enum { LOOKED_AT = 64, WAITS_FOR_RECEIVER = 1024 };

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
	t->in_mpi = calloc((size_t)t->n_processes + 1, sizeof(*t->in_mpi));
	return t->first && t->thread && t->in_mpi && stf_bounds_read(&t->waits.bounds, r) == 0 &&
			stf_names_read(&t->names, r) == 0
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
			stf_player_free(&t->thread[i]->play);
			free(t->thread[i]);
		}
	}
	free(t->thread);
	free(t->in_mpi);
	free(t->first);
	stf_names_free(&t->names);
	stf_waits_free(&t->waits);
	stf_paths_free(&t->paths);
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
			(*at)->path = stf_path_begin(&t->paths);
		}
	}
	return at && *at && (*at)->path ? *at : NULL;
}

struct stf_thread *stf_threads_in_call(const struct stf_threads *t, uint32_t willy, uint64_t enter)
{
	uint32_t process = stf_willy_process(willy), k;
	struct stf_thread *h;

	for (k = 0; process < t->n_processes && k < t->n_threads[process]; k++) {
		h = stf_threads_find(t, STF_WILLY(process, k));
		if (h && h->call_depth && h->call.enter == enter) {
			return h;
		}
	}
	return stf_threads_find(t, willy);
}

static struct stf_frame top_of_stack(const struct stf_thread *h)
{
	return h->depth ? h->stack[h->depth - 1] : (struct stf_frame){ 0, 0 };
}

/* ---- the critical path, and how the trace is played ---- */

/* Where the path of a thread is at a time that has just been passed. Returns 0 or -1: no memory. */
static int find_path_point(struct stf_threads *t, struct stf_thread *h, uint64_t time, struct stf_path_point *at)
{
	uint64_t since = h->call_depth ? h->call.enter : h->since;
	const struct stf_frame f = top_of_stack(h);

	at->node = stf_path_branch(&t->paths, &h->path);
	at->rest = (struct stf_path_share){ h->sum.willy, h->call_depth ? h->call.function : f.function,
		h->call_depth ? h->call.scl : f.scl, time > since ? time - since : 0 };
	return at->node ? 0 : -1;
}

static int report_move(struct stf_threads *t, const struct stf_thread *h, uint64_t time, const struct stf_play_times *p)
{
	const struct stf_replay *r = &t->replay;

	t->stopped |= r->moved &&
		r->moved(r->user, h->sum.willy, time, p->at[r->function ? STF_PLAY_CHANGED : STF_PLAY_IDEAL]) != 0;
	return t->stopped ? -1 : 0;
}

/* Time outside MPI, up to that time. */
static int spend_outside(struct stf_threads *t, struct stf_thread *h, uint64_t time)
{
	const struct stf_frame f = top_of_stack(h);
	const struct stf_path_share s = { h->sum.willy, f.function, f.scl, time > h->since ? time - h->since : 0 };

	if (!h->play.begun) { /* a thread begins as late as the first thread of its process is */
		const struct stf_thread *first = stf_threads_find(t, STF_WILLY(stf_willy_process(h->sum.willy), 0));

		h->play.begun = 1;
		h->play.now = (struct stf_play_times){ { h->since, h->since } };
		if (first && first != h && first->play.begun) {
			h->play.now = stf_thread_played(t, first, h->since);
		}
	}
	stf_play_time(&t->replay, &h->play, f.function, s.ticks);
	if (s.ticks && t->replay.function && report_move(t, h, time, &h->play.now) < 0) {
		return -1;
	}
	return stf_path_spend(h->path, &s);
}

struct stf_play_times stf_thread_played(const struct stf_threads *t, const struct stf_thread *h, uint64_t time)
{
	struct stf_player p = { .now = h->play.now };

	if (h->call_depth) { /* a call that sends later than at its begin */
		p.now = h->call.entered;
		p.now.at[STF_PLAY_CHANGED] += time > h->call.enter ? time - h->call.enter : 0;
		return p.now;
	}
	stf_play_time(&t->replay, &p, top_of_stack(h).function, time > h->since ? time - h->since : 0);
	return p.now;
}

static void drop_needs(struct stf_threads *t, struct stf_thread *h, unsigned n)
{
	while (h->n_needs > n) {
		stf_path_drop(&t->paths, h->need[--h->n_needs].at.node);
	}
}

/* ---- where the time is spent since the last wait ---- */

static void count_busy(struct stf_thread *h, uint64_t time)
{
	uint32_t function = top_of_stack(h).function;
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

uint32_t stf_thread_does(const struct stf_thread *h)
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
static uint64_t begin_of_wait(const struct stf_open_call *c, enum stf_wait_kind kind, uint64_t to)
{
	uint64_t waited = c->polled + (to > c->enter ? to - c->enter : 0);

	if (!c->polled ||
		(kind != STF_WAIT_LATE_SENDER && kind != STF_WAIT_WRONG_ORDER && !(c->flags & STF_CALL_POLLS))) {
		return c->enter + c->counted;
	}
	return to < c->polling_since ? to : to - c->polling_since < waited ? c->polling_since : to - waited;
}

/* Adds the time of a call, up to `to`, to the waits. Returns 1: it is one; 0: it is not, or that is undecided; -1: no memory. */
static int count_wait(
	struct stf_threads *t, struct stf_thread *h, struct stf_open_call *c, const struct stf_need *need, uint64_t to)
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
	c->settled += cause ? stf_time_at_work(&cause->coming, one.from, one.to) : one.to - one.from;
	if (!h->sum.ends) {
		*(rc > 0 ? &h->sum.wait : &h->sum.undecided) += one.to - one.from;
	}
	return rc;
}

/* The call that was left at that time; NULL: it is too long ago, or was not recorded. */
static struct stf_open_call *call_left_at(struct stf_thread *h, uint64_t leave)
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
	struct stf_thread *cause = stf_threads_find(t, need->cause);
	struct stf_open_call *c = &h->call;
	struct stf_need *kept;

	if (need->done < need->ready || (need->done == need->ready && !h->held)) {
		t->reversed += need->done < need->ready;
		c = call_left_at(h, need->done);
		return c && count_wait(t, h, c, need, c->leave) < 0 ? -1 : 0;
	}
	if ((!h->call_depth || need->ready <= c->enter) && !polls_at(t, h, need->ready)) {
		return 0; /* the call that completes it begins later */
	}
	/* one that is complete earlier and was possible later explains more */
	while (h->n_needs && h->need[h->n_needs - 1].done >= need->done) {
		drop_needs(t, h, h->n_needs - 1);
	}
	/* one beyond the room completes later than all others, in a later call */
	if (h->n_needs == STF_MOST_NEEDS) {
		return 0;
	}
	kept = &h->need[h->n_needs++];
	*kept = *need;
	kept->at.node = NULL;
	return cause ? find_path_point(t, cause, need->ready, &kept->at) : 0;
}

/* ---- late receivers ---- */

/* Was that the call of the thread in which it started to send at that time? */
static int starts_at(const struct stf_open_call *c, uint64_t time, int is_open)
{
	return c->flags & STF_CALL_STARTS && c->enter <= time && (is_open || time <= c->leave);
}

static void forget_started(const struct stf_threads *t, struct stf_thread *h, unsigned i)
{
	struct stf_thread *to = stf_threads_find(t, h->started[i].to);

	if (to && to->awaited) {
		to->awaited--;
	}
	h->n_started--;
	memmove(&h->started[i], &h->started[i + 1], (h->n_started - i) * sizeof(h->started[0]));
}

static void note_started(const struct stf_threads *t, struct stf_thread *h, uint64_t time, const struct stf_started *s)
{
	struct stf_thread *to = stf_threads_find(t, s->to);
	int found = starts_at(&h->call, time, h->call_depth != 0);
	unsigned i;

	for (i = 0; i < STF_LAST_CALLS && !found; i++) {
		found = starts_at(&h->last[i], time, 0);
	}
	if (!found || !to) {
		return;
	}
	if (h->n_started == STF_MOST_STARTED) {
		forget_started(t, h, 0);
	}
	h->started[h->n_started++] = *s;
	to->awaited++;
}

void stf_thread_sends(struct stf_threads *t, struct stf_thread *h, uint64_t time, const struct stf_started *s)
{
	struct stf_thread *r = stf_threads_find(t, s->to);

	if (h->call_depth && h->call.flags & STF_CALL_SENDS && h->call.enter == time && h->received == UINT64_MAX &&
		!(h->call.flags & STF_CALL_RECEIVES && (s->bytes < WAITS_FOR_RECEIVER || r == h))) {
		if (r) {
			r->awaited++;
		}
		h->received = s->received;
		h->receiver = s->to;
		h->sent_bytes = s->bytes;
	} else if (s->bytes >= WAITS_FOR_RECEIVER && s->received > time) {
		note_started(t, h, time, s);
	}
}

/* Does the call also wait for something else than the receiver of what it sends? */
static int waits_for_more(const struct stf_open_call *c)
{
	return (c->flags & (STF_CALL_COMPLETES | STF_CALL_RECEIVES)) != 0;
}

/* Did such a call come back because the receiver had entered its call, until then at most? It did so soon after that: else it waited
 * for something else. A receiver that had posted its receive before may go on with it only when it calls MPI again. */
static int waits_for_receiver(const struct stf_open_call *c, const struct stf_open_call *receiver, uint64_t until)
{
	uint64_t came = receiver->enter < c->leave ? receiver->enter : c->leave;

	return receiver->flags & (STF_CALL_RECEIVES | STF_CALL_COMPLETES) && receiver->enter > c->enter &&
		receiver->enter <= until && c->leave - came <= came - c->enter;
}

/* May the sender of so many bytes wait for that call of the receiver? Of a short message only if it waits in any case. */
static int may_wait_for(const struct stf_open_call *c, const struct stf_open_call *receiver, uint64_t bytes)
{
	return receiver->flags & STF_CALL_RECEIVES ||
		(receiver->flags & STF_CALL_COMPLETES && (c->flags & STF_CALL_SYNC || bytes >= WAITS_FOR_RECEIVER));
}

/* A call that completes was left: of what the thread had started to send, finds the message whose receiver came last. */
static void choose_receiver(const struct stf_threads *t, struct stf_thread *h, const struct stf_open_call *c)
{
	uint64_t last = 0;
	unsigned i;

	for (i = 0; i < h->n_started; i++) {
		struct stf_thread *to = stf_threads_find(t, h->started[i].to);
		const struct stf_open_call *r = to ? call_left_at(to, h->started[i].received) : NULL;

		r = r ? r : to && to->call_depth ? &to->call : NULL;
		if (r && r->enter > last && waits_for_receiver(c, r, c->leave)) {
			last = r->enter;
			h->received = h->started[i].received;
			h->receiver = h->started[i].to;
			h->sent_bytes = h->started[i].bytes;
		}
	}
	for (i = h->n_started; i-- > 0;) {
		if (h->started[i].received == h->received && h->started[i].to == h->receiver) {
			stf_threads_find(t, h->receiver)->awaited++; /* as in a call that sends */
			forget_started(t, h, i);
		} else if (h->started[i].received <= c->leave) {
			forget_started(t, h, i);
		}
	}
}

/* The end of the sender's call came because h had entered its call c. */
static int follow_receiver(
	struct stf_threads *t, struct stf_thread *h, const struct stf_open_call *c, const struct stf_sender *s)
{
	struct stf_path_point at = { .node = c->path };
	const struct stf_path_share rest = { s->willy, s->call.function, s->call.scl, s->call.leave - c->enter };

	if (!s->path || (!at.node && c != &h->call)) {
		return 0;
	}
	if (!at.node) { /* it is still in the call, so its path is that of the begin */
		at.node = stf_path_branch(&t->paths, &h->path);
	}
	if (!at.node || stf_path_replace(&t->paths, s->path, &at) < 0 || stf_path_spend(s->path, &rest) < 0) {
		return -1;
	}
	if (at.node != c->path) {
		stf_path_drop(&t->paths, at.node);
	}
	return 0;
}

/* Did the sender wait for h, which received its message in the call c? */
static int count_late_receiver(
	struct stf_threads *t, struct stf_thread *h, const struct stf_open_call *c, struct stf_sender *s)
{
	struct stf_thread *from = stf_threads_find(t, s->willy);
	struct stf_need need = { .ready = c->enter,
		.done = s->received,
		.cause = h->sum.willy,
		.cause_function = c->before,
		.kind = STF_WAIT_LATE_RECEIVER };
	int rc;

	if (!may_wait_for(&s->call, c, s->bytes) || !from || c->enter <= s->call.enter || c->enter > s->until ||
		((waits_for_more(&s->call) || !(c->flags & STF_CALL_RECEIVES)) &&
			!waits_for_receiver(&s->call, c, s->until))) {
		return 0;
	}
	rc = count_wait(t, from, &s->call, &need, c->enter < s->call.leave ? c->enter : s->call.leave);
	stf_past_meets(&from->past, h->sum.willy, (struct stf_meeting){ c->enter, s->call.leave });
	return rc > 0 && c->enter < s->call.leave ? follow_receiver(t, h, c, s) : rc < 0 ? -1 : 0;
}

/* Forgets the senders that had come back before this thread enters its call. */
static void drop_senders(struct stf_threads *t, struct stf_thread *h, uint64_t time)
{
	size_t i, n = 0;

	for (i = 0; i < h->n_senders; i++) {
		if (h->sender[i].until >= time) {
			h->sender[n++] = h->sender[i];
		} else {
			stf_path_drop(&t->paths, h->sender[i].path);
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
static int look_for_receiver(struct stf_threads *t, struct stf_thread *h, const struct stf_open_call *c)
{
	struct stf_thread *to = stf_threads_find(t, h->receiver);
	struct stf_sender s = {
		.call = *c, .willy = h->sum.willy, .received = h->received, .bytes = h->sent_bytes, .until = c->leave
	};
	const struct stf_open_call *left = to ? call_left_at(to, h->received) : NULL;
	int rc;

	if (!to || (!left && to->call_depth && to->call.enter <= c->enter)) {
		return 0;
	}
	s.until += disagreement(t, h->sum.willy, h->receiver, c->leave);
	if (c->leave > c->enter && !(s.path = stf_path_branch(&t->paths, &h->path))) {
		return -1;
	}
	if (left) {
		rc = count_late_receiver(t, to, left, &s);
		stf_path_drop(&t->paths, s.path);
		return rc;
	}
	drop_senders(t, to, to->call_depth ? to->call.enter : c->leave);
	if (TKM_GROW(to->sender, to->sender_room, to->n_senders + 1) < 0) {
		return -1;
	}
	to->sender[to->n_senders++] = s;
	return 0;
}

static int count_senders(struct stf_threads *t, struct stf_thread *h, const struct stf_open_call *c)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < h->n_senders && rc == 0; i++) {
		rc = h->sender[i].received == c->leave ? count_late_receiver(t, h, c, &h->sender[i]) : 0;
	}
	drop_senders(t, h, c->leave);
	return rc;
}

/* The call that sent was left. */
static void forget_receiver(const struct stf_threads *t, const struct stf_thread *h)
{
	struct stf_thread *to = stf_threads_find(t, h->receiver);

	if (to && to->awaited) {
		to->awaited--;
	}
}

/* How a call that sends was played: did it wait for its receiver? While the receiver is in its call, it is not known whether that one
 * receives the message; a call that came back soon after that one had begun did wait for it. */
static void play_late_receiver(
	const struct stf_threads *t, const struct stf_thread *h, const struct stf_open_call *c, struct stf_play_call *p)
{
	struct stf_thread *to = stf_threads_find(t, h->receiver);
	const struct stf_open_call *left = to ? call_left_at(to, h->received) : NULL, *r;

	r = left ? left : to && to->call_depth ? &to->call : NULL;
	if (r && may_wait_for(c, r, h->sent_bytes) && r->enter <= c->leave &&
		((c->flags & STF_CALL_SYNC && r->flags & STF_CALL_RECEIVES) ||
			(r->enter > c->enter &&
				((left && r->flags & STF_CALL_RECEIVES && !waits_for_more(c)) ||
					c->leave - r->enter <= r->enter - c->enter)))) {
		p->waited = 1;
		p->receiver_came = r->enter;
		p->receiver = r->entered;
	}
}

/* Plays the call, in the time that it needs then. */
static int play_call(struct stf_threads *t, struct stf_thread *h, const struct stf_open_call *c)
{
	struct stf_play_call p = { c->enter, c->leave, c->entered, (c->flags & STF_CALL_FILES) != 0, 0, 0, { { 0 } } };
	uint64_t between = c->enter - c->polling_since - c->polled;

	if (c->polled && h->play.n && h->play.heap[0].done <= c->leave && c->polling_since + c->polled <= c->enter) {
		/* calls that look in vain are made until it is there */
		p.entered = c->polling;
		p.entered.at[STF_PLAY_IDEAL] += between;
		p.entered.at[STF_PLAY_CHANGED] += between;
	}
	if (h->received != UINT64_MAX) {
		play_late_receiver(t, h, c, &p);
	}
	stf_play_leave(&t->replay, &h->play, &p);
	return report_move(t, h, c->enter, &p.entered) < 0 ? -1 : report_move(t, h, c->leave, &h->play.now);
}

/* The path of a call that was left: from its begin, or from what it waited for last. */
static int follow_call(
	struct stf_threads *t, struct stf_thread *h, const struct stf_open_call *c, const struct stf_need *need)
{
	uint64_t from = c->enter;
	struct stf_path_share s = { h->sum.willy, c->function, c->scl, 0 };

	if (need && need->at.node) {
		from = need->ready < c->leave ? need->ready : c->leave;
		if (stf_path_follow(&t->paths, &h->path, &need->at) < 0) {
			return -1;
		}
	}
	s.ticks = c->leave - from;
	return stf_path_spend(h->path, &s) < 0 ? -1 : stf_path_contract(&t->paths, h->path);
}

/* ---- events ---- */

static int open_call(struct stf_threads *t, struct stf_thread *h, uint64_t time, uint32_t function, unsigned flags)
{
	int goes_on = h->polls && time - h->call.leave <= polling_gap(t);

	h->call.entered = h->play.now;
	if (!goes_on) {
		h->call.polling_since = time;
		h->call.polling = h->play.now;
		h->call.polled = 0;
		drop_needs(t, h, 0);
	}
	h->polls = 0;
	h->call.enter = time;
	h->call.function = function;
	h->call.before = stf_thread_does(h);
	h->call.flags = flags;
	h->call.counted = h->call.settled = 0;
	h->received = UINT64_MAX;
	h->call_depth = h->depth;
	h->sum.calls++;
	t->lock_alls += (flags & STF_CALL_LOCKS_ALL) != 0;
	t->beside += t->in_mpi[stf_willy_process(h->sum.willy)]++ != 0;
	h->call.path = NULL;
	if (flags & (STF_CALL_RECEIVES | STF_CALL_COMPLETES) && h->awaited &&
		!(h->call.path = stf_path_branch(&t->paths, &h->path))) {
		return -1;
	}
	if (flags & STF_CALL_FINALIZE && !h->sum.ends) {
		h->sum.ends = 1;
		h->sum.end = time;
		h->play.end = h->play.now;
		h->path_end = stf_path_branch(&t->paths, &h->path);
		return h->path_end ? 0 : -1;
	}
	return 0;
}

/* What counts begins here. */
static int begin_to_count(struct stf_threads *t, struct stf_thread *h, uint64_t time)
{
	h->is_main = h->sum.begins = 1;
	h->sum.begin = time;
	h->sum.mpi = h->sum.wait = h->sum.undecided = 0;
	h->coming = (struct stf_coming){ .n = 0 };
	h->play.now = (struct stf_play_times){ { time, time } };
	stf_path_drop(&t->paths, h->path);
	h->path = stf_path_begin(&t->paths);
	return !h->path ? -1 : t->replay.moved ? report_move(t, h, time, &h->play.now) : 0;
}

/* Did the call wait for a message although another one had been sent before, which a later call receives? Looks at some of those that
 * come. */
static void mark_wrong_order(const struct stf_thread *h, const struct stf_open_call *c, struct stf_need *need)
{
	size_t i;

	for (i = 0; need->kind == STF_WAIT_LATE_SENDER && i < h->play.n && i < LOOKED_AT; i++) {
		const struct stf_play_arrival *a = &h->play.heap[i];

		if (a->is_message && a->done > c->leave && a->ready < need->ready) {
			need->kind = STF_WAIT_WRONG_ORDER;
		}
	}
}

static int close_call(struct stf_threads *t, struct stf_thread *h, uint64_t time)
{
	struct stf_open_call *c = &h->call, *last = &h->last[h->next_last++ % STF_LAST_CALLS];
	unsigned i = h->n_needs;
	int rc, waited = 0;

	c->leave = h->left = time;
	h->call_depth = 0;
	t->in_mpi[stf_willy_process(h->sum.willy)]--;
	if (!h->sum.ends) {
		h->sum.mpi += time - c->enter;
	}
	while (i && h->need[i - 1].done > time) {
		i--;
	}
	if (h->n_started && c->flags & STF_CALL_COMPLETES) {
		choose_receiver(t, h, c);
	}
	rc = h->n_senders ? count_senders(t, h, c) : 0;
	if (rc == 0 && i) {
		mark_wrong_order(h, c, &h->need[i - 1]);
		waited =
			count_wait(t, h, c, &h->need[i - 1], h->need[i - 1].ready < time ? h->need[i - 1].ready : time);
	}
	rc = rc < 0 || waited < 0 || follow_call(t, h, c, waited ? &h->need[i - 1] : NULL) < 0 || play_call(t, h, c) < 0
		? -1
		: 0;
	if (c->flags & STF_CALL_POLLS && !i) {
		h->polls = 1;
		c->polled += time - c->enter;
	}
	if (rc == 0 && h->received != UINT64_MAX) {
		rc = look_for_receiver(t, h, c);
		forget_receiver(t, h);
	}
	if (rc == 0 && c->flags & STF_CALL_INIT) {
		h->init = *c;
		rc = begin_to_count(t, h, time);
	} else if (c->flags & STF_CALL_FINALIZE) {
		h->final = *c;
	}
	stf_path_drop(&t->paths, last->path);
	c->settled = c->flags & STF_CALL_FILES ? time - c->enter : c->settled;
	*last = *c;
	return rc < 0 || h->sum.ends || c->flags & STF_CALL_INIT
		? rc
		: stf_waits_unsettled(&t->waits, h->sum.willy, &h->coming, c->enter, time,
			  time - c->enter > c->settled ? time - c->enter - c->settled : 0);
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
		if (spend_outside(t, h, time) < 0) {
			return -1;
		}
	}
	h->stack[h->depth++] = (struct stf_frame){ function, scl };
	h->since = time;
	flags = h->call_depth ? 0 : stf_names_function(&t->names, function);
	if (flags & STF_CALL_MPI) {
		h->call.scl = scl;
		return open_call(t, h, time, function, flags);
	}
	if (!h->call_depth) {
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
		rc = spend_outside(t, h, time);
	} else if (h->depth == h->call_depth) {
		rc = close_call(t, h, time);
	}
	h->depth--;
	h->since = time;
	return rc;
}

/* A thread that has not called MPI_Finalize. */
static int end_thread(struct stf_threads *t, struct stf_thread *h, uint64_t time)
{
	struct stf_path_share s = { h->sum.willy, h->call.function, h->call.scl, 0 };

	h->sum.end = time;
	if (h->call_depth) {
		h->sum.mpi += time - h->call.enter;
		s.ticks = time > h->call.enter ? time - h->call.enter : 0;
		if (stf_path_spend(h->path, &s) < 0) {
			return -1;
		}
	} else if (spend_outside(t, h, time) < 0) {
		return -1;
	}
	h->play.end = h->play.now;
	return h->call_depth ? report_move(t, h, time, &h->play.now) : 0;
}

int stf_threads_end(struct stf_threads *t, uint64_t time)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; i < t->n && rc == 0; i++) {
		struct stf_thread *h = t->thread[i];

		if (h && h->call_depth && h->call.flags & STF_CALL_FINALIZE) {
			h->final = h->call;
			h->final.leave = time;
		}
		if (h && h->call_depth) {
			h->sum.open = h->call.function;
			h->sum.open_since = h->call.enter;
		}
		if (h && !h->sum.ends) {
			rc = end_thread(t, h, time);
		}
		if (h && !h->sum.begins) {
			h->sum.begin = t->start;
		}
	}
	return rc;
}
