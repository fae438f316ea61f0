/* SPDX-License-Identifier: BSD-3-Clause */
/* Analyses a trace of an MPI program in one pass. */
#include "config.h"
#include "include/analysis.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "stf/analysis/arrivals.h"
#include "stf/analysis/culprit.h"
#include "stf/analysis/efficiency.h"
#include "stf/analysis/ends.h"
#include "stf/analysis/phases.h"
#include "stf/analysis/teams.h"
#include "stf/format/private.h"

enum { RECORDS_PER_PROGRESS = 1 << 16, MOST_AT_ONCE = 1 << 16 };

/* A function is entered or left. */
struct event {
	uint32_t willy, function, scl;
	int enters, passed;
};

struct analyser {
	struct stf_threads threads;
	struct stf_arrivals arrivals;
	struct stf_teams teams;
	struct stf_phases phases;
	uint64_t from, to, last; /* last: the stamp that was reached */
	/* the events of the stamp that was reached */
	struct event *event;
	size_t n_events, event_room;
};

static int fail_analysis(const struct analyser *a, struct stf_err *err)
{
	return a->threads.stopped ? stf_fail(err, STF_ERR_IO, NULL, 0, 0, "the caller stopped the analysis")
				  : stf_no_memory(err);
}

/* ---- reading ---- */

static int enter_function(struct analyser *a, uint32_t willy, uint64_t time, const struct stf_frame *f)
{
	if (a->threads.names.has_openmp && stf_team_enters(&a->teams, &a->threads, willy, time, f) < 0) {
		return -1;
	}
	return stf_phase_enters(&a->phases, &a->threads, willy, time, f->function) < 0
		? -1
		: stf_thread_enter(&a->threads, willy, time, f->function, f->scl);
}

static int leave_function(struct analyser *a, uint32_t willy, uint64_t time)
{
	if (a->threads.names.has_openmp && stf_team_leaves(&a->teams, &a->threads, willy, time) < 0) {
		return -1;
	}
	return stf_phase_leaves(&a->phases, &a->threads, willy, time) < 0 ? -1
									  : stf_thread_leave(&a->threads, willy, time);
}

/* The functions that are open at the begin of the window. */
static int enter_open_functions(struct analyser *a, const struct stf_record *rec)
{
	struct stf_function_history_1 f;
	uint32_t i;
	int rc = 0;

	stf_get_function_history_1(rec, &f);
	for (i = 0; i < f.size_1_2 && rc == 0; i++) {
		const struct stf_frame frame = { f.function_stack[i], f.scls ? f.scls[i] : 0 };

		rc = enter_function(a, f.willy, a->from, &frame);
	}
	return rc;
}

static int pass_event(struct analyser *a, struct event *e)
{
	const struct stf_frame f = { e->function, e->scl };

	e->passed = 1;
	return e->enters ? enter_function(a, e->willy, a->last, &f) : leave_function(a, e->willy, a->last);
}

/* Does the thread leave a call of MPI that lasted, or has it done so among the events that are held back? */
static int is_held_back(const struct analyser *a, const struct event *e, const struct stf_thread *h)
{
	return h && (h->held || (!e->enters && h->call_depth && h->depth == h->call_depth && h->call.enter < a->last));
}

/* Passes the events of the stamp that was reached. If others let a thread go on then, its call ends after that. */
static int pass_events(struct analyser *a)
{
	int due = stf_arrivals_due(&a->arrivals, a->last + 1), rc = 0;
	size_t i;

	for (i = 0; i < a->n_events && rc == 0; i++) {
		struct stf_thread *h = due ? stf_threads_find(&a->threads, a->event[i].willy) : NULL;

		if (is_held_back(a, &a->event[i], h)) {
			h->held++;
		} else {
			rc = pass_event(a, &a->event[i]);
		}
	}
	if (due && rc == 0) {
		rc = stf_arrivals_pass(&a->arrivals, a->last + 1);
	}
	for (i = 0; due && i < a->n_events && rc == 0; i++) {
		if (!a->event[i].passed) {
			stf_threads_find(&a->threads, a->event[i].willy)->held--;
			rc = pass_event(a, &a->event[i]);
			if (rc == 0 && stf_arrivals_due(&a->arrivals, a->last + 1)) {
				rc = stf_arrivals_pass(&a->arrivals, a->last + 1);
			}
		}
	}
	a->n_events = 0;
	return rc;
}

static int take_event(struct analyser *a, const struct stf_record *rec)
{
	const struct stf_value *v = rec->values; /* time, willy, and of what is entered function, and maybe scl */
	int enters = rec->layout->class_id == STF_ID_enter_function;

	if (a->n_events == MOST_AT_ONCE && pass_events(a) < 0) {
		return -1;
	}
	if (TKM_GROW(a->event, a->event_room, a->n_events + 1) < 0) {
		return -1;
	}
	a->event[a->n_events++] = (struct event){ (uint32_t)v[1].u, enters ? (uint32_t)v[2].u : 0,
		rec->layout->id == STF_ID_enter_function_1 ? (uint32_t)v[3].u : 0, enters, 0 };
	return 0;
}

static int analyse_record(struct analyser *a, const struct stf_record *rec)
{
	if (rec->time > a->last) {
		if (a->n_events && pass_events(a) < 0) {
			return -1;
		}
		a->last = rec->time;
	}
	if (stf_arrivals_due(&a->arrivals, rec->time) && stf_arrivals_pass(&a->arrivals, rec->time) < 0) {
		return -1;
	}
	switch (rec->layout->class_id) {
	case STF_ID_enter_function:
	case STF_ID_leave_function:
		return take_event(a, rec);
	case STF_ID_one_to_one_communication:
		return stf_arrivals_message(&a->arrivals, rec);
	case STF_ID_all_communication:
	case STF_ID_all_to_all_communication:
	case STF_ID_all_to_one_communication:
	case STF_ID_one_to_all_communication:
		return stf_arrivals_operation(&a->arrivals, rec);
	case STF_ID_function_history:
		return enter_open_functions(a, rec);
	default:
		return 0;
	}
}

static int read_for_analysis(
	struct analyser *a, struct stf_reader *r, const struct stf_analysis_options *o, struct stf_err *err)
{
	struct stf_cursor_options want = stf_cursor_options();
	const struct stf_record *rec;
	struct stf_cursor *c;
	uint64_t n = 0;
	int more, rc = 0;

	want.categories = 1u << STF_KIND_FUNC | 1u << STF_KIND_MSG | 1u << STF_KIND_COLL;
	want.in_order = 1;
	want.window = want.state = o->window;
	want.from = o->from;
	want.to = o->to;
	c = stf_cursor_open_with(r, &want, err);
	more = c ? 1 : -1;
	while (rc == 0 && more > 0 && (more = stf_cursor_next(c, &rec, err)) > 0) {
		rc = analyse_record(a, rec);
		if (++n % RECORDS_PER_PROGRESS == 0 && o->progress && o->progress(o->user, rec->time)) {
			a->to = a->last;
			break;
		}
	}
	if (rc == 0) {
		rc = pass_events(a) < 0 ? -1 : stf_arrivals_pass(&a->arrivals, UINT64_MAX);
	}
	stf_cursor_close(c);
	return rc < 0 ? fail_analysis(a, err) : more < 0 && err->code != STF_ERR_CHECKSUM ? -1 : 0;
}

/* ---- the result ---- */

static int compare_waits(const void *a, const void *b)
{
	const struct stf_wait *x = a, *y = b;
	uint64_t p = x->sum, q = y->sum;

	if (p != q) {
		return p < q ? 1 : -1;
	}
	if (x->undecided_sum != y->undecided_sum) {
		return x->undecided_sum < y->undecided_sum ? 1 : -1;
	}
	if (x->willy != y->willy) {
		return x->willy < y->willy ? -1 : 1;
	}
	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
				  : (x->function > y->function) - (x->function < y->function);
}

static int compare_delays(const void *a, const void *b)
{
	const struct stf_delay *x = a, *y = b;
	uint64_t p = x->direct + x->propagated, q = y->direct + y->propagated;

	if (p != q) {
		return p < q ? 1 : -1;
	}
	return x->willy != y->willy ? (x->willy > y->willy) - (x->willy < y->willy)
				    : (x->function > y->function) - (x->function < y->function);
}

static int compare_spreads(const void *a, const void *b)
{
	const struct stf_spread *x = a, *y = b;

	if (x->sum != y->sum) {
		return x->sum < y->sum ? 1 : -1;
	}
	return x->type != y->type ? (x->type > y->type) - (x->type < y->type)
				  : (x->communicator > y->communicator) - (x->communicator < y->communicator);
}

/* Copies the values of a table, or the first `size` bytes of each, into an array. Returns NULL without memory. */
static void *array_of_table(const struct tkm_table *t, size_t size, size_t *n)
{
	char *all = malloc((tkm_table_count(t) + 1) * size);
	const void *v = NULL;

	*n = 0;
	while (all && (v = tkm_table_next(t, v))) {
		memcpy(all + (*n)++ * size, v, size);
	}
	return all;
}

static int collect_results(struct stf_analysis *a, const struct stf_threads *t, const struct stf_arrivals *v)
{
	struct stf_mpi_thread *m;
	uint64_t i;

	a->wait = array_of_table(&t->waits.rows, sizeof(*a->wait), &a->n_waits);
	a->delay = array_of_table(&t->waits.delays, sizeof(*a->delay), &a->n_delays);
	a->spread = array_of_table(&v->spreads, sizeof(*a->spread), &a->n_spreads);
	for (i = 0; i < t->n; i++) {
		if (t->thread[i] && t->thread[i]->sum.calls) {
			m = TKM_APPEND(a->thread, a->n_threads);
			if (!m) {
				return -1;
			}
			*m = t->thread[i]->sum;
		}
	}
	if (!a->wait || !a->delay || !a->spread) {
		return -1;
	}
	qsort(a->wait, a->n_waits, sizeof(*a->wait), compare_waits);
	qsort(a->delay, a->n_delays, sizeof(*a->delay), compare_delays);
	qsort(a->spread, a->n_spreads, sizeof(*a->spread), compare_spreads);
	return 0;
}

/* The path that leads to the thread that is the last to come to its end; of those that did not end, one that is not in MPI, else
 * the last that called it. */
static int collect_path(struct stf_analysis *a, const struct stf_threads *t)
{
	const struct stf_thread *last = NULL;
	uint64_t at = 0, this;
	size_t i;

	for (i = 0; i < a->n_threads; i++) {
		const struct stf_thread *h = stf_threads_find(t, a->thread[i].willy);

		this = h->sum.open && !h->sum.ends ? h->sum.open_since : h->sum.end;
		if (stf_is_main_thread(t, a->thread[i].willy) && (!last || this > at)) {
			last = h;
			at = this;
		}
	}
	a->path = stf_path_shares(last ? last->path_end ? last->path_end : last->path : NULL, &a->n_path);
	for (i = 0; a->path && i < a->n_path; i++) {
		a->path_sum += a->path[i].ticks;
	}
	return a->path ? 0 : -1;
}

static void choose_range(struct analyser *a, const struct stf_reader *r, const struct stf_analysis_options *o)
{
	if (o->window) {
		a->from = o->from;
		a->to = o->to;
	} else if (stf_reader_duration(r, &a->from, &a->to) < 0 || a->from > a->to) {
		a->from = 0;
		a->to = UINT64_MAX;
	}
	a->threads.start = a->threads.waits.start = a->from;
	a->threads.waits.each = o->wait;
	a->threads.waits.user = o->user;
	a->threads.waits.period = a->to == UINT64_MAX ? UINT64_MAX / STF_PERIODS : (a->to - a->from) / STF_PERIODS + 1;
	a->arrivals.t = &a->threads;
	a->threads.replay = (struct stf_replay){
		.function = o->function, .keeps = o->keeps, .moved = o->moved, .user = o->moved_user
	};
}

static int fill_result(struct stf_analysis *out, struct analyser *a, struct stf_reader *r)
{
	out->start = a->from;
	out->end = a->to == UINT64_MAX || a->to < a->last ? a->last : a->to;
	a->threads.end = out->end;
	if (stf_threads_end(&a->threads, out->end) < 0 || stf_find_end_waits(&a->threads, out->end) < 0) {
		return -1;
	}
	out->messages = a->arrivals.messages;
	out->operations = a->arrivals.operations;
	out->halves = a->arrivals.halves;
	out->incomplete = a->arrivals.incomplete;
	out->no_root = a->arrivals.no_root;
	out->reversed = a->threads.reversed;
	out->lock_alls = a->threads.lock_alls;
	out->beside = a->threads.beside;
	if (stf_teams_end(&a->teams, &a->threads, out) < 0 || collect_results(out, &a->threads, &a->arrivals) < 0) {
		return -1;
	}
	stf_find_efficiencies(out, &a->threads);
	return stf_phases_end(&a->phases, &a->threads, out) < 0 || collect_path(out, &a->threads) < 0
		? -1
		: stf_find_culprit(out, &a->threads, r);
}

/* A trace of TRACE-IMBALANCE: its states are waits, so what a thread did between them is unknown. */
static int has_only_waits(const struct stf_reader *r)
{
	const char *cls, *text;
	size_t i;

	for (i = 0; stf_reader_info(r, i, &cls, &text) == 0; i++) {
		if (cls && !strcmp(cls, "imbalance")) {
			return 1;
		}
	}
	return 0;
}

static int run_analysis(struct analyser *a, struct stf_reader *r, const struct stf_analysis_options *o,
	struct stf_analysis *out, struct stf_err *err)
{
	uint32_t eventbits;

	if (has_only_waits(r)) {
		return stf_fail(err, STF_ERR_STATE, NULL, 0, 0,
			"the states of this trace are waits (TRACE-IMBALANCE): there is nothing else to analyse; record "
			"without --trace-imbalance");
	}
	choose_range(a, r, o);
	if (!out || stf_threads_read(&a->threads, r) < 0) {
		return stf_no_memory(err);
	}
	if (stf_reader_clock(r, &out->resolution, &eventbits) < 0) {
		return stf_fail(err, STF_ERR_FORMAT, NULL, 0, 0, "the trace does not say the resolution of its clock");
	}
	a->threads.waits.resolution = out->resolution;
	a->threads.replay.latency = o->latency / out->resolution;
	a->threads.replay.per_byte = o->bandwidth > 0 ? 1 / o->bandwidth / out->resolution : 0;
	if (read_for_analysis(a, r, o, err) < 0) {
		return -1;
	}
	return fill_result(out, a, r) < 0 ? fail_analysis(a, err) : 0;
}

struct stf_analysis *stf_analyze(struct stf_reader *r, const struct stf_analysis_options *given, struct stf_err *err)
{
	struct stf_analysis_options own = { 0 }, *o = &own;
	struct analyser *a;
	struct stf_analysis *out;
	int rc;

	if (given && stf_take_options(o, sizeof(*o), given, sizeof(*o), "stf_analysis_options", err) < 0) {
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	if (!a) {
		stf_no_memory(err);
		return NULL;
	}
	a->to = UINT64_MAX;
	out = calloc(1, sizeof(*out));
	rc = run_analysis(a, r, o, out, err);
	free(a->event);
	stf_arrivals_free(&a->arrivals);
	stf_teams_free(&a->teams);
	stf_phases_free(&a->phases);
	stf_threads_free(&a->threads);
	free(a);
	if (rc < 0) {
		stf_analysis_free(out);
		return NULL;
	}
	return out;
}

void stf_analysis_free(struct stf_analysis *a)
{
	if (a) {
		free(a->wait);
		free(a->delay);
		free(a->spread);
		free(a->path);
		free(a->team);
		free(a->phase);
		free(a->thread);
		free(a);
	}
}
