/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up waits. */
#include "config.h"
#include "stf/analysis/waits.h"

#include <math.h>
#include <string.h>

/* The bound of the distance of two stamps, in seconds: both clocks may be off in opposite directions. */
static double bound_of_wait(struct stf_waits *w, const struct stf_one_wait *one)
{
	uint32_t a = stf_willy_process(one->willy), b = stf_willy_process(one->cause);

	return a == b ? 0 : stf_bounds_at(&w->bounds, a, one->from) + stf_bounds_at(&w->bounds, b, one->ready);
}

/* Adds a stretch of time to the periods in which it is. */
static void add_to_periods(const struct stf_waits *w, uint64_t period[STF_PERIODS], uint64_t from, uint64_t to)
{
	uint64_t k = from > w->start ? (from - w->start) / w->period : 0, end;

	for (; from < to; from = end, k++) {
		k = k < STF_PERIODS - 1 ? k : STF_PERIODS - 1;
		end = k == STF_PERIODS - 1 || to < w->start + (k + 1) * w->period ? to : w->start + (k + 1) * w->period;
		period[k] += end - from;
	}
}

static int add_delay(struct stf_waits *w, const struct stf_past_wait *part, uint32_t cause)
{
	const uint32_t key[3] = { part->willy, part->function };
	struct stf_delay_periods *p = stf_recent_put(&w->recent_delays, &w->delays, key, sizeof(*p));
	struct stf_delay *d = p ? &p->sum : NULL;

	if (!p) {
		return -1;
	}
	if (!d->count++) {
		d->willy = part->willy;
		d->function = part->function;
		d->first = part->from;
	}
	*(part->willy == cause ? &d->direct : &d->propagated) += part->to - part->from;
	d->first = part->from < d->first ? part->from : d->first;
	d->last = part->to > d->last ? part->to : d->last;
	add_to_periods(w, p->period, part->from, part->to);
	return 0;
}

/* Adds a part of a wait to its cause, and to what the waiting thread did. */
static int add_wait_part(struct stf_waits *w, const struct stf_one_wait *one, uint64_t from, uint64_t to,
	uint32_t willy, uint32_t function)
{
	struct stf_past_wait part = { from, to, one->cause, willy, function };

	if (to <= from) {
		return 0;
	}
	one->past->wait[one->past->next++ % STF_PAST_WAITS] = part;
	return add_delay(w, &part, one->cause);
}

/* ---- who is the first cause ---- */

void stf_past_meets(struct stf_past *p, uint32_t willy, struct stf_meeting m)
{
	unsigned i;

	for (i = 0; i < STF_PAST_MEETINGS && (p->met[i].willy != willy || !p->met[i].last.mine); i++) {
	}
	if (i == STF_PAST_MEETINGS) {
		i = p->next_met++ % STF_PAST_MEETINGS;
		p->met[i].willy = willy;
		p->met[i].last = p->met[i].before = (struct stf_meeting){ 0, 0 };
	}
	if (p->met[i].last.mine <= m.theirs) {
		p->met[i].before = p->met[i].last;
	}
	p->met[i].last = m;
}

void stf_past_joins(struct stf_past *p, struct stf_meeting m)
{
	p->join[p->next_join++ % STF_PAST_JOINS] = m;
}

/* The later one, of those that were over when the wait began. */
static void take_meeting(struct stf_meeting *best, const struct stf_meeting *m, const struct stf_one_wait *one)
{
	if (m->mine && m->mine <= one->from && m->theirs < one->ready && m->theirs > best->theirs) {
		*best = *m;
	}
}

/* A meeting of the cause with the thread, if the cause waited for the thread and for nobody later: then what it waited before that was
 * for the thread, and the thread waits now for what it has done since. */
static void take_return(struct stf_meeting *best, const struct stf_meeting *m, const struct stf_one_wait *one)
{
	const struct stf_past *q = one->cause_past;
	unsigned i;

	for (i = 0; i < STF_PAST_WAITS; i++) {
		if (q->wait[i].cause == one->willy && q->wait[i].from < m->theirs && m->theirs <= q->wait[i].to) {
			take_meeting(best, &(struct stf_meeting){ .theirs = m->mine, .mine = m->theirs }, one);
		}
	}
}

/* When the thread and the one that it waits for met last. mine 0: not known. */
static struct stf_meeting last_meeting(const struct stf_one_wait *one)
{
	const struct stf_past *p = one->past, *q = one->cause_past;
	struct stf_meeting best = { 0, 0 };
	unsigned i, k;

	for (i = 0; i < STF_PAST_MEETINGS; i++) {
		if (p->met[i].willy == one->cause) {
			take_meeting(&best, &p->met[i].last, one);
			take_meeting(&best, &p->met[i].before, one);
		}
		if (q->met[i].willy == one->willy) {
			take_return(&best, &q->met[i].last, one);
			take_return(&best, &q->met[i].before, one);
		}
	}
	for (i = 0; i < STF_PAST_JOINS; i++) {
		for (k = 0; k < STF_PAST_JOINS; k++) {
			if (p->join[i].theirs == q->join[k].theirs && q->join[k].mine) {
				take_meeting(&best, &p->join[i], one);
			}
		}
	}
	return best;
}

/* Of a past wait, the part between two times. */
static uint64_t part_between(const struct stf_past_wait *o, uint64_t from, uint64_t to)
{
	from = o->from > from ? o->from : from;
	to = o->to < to ? o->to : to;
	return from < to ? to - from : 0;
}

/* What a thread waited between two times. *known: all of these waits are there. */
static uint64_t waited_between(const struct stf_past *p, uint64_t from, uint64_t to, int *known)
{
	uint64_t sum = 0, first = UINT64_MAX;
	unsigned i;

	for (i = 0; i < STF_PAST_WAITS; i++) {
		sum += part_between(&p->wait[i], from, to);
		first = p->wait[i].from < first ? p->wait[i].from : first;
	}
	*known = *known && (p->next <= STF_PAST_WAITS || first <= from);
	return sum;
}

/* The cause came late for two reasons: since both met it had done more than the thread that waits, and it had waited itself. The second
 * part belongs to those that it waited for. Returns 0: it is not known when they met. */
static int divide_wait(struct stf_waits *w, const struct stf_one_wait *one, int *rc)
{
	struct stf_meeting m = last_meeting(one);
	const struct stf_past *p = one->cause_past;
	int known = m.mine != 0;
	uint64_t inherited = known ? waited_between(p, m.theirs, one->ready, &known) : 0, at = one->from,
		 worked = one->ready - m.theirs - inherited, mine = one->from - m.mine;
	double all;
	unsigned i;

	mine -= known ? waited_between(one->past, m.mine, one->from, &known) : 0;
	if (!known) {
		return 0;
	}
	all = (double)inherited + (worked > mine ? (double)(worked - mine) : 0);
	for (i = 0; i < STF_PAST_WAITS && inherited && *rc == 0; i++) {
		const struct stf_past_wait o = p->wait[(p->next + i) % STF_PAST_WAITS];
		uint64_t part = (uint64_t)((double)part_between(&o, m.theirs, one->ready) / all *
			(double)(one->to - one->from));

		*rc = add_wait_part(w, one, at, at + part, o.willy, o.function);
		at += part;
	}
	*rc = *rc < 0 ? -1 : add_wait_part(w, one, at, one->to, one->cause, one->cause_function);
	return 1;
}

/* The time in which the cause waited itself belongs to the threads that it waited for. Its past waits are in the order of time and
 * apart from each other. */
static int add_causes(struct stf_waits *w, const struct stf_one_wait *one)
{
	const struct stf_past *p = one->cause_past;
	uint64_t at = one->from;
	unsigned i;
	int rc = 0;

	if (p && divide_wait(w, one, &rc)) {
		return rc;
	}
	for (i = 0; p && i < STF_PAST_WAITS && rc == 0; i++) {
		const struct stf_past_wait *o = &p->wait[(p->next + i) % STF_PAST_WAITS];
		uint64_t from = o->from > at ? o->from : at, to = o->to < one->to ? o->to : one->to;

		if (from < to) {
			rc = add_wait_part(w, one, at, from, one->cause, one->cause_function);
			rc |= add_wait_part(w, one, from, to, o->willy, o->function);
			at = to;
		}
	}
	return rc < 0 ? -1 : add_wait_part(w, one, at, one->to, one->cause, one->cause_function);
}

/* ---- waits ---- */

static void pass_on_wait(const struct stf_waits *w, const struct stf_one_wait *one, double bound, int decided)
{
	const struct stf_single_wait s = { .kind = one->kind,
		.willy = one->willy,
		.function = one->function,
		.scl = one->scl,
		.cause = one->cause,
		.cause_function = one->cause_function,
		.from = one->from,
		.to = one->to,
		.bound = bound,
		.decided = decided };

	if (w->each) {
		w->each(w->user, &s);
	}
}

int stf_waits_add(struct stf_waits *w, const struct stf_one_wait *one)
{
	const uint32_t key[3] = { one->kind, one->willy, one->function };
	struct stf_wait *row = stf_recent_put(&w->recent_rows, &w->rows, key, sizeof(*row));
	uint64_t length = one->to - one->from;
	double bound = bound_of_wait(w, one);
	int decided;

	if (!row) {
		return -1;
	}
	row->kind = one->kind;
	row->willy = one->willy;
	row->function = one->function;
	decided = !((double)length * w->resolution <= bound);
	pass_on_wait(w, one, bound, decided);
	if (!decided) {
		row->undecided_count++;
		row->undecided_sum += length;
		return 0;
	}
	row->count++;
	row->sum += length;
	if (length > row->worst) {
		row->worst = length;
		row->worst_at = one->from;
		row->worst_bound = bound;
		row->scl = one->scl;
		row->cause = one->cause;
		row->cause_function = one->cause_function;
	}
	return one->past && add_causes(w, one) < 0 ? -1 : 1;
}

/* ---- calls in which some thread waits for an unknown one ---- */

void stf_coming_add(struct stf_coming *c, struct stf_partner with, uint64_t done)
{
	if (c->n == STF_MOST_COMING) {
		memmove(&c->one[0], &c->one[1], --c->n * sizeof(c->one[0]));
	}
	c->one[c->n].done = done;
	c->one[c->n++].with = with;
}

static int add_unsettled(struct stf_waits *w, uint32_t willy, struct stf_coming *c, struct stf_partner with, unsigned k,
	uint64_t unsettled)
{
	const uint32_t key[3] = { willy, with.id, with.is_communicator };
	struct stf_unsettled *u = tkm_table_find(&w->unsettled, key, sizeof(key));

	if (!u && c->partners == STF_MOST_PARTNERS) {
		return 0;
	}
	if (!u) {
		c->partners++;
		u = tkm_table_put(&w->unsettled, key, sizeof(key), sizeof(*u));
	}
	if (!u) {
		return -1;
	}
	u->willy = willy;
	u->with = with;
	u->period[k] += unsettled;
	return 0;
}

uint64_t stf_time_at_work(const struct stf_coming *c, uint64_t from, uint64_t to)
{
	uint64_t rest = to - from;
	unsigned i;

	for (i = 0; i < STF_PAST_STRETCHES; i++) {
		uint64_t since = c->stretch[i].from > from ? c->stretch[i].from : from;
		uint64_t until = c->stretch[i].to < to ? c->stretch[i].to : to,
			 part = until > since ? until - since : 0;

		part = part < c->stretch[i].unsettled ? part : c->stretch[i].unsettled;
		rest -= part < rest ? part : rest;
	}
	return rest;
}

/* Short calls soon after a long one belong to its stretch: fifteen sixteenths of it are in MPI. */
static void note_stretch(struct stf_coming *c, uint64_t enter, uint64_t leave, uint64_t unsettled)
{
	unsigned last = (c->next_stretch + STF_PAST_STRETCHES - 1) % STF_PAST_STRETCHES;

	if (c->stretch[last].to &&
		(leave - c->stretch[last].from) / 16 * 15 <= c->stretch[last].unsettled + unsettled) {
		c->stretch[last].to = leave;
		c->stretch[last].unsettled += unsettled;
	} else if (unsettled) {
		c->stretch[c->next_stretch].from = enter;
		c->stretch[c->next_stretch].to = leave;
		c->stretch[c->next_stretch].unsettled = unsettled;
		c->next_stretch = (c->next_stretch + 1) % STF_PAST_STRETCHES;
	}
}

int stf_waits_unsettled(
	struct stf_waits *w, uint32_t willy, struct stf_coming *c, uint64_t enter, uint64_t leave, uint64_t unsettled)
{
	uint64_t period = leave > w->start ? (leave - w->start) / w->period : 0;
	unsigned k = period < STF_PERIODS ? (unsigned)period : STF_PERIODS - 1, i, j, n = 0;
	int rc = 0;

	c->mpi[k] += leave - enter;
	note_stretch(c, enter, leave, unsettled);
	for (i = 0; i < c->n; i++) {
		if (c->one[i].done > leave) {
			c->one[n++] = c->one[i];
			continue;
		}
		for (j = i + 1; j < c->n &&
			(c->one[j].done > leave || c->one[j].done <= enter ||
				memcmp(&c->one[j].with, &c->one[i].with, sizeof(c->one[i].with)) != 0);
			j++) {
		}
		if (rc == 0 && unsettled && c->one[i].done > enter && j == c->n) { /* the last one with this partner */
			rc = add_unsettled(w, willy, c, c->one[i].with, k, unsettled);
		}
	}
	c->n = n;
	return rc;
}

void stf_waits_free(struct stf_waits *w)
{
	tkm_table_free(&w->rows);
	tkm_table_free(&w->unsettled);
	tkm_table_free(&w->delays);
	stf_bounds_free(&w->bounds);
}
