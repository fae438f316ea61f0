/* SPDX-License-Identifier: BSD-3-Clause */
/* The one thread that the others wait for. In a job whose ranks have equal work each is the last one now and then, and on a busy node
 * one of them for a while. So a thread is named only if the others wait for it most of the time, noticeably, and again and again. */
#include "config.h"
#include "stf/analysis/culprit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stf/analysis/processor.h"

/* Of n ranks with equal work each causes 1 / n of the waits; one that alone is slow causes all of them. Named is a thread that is three
 * quarters of the way. On a node with two processors and twelve programs that want one, 24 jobs with equal work had 7 names with half
 * the way and 2 % of the time, and 1 with these two limits; 24 with one rank of twice the work were all right with both. */
static const double LEAST_EXCESS = 0.75;
/* This share of their time the others must lose on average; less is not worth a name. */
static const double LEAST_LOSS = 0.05;
/* The periods with noticeable waits in which the thread must have caused most of them; 0.5 is chance between two ranks. */
static const double LEAST_PERIODS = 0.75;
/* It must be so in that share of all periods: a pause of a rank is no slow rank. */
static const double LEAST_TIME = 0.125;
/* A thread was slow from the first period on that has this share of its worst period. */
static const double BEGIN = 0.25;
/* How far a delay is followed from one thread to the next. */
enum { MOST_HANDS = 64 };

struct suspect {
	uint32_t willy, function; /* where it caused most */
	uint64_t sum, most;       /* most: in that function */
	uint64_t period[STF_PERIODS];
	double own; /* the part of the sum that does not come from its lack of a processor, for certain */
};

/* What all threads caused. */
struct caused {
	struct tkm_table suspects;
	const struct suspect *top; /* by its sum, or by its own part */
	double total, period[STF_PERIODS];
	double n; /* threads that wait for each other */
};

static int add_suspect(struct caused *c, const struct stf_delay_periods *d)
{
	uint64_t sum = d->sum.direct + d->sum.propagated;
	struct suspect *s = tkm_table_put(&c->suspects, &d->sum.willy, sizeof(d->sum.willy), sizeof(*s));
	unsigned k;

	if (!s) {
		return -1;
	}
	s->willy = d->sum.willy;
	if (sum > s->most) {
		s->most = sum;
		s->function = d->sum.function;
	}
	s->sum += sum;
	for (k = 0; k < STF_PERIODS; k++) {
		s->period[k] += d->period[k];
	}
	return 0;
}

/* Adds up what the threads caused: by themselves, or with their lack of a processor. Each of the others waits for that time of a thread at
 * most. A thread that the others wait for may lack one without fault, and while they wait they may lack one, too, in calls that look again
 * and again: so the difference between the two says nothing. */
static void sum_up(struct caused *c, int own, const struct stf_analysis *a, uint32_t processes, const double *without)
{
	struct suspect *s = NULL;
	unsigned k;

	c->top = NULL;
	c->total = 0;
	memset(c->period, 0, sizeof(c->period));
	while ((s = tkm_table_next(&c->suspects, s))) {
		uint32_t process = stf_willy_process(s->willy);
		double lacked = own && process < processes && !isnan(without[process]) ? without[process] : 0;

		s->own = (double)s->sum - (c->n - 1) * lacked / a->resolution;
		s->own = s->own > 0 ? s->own : 0;
		c->total += s->own;
		for (k = 0; k < STF_PERIODS && s->sum; k++) {
			c->period[k] += (double)s->period[k] * s->own / (double)s->sum;
		}
		c->top = !c->top || s->own > c->top->own ? s : c->top;
	}
}

/* Is the thread the one that others wait for in most of the periods in which they wait? */
static int is_lasting(const struct caused *c, double least, double periods)
{
	unsigned k, waits = 0, own = 0;
	double worst = 0, part = c->top->own / (double)c->top->sum;

	for (k = 0; k < STF_PERIODS; k++) {
		worst = (double)c->top->period[k] * part > worst ? (double)c->top->period[k] * part : worst;
	}
	for (k = 0; k < STF_PERIODS; k++) {
		if (c->period[k] >= least && c->period[k] >= BEGIN * worst) {
			waits++;
			own += 2 * (double)c->top->period[k] * part >= c->period[k];
		}
	}
	return waits && own >= LEAST_PERIODS * waits && own >= LEAST_TIME * periods;
}

/* The begin of the first period with much of it, and the end of the last one. */
static void find_time(struct stf_analysis *a, const struct stf_threads *t, const struct suspect *s)
{
	struct stf_culprit *c = &a->culprit;
	uint64_t worst = 0, length = t->waits.period;
	unsigned k, first = STF_PERIODS, last = 0;

	for (k = 0; k < STF_PERIODS; k++) {
		worst = s->period[k] > worst ? s->period[k] : worst;
	}
	for (k = 0; k < STF_PERIODS; k++) {
		if ((double)s->period[k] >= BEGIN * (double)worst) {
			first = first == STF_PERIODS ? k : first;
			last = k;
		}
	}
	c->since = t->start + first * length;
	c->until = t->start + (last + 1) * length;
	c->since = c->since < a->begin ? a->begin : c->since;
	c->until = c->until > a->finish ? a->finish : c->until;
}

/* Do the others wait for one thread most of the time, noticeably and again and again? */
static int is_slow(const struct caused *c, const struct stf_analysis *a, const struct stf_threads *t)
{
	double run = (double)(a->finish - a->begin), equal = 1 / c->n;

	return c->top && c->total > 0 && c->top->own / c->total - equal >= LEAST_EXCESS * (1 - equal) &&
		c->top->own >= LEAST_LOSS * run * (c->n - 1) &&
		is_lasting(c, LEAST_LOSS * (double)t->waits.period * (c->n - 1),
			(double)(t->end - t->start) / (double)t->waits.period);
}

/* ---- how long the ranks work ---- */

/* What the first threads of the other ranks do, compared with one of them. */
struct compared {
	double least, sum; /* of the time that it is longer outside MPI: than the others, the least, and of all */
	double gap, mpi;   /* what the others are in MPI meanwhile, and in all */
	uint32_t waits;    /* others that wait longer than `noticeable`, for whomever */
};

static struct compared compare_work(const struct stf_analysis *a, uint32_t willy, double noticeable)
{
	struct compared c = { .least = INFINITY };
	const struct stf_mpi_thread *own = NULL;
	double longer;
	size_t i;

	for (i = 0; i < a->n_threads; i++) {
		own = a->thread[i].willy == willy ? &a->thread[i] : own;
	}
	for (i = 0; own && i < a->n_threads; i++) {
		const struct stf_mpi_thread *m = &a->thread[i];

		if (m == own || stf_willy_thread(m->willy)) {
			continue;
		}
		longer = (double)(own->end - own->begin - own->mpi) - (double)(m->end - m->begin - m->mpi);
		c.least = longer < c.least ? longer : c.least;
		c.sum += longer;
		c.mpi += (double)m->mpi;
		c.gap += longer > (double)m->mpi ? (double)m->mpi : longer > 0 ? longer : 0;
		c.waits += (double)m->wait >= noticeable;
	}
	return c;
}

/* A master that has nothing to do waits for the first of its even workers: one that waits, for one that does what the others do. If most
 * of the others wait half as long as they do on average for it, or if it works longer, it is no such worker. */
static int is_in_the_way(const struct caused *c, const struct stf_analysis *a)
{
	struct compared own = compare_work(a, c->top->willy, (double)c->top->sum / (c->n - 1) / 2);

	return 2 * own.waits > c->n - 1 || own.least >= LEAST_LOSS * (double)(a->finish - a->begin);
}

static int is_member(const struct stf_members *m, uint32_t willy)
{
	uint32_t i;

	for (i = 0; m && i < m->n && m->willy[i] != willy; i++) {
	}
	return m && i < m->n;
}

/* Is most of what this thread does in MPI shared with the suspect? Then who waits for the thread meanwhile waits for the suspect. */
static int mostly_shares(const struct stf_thread *h)
{
	double shared = 0, mpi = 0;
	unsigned k;

	for (k = 0; h && k < STF_PERIODS; k++) {
		shared += (double)h->coming.shared[k];
		mpi += (double)h->coming.mpi[k];
	}
	return shared > 0 && shared >= LEAST_EXCESS * mpi;
}

/* Of the waits in calls that do not show their cause: those in calls in which the suspect took part, or a thread that waited for it. */
static void find_shared(const struct stf_threads *t, uint32_t willy)
{
	const struct stf_unsettled *u = NULL;
	struct stf_thread *h;
	unsigned pass, k, more = 1;

	for (pass = 0; more && pass < MOST_HANDS; pass++) {
		for (more = 0; (u = tkm_table_next(&t->waits.unsettled, u));) {
			int shares = u->with.is_communicator
				? !pass && is_member(stf_names_members(&t->names, u->with.id), willy)
				: u->with.id == willy || (pass && mostly_shares(stf_threads_find(t, u->with.id)));

			h = shares && u->willy != willy ? stf_threads_find(t, u->willy) : NULL;
			for (k = 0; h && k < STF_PERIODS; k++) {
				more |= u->period[k] > h->coming.shared[k];
				h->coming.shared[k] =
					u->period[k] > h->coming.shared[k] ? u->period[k] : h->coming.shared[k];
			}
		}
		more |= !pass;
	}
}

/* These waits in each period, and in s that part of them that the others were longer in MPI than the thread. Returns the sum of these
 * parts. */
static double sum_shared(const struct stf_analysis *a, const struct stf_threads *t, uint32_t willy,
	double all[STF_PERIODS], struct suspect *s)
{
	const struct stf_thread *own = stf_threads_find(t, willy);
	unsigned k;
	size_t i;

	*s = (struct suspect){ .willy = willy };
	for (i = 0; own && i < a->n_threads; i++) {
		const struct stf_thread *h = stf_threads_find(t, a->thread[i].willy);

		for (k = 0; h && h != own && !stf_willy_thread(h->sum.willy) && k < STF_PERIODS; k++) {
			const uint64_t *mpi = h->coming.mpi, shared = h->coming.shared[k];
			uint64_t longer = mpi[k] > own->coming.mpi[k] ? mpi[k] - own->coming.mpi[k] : 0;

			all[k] += (double)shared;
			s->period[k] += longer < shared ? longer : shared;
			s->sum += longer < shared ? longer : shared;
		}
	}
	s->own = (double)s->sum;
	return s->own;
}

/* Of some calls it is not known which rank they wait for: those between neighbours, collective ones that do not block, and those in which a
 * message comes late because its sender is not in MPI. Where one thread works longer than each of the others, and they are in such
 * calls with it meanwhile, again and again, they wait for it all the same. */
static void name_hardest_worker(
	struct stf_analysis *a, const struct stf_threads *t, struct caused *c, const double *without)
{
	const struct suspect *s;
	struct suspect top;
	struct caused unsettled = { .top = &top };
	struct compared own = { 0, 0, 0, 0, 0 };
	uint32_t willy = 0, process;
	uint64_t first;
	double run = (double)(a->finish - a->begin), lacked, gap;
	size_t i;

	for (i = 0; i < a->n_threads && !(own.least > 0); i++) {
		willy = a->thread[i].willy;
		own = stf_willy_thread(willy) ? own : compare_work(a, willy, INFINITY);
	}
	process = stf_willy_process(willy);
	lacked = process < t->n_processes && without[process] > 0 ? without[process] / a->resolution : 0;
	s = tkm_table_find(&c->suspects, &willy, sizeof(willy));
	if (!(own.mpi > 0) || own.least - lacked < LEAST_LOSS * run ||
		own.least < LEAST_EXCESS * own.sum / (c->n - 1)) {
		return;
	}
	find_shared(t, willy);
	gap = sum_shared(a, t, willy, unsettled.period, &top);
	for (i = 0; s && i < STF_PERIODS; i++) { /* and the waits that are known to be for it */
		unsettled.period[i] += (double)s->period[i];
		top.period[i] += s->period[i];
		gap += (double)s->period[i];
	}
	gap = gap < own.gap ? gap : own.gap;
	if (!(gap > 0) || gap < LEAST_EXCESS * own.mpi || (s && 2 * (double)s->sum > gap) ||
		!is_lasting(&unsettled, LEAST_LOSS * (double)t->waits.period * (c->n - 1),
			(double)(t->end - t->start) / (double)t->waits.period)) {
		return;
	}
	a->culprit = (struct stf_culprit){ .known = 1,
		.by_work = 1,
		.willy = willy,
		.function = s ? s->function : 0,
		.waited = (uint64_t)gap,
		.share = gap / own.mpi,
		.without_processor = process < t->n_processes ? without[process] : (double)NAN };
	find_time(a, t, &top); /* of the ends of these calls; the first ones began earlier */
	first = top.period[(a->culprit.since - t->start) / t->waits.period] / (a->processes - 1);
	a->culprit.since = a->culprit.since - a->begin > first ? a->culprit.since - first : a->begin;
}

static void name_slow_thread(
	struct stf_analysis *a, const struct stf_threads *t, struct caused *c, const double *without)
{
	double total;
	uint32_t process, worst;

	if (!(c->n >= 2) || a->finish <= a->begin) {
		return;
	}
	sum_up(c, 0, a, t->n_processes, without);
	total = c->total;
	worst = c->top ? c->top->willy : 0;
	if (is_slow(c, a, t) && is_in_the_way(c, a)) {
		a->culprit.willy = c->top->willy;
		process = stf_willy_process(c->top->willy);
		a->culprit.without_processor = process < t->n_processes ? without[process] : (double)NAN;
	}
	sum_up(c, 1, a, t->n_processes, without);
	if (!is_slow(c, a, t) || !is_in_the_way(c, a) ||
		c->top->willy != worst) { /* they wait longer for one that may have lacked a processor */
		return;
	}
	process = stf_willy_process(c->top->willy);
	a->culprit.known = 1;
	a->culprit.willy = c->top->willy;
	a->culprit.without_processor = process < t->n_processes ? without[process] : (double)NAN;
	a->culprit.function = c->top->function;
	a->culprit.waited = c->top->sum;
	a->culprit.share = (double)c->top->sum / total;
	find_time(a, t, c->top);
}

/* At the end of a trace without MPI_Finalize: all wait in MPI but one, which does not come. */
static void name_absent_thread(struct stf_analysis *a, const struct stf_threads *t)
{
	const struct stf_thread *absent = NULL;
	uint64_t i, waited = 0, absents = 0, since;

	for (i = 0; i < a->n_threads; i++) {
		const struct stf_thread *h = stf_threads_find(t, a->thread[i].willy);

		if (!h->call_depth && !h->sum.ends && (h->is_main || h->sum.begins)) {
			absent = h;
			absents++;
		}
	}
	if (absents != 1) {
		return;
	}
	since = absent->left;
	for (i = 0; i < a->n_threads; i++) {
		const struct stf_mpi_thread *m = &a->thread[i];

		waited += m->open && !m->ends ? a->end - (m->open_since > since ? m->open_since : since) : 0;
	}
	if (waited > a->culprit.waited && (double)waited >= LEAST_LOSS * (double)(a->finish - a->begin)) {
		a->culprit = (struct stf_culprit){ .known = 1,
			.willy = absent->sum.willy,
			.function = absent->depth ? absent->stack[absent->depth - 1].function : 0,
			.since = since,
			.until = a->end,
			.waited = waited,
			.share = 1,
			.without_processor = (double)NAN };
	}
}

/* The mean share of the time that the processes were ready and had no processor. */
static double share_without_processor(const struct stf_analysis *a, const struct stf_threads *t, const double *without)
{
	double sum = 0, span = (double)(a->finish - a->begin) * a->resolution;
	uint32_t i, last = UINT32_MAX, n = 0;

	for (i = 0; i < a->n_threads; i++) {
		uint32_t process = stf_willy_process(a->thread[i].willy);

		if (process != last && process < t->n_processes && !isnan(without[process])) {
			sum += without[process];
			n++;
		}
		last = process;
	}
	return n && span > 0 ? sum / n / span : (double)NAN;
}

int stf_find_culprit(struct stf_analysis *a, const struct stf_threads *t, struct stf_reader *r)
{
	const struct stf_delay_periods *d = NULL;
	struct caused c = { .n = (double)a->processes };
	double *without = malloc(((size_t)t->n_processes + 1) * sizeof(*without));
	int rc = without ? stf_without_processor(r, t->n_processes, a->begin, a->finish, without) : -1;

	a->culprit.without_processor = (double)NAN;
	while (rc == 0 && (d = tkm_table_next(&t->waits.delays, d))) {
		rc = add_suspect(&c, d);
	}
	if (rc == 0) {
		a->without_processor = share_without_processor(a, t, without);
		name_slow_thread(a, t, &c, without);
		name_absent_thread(a, t);
		if (!a->culprit.known && c.n >= 2 && a->finish > a->begin) {
			name_hardest_worker(a, t, &c, without);
		}
	}
	free(without);
	tkm_table_free(&c.suspects);
	return rc;
}
