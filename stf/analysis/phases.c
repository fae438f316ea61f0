/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the phases of a job. */
#include "config.h"
#include "stf/analysis/phases.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "stf/analysis/efficiency.h"

/* Of the run; what takes less is no phase. */
static const double LEAST_SHARE = 0.01;

/* Fewer may be chance. */
enum { LEAST_ITERATIONS = 5 };
/* The calls are spread over that part of the run at least, and their intervals, but for the longest, vary by no more than that. */
static const double LEAST_COVER = 0.5, MOST_SPREAD = 0.5;

struct open_phases {
	uint64_t enter[STF_PHASE_LEVELS], mpi[STF_PHASE_LEVELS]; /* mpi: time in MPI before */
};

struct part {
	uint32_t willy, function, level;
	uint64_t calls, inside, mpi, longest, longest_at;
};

/* The intervals between the ends of the calls of a function, in one thread. */
struct intervals {
	uint32_t willy, function;
	uint64_t calls, first, last, longest, longest_at;
	double squares;
};

static int is_phase(const struct stf_threads *t, const struct stf_thread *h, size_t depth, uint32_t function)
{
	return depth < STF_PHASE_LEVELS && !(h && h->call_depth) && !stf_names_function(&t->names, function);
}

static struct open_phases *open_phases_of(struct stf_phases *p, uint32_t willy)
{
	const uint32_t key[3] = { willy };

	return stf_recent_put(&p->recent_open, &p->open, key, sizeof(struct open_phases));
}

int stf_phase_enters(
	struct stf_phases *p, const struct stf_threads *t, uint32_t willy, uint64_t time, uint32_t function)
{
	const struct stf_thread *h = stf_threads_find(t, willy);
	size_t depth = h ? h->depth : 0;
	struct open_phases *o;

	if (!is_phase(t, h, depth, function)) {
		return 0;
	}
	o = open_phases_of(p, willy);
	if (!o) {
		return -1;
	}
	o->enter[depth] = time;
	o->mpi[depth] = h ? h->sum.mpi : 0;
	return 0;
}

/* Adds the time from the last begin of a phase to now, as far as it is between MPI_Init and MPI_Finalize. */
static int add_to_part(struct stf_phases *p, const struct stf_thread *h, size_t level, uint64_t time)
{
	const uint32_t key[3] = { h->sum.willy, h->stack[level].function, (uint32_t)level };
	const struct open_phases *o = open_phases_of(p, h->sum.willy);
	struct part *a;
	uint64_t from, to, mpi;

	if (!o) {
		return -1;
	}
	from = o->enter[level];
	mpi = o->mpi[level];
	if (h->sum.begins && from < h->sum.begin) { /* the time in MPI counts from there on, too */
		from = h->sum.begin;
		mpi = 0;
	}
	to = h->sum.ends && time > h->sum.end ? h->sum.end : time;
	if (to <= from) {
		return 0;
	}
	a = stf_recent_put(&p->recent_parts, &p->parts, key, sizeof(*a));
	if (!a) {
		return -1;
	}
	a->willy = key[0];
	a->function = key[1];
	a->level = key[2];
	a->calls++;
	a->inside += to - from;
	a->mpi += h->sum.mpi > mpi ? h->sum.mpi - mpi : 0;
	if (to - from > a->longest) {
		a->longest = to - from;
		a->longest_at = from;
	}
	return 0;
}

static int note_call(struct stf_phases *p, uint32_t willy, uint32_t function, uint64_t time)
{
	const uint32_t key[3] = { willy, function };
	struct intervals *v = stf_recent_put(&p->recent_calls, &p->calls, key, sizeof(*v));
	uint64_t length;

	if (!v) {
		return -1;
	}
	if (v->calls++) {
		length = time - v->last;
		v->squares += (double)length * (double)length;
		if (length > v->longest) {
			v->longest = length;
			v->longest_at = v->last;
		}
	} else {
		v->willy = willy;
		v->function = function;
		v->first = time;
	}
	v->last = time;
	return 0;
}

int stf_phase_leaves(struct stf_phases *p, const struct stf_threads *t, uint32_t willy, uint64_t time)
{
	const struct stf_thread *h = stf_threads_find(t, willy);

	if (h && h->call_depth && h->depth == h->call_depth && h->sum.begins && !h->sum.ends &&
		!(h->call.flags & (STF_CALL_POLLS | STF_CALL_INIT))) {
		return note_call(p, willy, h->call.function, time);
	}
	return h && h->depth && is_phase(t, h, h->depth - 1, h->stack[h->depth - 1].function)
		? add_to_part(p, h, h->depth - 1, time)
		: 0;
}

/* parallel: the sum of the times outside MPI so far; load_balance: the longest of them. */
static int add_part(struct tkm_table *phases, const struct part *d)
{
	const uint32_t key[2] = { d->function, d->level };
	uint64_t outside = d->inside > d->mpi ? d->inside - d->mpi : 0;
	struct stf_phase *to = tkm_table_put(phases, key, sizeof(key), sizeof(*to));

	if (!to) {
		return -1;
	}
	to->function = d->function;
	to->level = d->level;
	to->processes++;
	to->calls = d->calls > to->calls ? d->calls : to->calls;
	to->time = d->inside > to->time ? d->inside : to->time;
	to->parallel += (double)outside;
	if ((double)outside > to->load_balance) {
		to->load_balance = (double)outside;
		to->most = d->willy;
	}
	if (d->longest > to->longest) {
		to->longest = d->longest;
		to->longest_at = d->longest_at;
		to->longest_willy = d->willy;
	}
	return 0;
}

static int compare_phases(const void *a, const void *b)
{
	const struct stf_phase *x = a, *y = b;

	return x->level != y->level  ? (x->level > y->level) - (x->level < y->level)
		: x->time != y->time ? (x->time < y->time) - (x->time > y->time)
				     : (x->function > y->function) - (x->function < y->function);
}

static int finish_phases(struct stf_analysis *a, const struct tkm_table *phases)
{
	double run = (double)(a->finish - a->begin);
	const struct stf_phase *s = NULL;

	while ((s = tkm_table_next(phases, s))) {
		double mean = s->parallel / a->processes, most = s->load_balance;
		struct stf_phase *to;

		if (!((double)s->time >= LEAST_SHARE * run)) {
			continue;
		}
		to = TKM_APPEND(a->phase, a->n_phases);
		if (!to) {
			return -1;
		}
		*to = *s;
		to->parallel = mean / (double)s->time;
		to->load_balance = most > 0 ? mean / most : 0;
		to->communication = most / (double)s->time;
	}
	if (a->n_phases) {
		qsort(a->phase, a->n_phases, sizeof(*a->phase), compare_phases);
	}
	return 0;
}

/* All but the longest interval, which is the one to be found. */
static void describe_intervals(const struct intervals *v, double *mean, double *spread)
{
	double n = (double)v->calls - 2, most = (double)v->longest, sum = (double)(v->last - v->first) - most, variance;

	*mean = sum / n;
	variance = (v->squares - most * most) / n - *mean * *mean;
	*spread = sqrt(variance > 0 ? variance : 0);
}

/* Are these the calls of the outermost loop in this thread? */
static int is_regular(const struct stf_analysis *a, const struct intervals *v)
{
	double mean, spread;

	if (v->calls <= LEAST_ITERATIONS ||
		(double)(v->last - v->first) < LEAST_COVER * (double)(a->finish - a->begin)) {
		return 0;
	}
	describe_intervals(v, &mean, &spread);
	return spread <= MOST_SPREAD * mean;
}

/* Of how many ranks does the function call equally often, at regular intervals? *longest: the one with the longest. */
static uint32_t regular_ranks(const struct stf_phases *p, const struct stf_threads *t, const struct stf_analysis *a,
	const struct intervals *of, const struct intervals **longest)
{
	const struct intervals *v = NULL;
	uint32_t n = 0;

	*longest = of;
	while ((v = tkm_table_next(&p->calls, v))) {
		if (v->function == of->function && v->calls == of->calls && stf_is_main_thread(t, v->willy) &&
			is_regular(a, v)) {
			*longest = v->longest > (*longest)->longest ? v : *longest;
			n++;
		}
	}
	return n;
}

/* Of the functions that all ranks call regularly, the one with the fewest calls is that of the outermost loop. */
static void find_iterations(const struct stf_phases *p, const struct stf_threads *t, struct stf_analysis *a)
{
	const struct intervals *v = NULL, *longest;
	struct stf_iterations *to = &a->iterations;

	while ((v = tkm_table_next(&p->calls, v))) {
		if (v->willy != a->thread[0].willy || !is_regular(a, v) ||
			(to->function && v->calls - 1 >= to->count) ||
			regular_ranks(p, t, a, v, &longest) != a->processes) {
			continue;
		}
		to->function = v->function;
		to->count = v->calls - 1;
		to->longest = longest->longest;
		to->longest_at = longest->longest_at;
		to->longest_willy = longest->willy;
		describe_intervals(longest, &to->mean, &to->spread);
	}
}

int stf_phases_end(struct stf_phases *p, const struct stf_threads *t, struct stf_analysis *a)
{
	struct tkm_table phases = { 0 };
	struct part *d = NULL;
	uint64_t i;
	size_t k;
	int rc = 0;

	for (i = 0; i < t->n && rc == 0; i++) { /* what was not left */
		const struct stf_thread *h = t->thread[i];

		for (k = 0; h && k < h->depth && k < STF_PHASE_LEVELS && rc == 0; k++) {
			if (!stf_names_function(&t->names, h->stack[k].function)) {
				rc = add_to_part(p, h, k, a->end);
			}
		}
	}
	while (rc == 0 && a->processes && (d = tkm_table_next(&p->parts, d))) {
		rc = stf_is_main_thread(t, d->willy) ? add_part(&phases, d) : 0;
	}
	if (rc == 0) {
		rc = finish_phases(a, &phases);
	}
	tkm_table_free(&phases);
	if (rc == 0 && a->n_threads) {
		find_iterations(p, t, a);
	}
	return rc;
}

void stf_phases_free(struct stf_phases *p)
{
	tkm_table_free(&p->open);
	tkm_table_free(&p->parts);
	tkm_table_free(&p->calls);
}
