/* SPDX-License-Identifier: BSD-3-Clause */
/* --analyze: prints which ranks wait for which in MPI, and which share of the run time is computation. */
#include "config.h"
#include "include/analysis.h"
#include "tools/print/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/cli/request.h"

enum { SHOWN_ROWS = 20 }; /* of each table; all of them with --verbose 2, --csv and --json */

#define COLUMNS(c) c, sizeof(c) / sizeof((c)[0])

struct shown_analysis {
	struct stt_report *r;
	const struct stt_trace *t;
	const struct stf_analysis *a;
	int windowed; /* of a part of the time */
};

/* How many of n rows are shown. */
static size_t rows_shown(const struct shown_analysis *s, size_t n)
{
	const struct stt_options *o = s->r->o;

	return o->csv || o->json || o->verbose > 1 || n <= SHOWN_ROWS ? n : SHOWN_ROWS;
}

static void length_cell(struct stt_table *b, const struct shown_analysis *s, uint64_t ticks)
{
	stt_cell_short(b, (double)ticks * s->a->resolution);
}

static void stamp_cell(struct stt_table *b, const struct shown_analysis *s, uint64_t stamp)
{
	stt_cell_mean(b, (double)stamp * s->a->resolution);
}

static void known_cell(struct stt_table *b, double v)
{
	if (isnan(v)) {
		stt_cell_unknown(b);
	} else {
		stt_cell_short(b, v);
	}
}

static void thread_cell(struct stt_table *b, const struct shown_analysis *s, uint32_t willy)
{
	char buf[64];

	stt_cell_text(b, stt_willy_name(s->t, willy, buf, sizeof(buf)));
}

/* A function or source location; the trace may have none. */
static void name_cell(struct stt_table *b, const struct shown_analysis *s, unsigned class_id, uint32_t id)
{
	char buf[1024];

	if (id) {
		stt_cell_text(b, stt_full_name(s->t, class_id, id, buf, sizeof(buf)));
	} else {
		stt_cell_none(b);
	}
}

static int efficiency_table(const struct shown_analysis *s)
{
	static const char *column[] = { "efficiency", "share", "error" };
	const struct stf_analysis *a = s->a;
	const struct {
		const char *name;
		struct stf_share share;
	} row[] = { { "parallel", a->parallel }, { "load_balance", a->load_balance },
		{ "communication", a->communication }, { "serialisation", a->serialisation },
		{ "transfer", a->transfer } };
	char title[300];
	struct stt_table b;
	size_t i;

	snprintf(title, sizeof(title),
		"efficiencies in %.6g s between MPI_Init and MPI_Finalize, parallel = load_balance x communication, "
		"communication = serialisation x transfer",
		(double)(a->finish - a->begin) * a->resolution);
	stt_table_begin(&b, "efficiencies", title, COLUMNS(column));
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		stt_cell_text(&b, row[i].name);
		known_cell(&b, row[i].share.value);
		stt_cell_upper(&b, row[i].share.error);
	}
	return stt_report_add(s->r, &b);
}

static int who_table(const struct shown_analysis *s)
{
	static const char *column[] = { "thread", "in", "since_s", "until_s", "waited_s", "share" };
	const struct stf_culprit *c = &s->a->culprit;
	struct stt_table b;
	size_t i;

	stt_table_begin(
		&b, "who", "the thread that others wait for in MPI, and what they waited together", COLUMNS(column));
	if (c->known) {
		thread_cell(&b, s, c->willy);
		name_cell(&b, s, STF_ID_function_definition, c->function);
		stamp_cell(&b, s, c->since);
		stamp_cell(&b, s, c->until);
		length_cell(&b, s, c->waited);
		stt_cell_short(&b, c->share);
	} else {
		stt_cell_text(&b, "nobody");
		for (i = 1; i < sizeof(column) / sizeof(column[0]); i++) {
			stt_cell_none(&b);
		}
	}
	return stt_report_add(s->r, &b);
}

static void wait_row(struct stt_table *b, const struct shown_analysis *s, const struct stf_wait *w)
{
	stt_cell_text(b, stf_wait_name(w->kind));
	thread_cell(b, s, w->willy);
	name_cell(b, s, STF_ID_function_definition, w->function);
	stt_cell_uint(b, w->count);
	length_cell(b, s, w->sum);
	stt_cell_uint(b, w->undecided_count);
	length_cell(b, s, w->undecided_sum);
	if (w->count) {
		length_cell(b, s, w->worst);
		stamp_cell(b, s, w->worst_at);
		stt_cell_upper(b, w->worst_bound);
		if (w->kind == STF_WAIT_OPEN) {
			stt_cell_none(b);
		} else {
			thread_cell(b, s, w->cause);
		}
	} else {
		stt_cell_none(b);
		stt_cell_none(b);
		stt_cell_none(b);
		stt_cell_none(b);
	}
	name_cell(b, s, STF_ID_function_definition, w->count ? w->cause_function : 0);
	name_cell(b, s, STF_ID_scl_definition, w->count ? w->scl : 0);
}

static int wait_table(const struct shown_analysis *s)
{
	static const char *column[] = { "wait", "thread", "call", "count", "sum_s", "undecided", "undecided_s",
		"worst_s", "worst_at_s", "bound_s", "cause", "cause_in", "source" };
	size_t n = rows_shown(s, s->a->n_waits), i;
	struct stt_table b;
	char title[200];

	snprintf(title, sizeof(title), "waits, the longest sum first; undecided: not longer than the clocks' bound%s%s",
		s->a->bounds ? "" : "; no bound is known of all clocks, so short waits may be none",
		n < s->a->n_waits ? " (--verbose 2 shows all)" : "");
	stt_table_begin(&b, "waits", title, COLUMNS(column));
	for (i = 0; i < n; i++) {
		wait_row(&b, s, &s->a->wait[i]);
	}
	return stt_report_add(s->r, &b);
}

static int delay_table(const struct shown_analysis *s)
{
	static const char *column[] = { "thread", "in", "count", "direct_s", "propagated_s", "first_s", "last_s" };
	size_t n = rows_shown(s, s->a->n_delays), i;
	struct stt_table b;

	stt_table_begin(
		&b, "delays", "what others waited for a thread, and for those that had waited for it", COLUMNS(column));
	for (i = 0; i < n; i++) {
		const struct stf_delay *d = &s->a->delay[i];

		thread_cell(&b, s, d->willy);
		name_cell(&b, s, STF_ID_function_definition, d->function);
		stt_cell_uint(&b, d->count);
		length_cell(&b, s, d->direct);
		length_cell(&b, s, d->propagated);
		stamp_cell(&b, s, d->first);
		stamp_cell(&b, s, d->last);
	}
	return stt_report_add(s->r, &b);
}

/* What has a name, or else only a number. */
static void declared_cell(struct stt_table *b, const struct shown_analysis *s, unsigned class_id, uint32_t id)
{
	const char *name = stf_reader_name(s->t->r, class_id, id);

	if (name) {
		stt_cell_text(b, name);
	} else {
		stt_cell_uint(b, id);
	}
}

static int spread_table(const struct shown_analysis *s)
{
	static const char *column[] = { "operation", "communicator", "count", "inside_s", "spread_s", "worst_s",
		"worst_at_s", "last", "last_count", "undecided" };
	size_t n = rows_shown(s, s->a->n_spreads), i;
	struct stt_table b;

	stt_table_begin(&b, "spreads",
		"collective operations: from the first begin to the last, and which thread was the last most often",
		COLUMNS(column));
	for (i = 0; i < n; i++) {
		const struct stf_spread *o = &s->a->spread[i];

		declared_cell(&b, s, STF_ID_collective_operation_definition, o->type);
		declared_cell(&b, s, STF_ID_communicator_definition, o->communicator);
		stt_cell_uint(&b, o->count);
		length_cell(&b, s, o->inside);
		length_cell(&b, s, o->sum);
		length_cell(&b, s, o->worst);
		stamp_cell(&b, s, o->worst_at);
		if (o->last_count) {
			thread_cell(&b, s, o->last);
		} else {
			stt_cell_unknown(&b);
		}
		stt_cell_uint(&b, o->last_count);
		stt_cell_uint(&b, o->undecided);
	}
	return stt_report_add(s->r, &b);
}

static void path_cells(struct stt_table *b, const struct shown_analysis *s, uint64_t ticks)
{
	length_cell(b, s, ticks);
	known_cell(b, s->a->path_sum ? (double)ticks / (double)s->a->path_sum : (double)NAN);
}

static int path_table(const struct shown_analysis *s)
{
	static const char *column[] = { "thread", "in", "source", "time_s", "share" };
	size_t n = rows_shown(s, s->a->n_path), i;
	struct stt_table b;
	char title[200];

	snprintf(title, sizeof(title), "critical path: what the end of the run, after %.6g s, had to wait for%s",
		(double)s->a->path_sum * s->a->resolution, n < s->a->n_path ? " (--verbose 2 shows all)" : "");
	stt_table_begin(&b, "critical_path", title, COLUMNS(column));
	for (i = 0; i < n; i++) {
		thread_cell(&b, s, s->a->path[i].willy);
		name_cell(&b, s, STF_ID_function_definition, s->a->path[i].function);
		name_cell(&b, s, STF_ID_scl_definition, s->a->path[i].scl);
		path_cells(&b, s, s->a->path[i].ticks);
	}
	return stt_report_add(s->r, &b);
}

static int compare_functions(const void *a, const void *b)
{
	const struct stf_path_share *x = a, *y = b;

	return x->function != y->function ? (x->function > y->function) - (x->function < y->function) : 0;
}

static int compare_ticks(const void *a, const void *b)
{
	const struct stf_path_share *x = a, *y = b;

	return x->ticks != y->ticks ? (x->ticks < y->ticks) - (x->ticks > y->ticks) : compare_functions(a, b);
}

/* The critical path by function, of all threads. */
static int path_function_table(const struct shown_analysis *s)
{
	static const char *column[] = { "in", "time_s", "share" };
	struct stf_path_share *f = malloc((s->a->n_path + 1) * sizeof(*f));
	size_t n = 0, i, shown;
	struct stt_table b;

	if (!f) {
		return stt_fault(s->r->o, "out of memory");
	}
	memcpy(f, s->a->path, s->a->n_path * sizeof(*f));
	qsort(f, s->a->n_path, sizeof(*f), compare_functions);
	for (i = 0; i < s->a->n_path; i++) {
		if (n && f[n - 1].function == f[i].function) {
			f[n - 1].ticks += f[i].ticks;
		} else {
			f[n++] = f[i];
		}
	}
	qsort(f, n, sizeof(*f), compare_ticks);
	shown = rows_shown(s, n);
	stt_table_begin(&b, "critical_functions",
		"functions on the critical path; 10 % less time in one makes the run shorter by at most 10 % of its time here",
		COLUMNS(column));
	for (i = 0; i < shown; i++) {
		name_cell(&b, s, STF_ID_function_definition, f[i].function);
		path_cells(&b, s, f[i].ticks);
	}
	free(f);
	return stt_report_add(s->r, &b);
}

static int thread_table(const struct shown_analysis *s)
{
	static const char *column[] = { "thread", "from_s", "to_s", "outside_s", "mpi_s", "waits_s", "undecided_s",
		"calls", "open_in", "open_since_s" };
	size_t n = rows_shown(s, s->a->n_threads), i;
	struct stt_table b;

	stt_table_begin(&b, "mpi_threads", "threads that called MPI; open_in: a call that was not left at the end",
		COLUMNS(column));
	for (i = 0; i < n; i++) {
		const struct stf_mpi_thread *m = &s->a->thread[i];

		thread_cell(&b, s, m->willy);
		stamp_cell(&b, s, m->begin);
		stamp_cell(&b, s, m->end);
		length_cell(&b, s, m->end - m->begin > m->mpi ? m->end - m->begin - m->mpi : 0);
		length_cell(&b, s, m->mpi);
		length_cell(&b, s, m->wait);
		length_cell(&b, s, m->undecided);
		stt_cell_uint(&b, m->calls);
		name_cell(&b, s, STF_ID_function_definition, m->open);
		if (m->open) {
			stamp_cell(&b, s, m->open_since);
		} else {
			stt_cell_none(&b);
		}
	}
	return stt_report_add(s->r, &b);
}

static int phase_table(const struct shown_analysis *s)
{
	static const char *column[] = { "phase", "level", "calls", "time_s", "parallel", "load_balance",
		"communication", "most", "longest_s", "longest_at_s", "longest_of" };
	size_t n = rows_shown(s, s->a->n_phases), i;
	struct stt_table b;

	stt_table_begin(&b, "phases",
		"functions and regions of the program, and what they call (level 1), with their efficiencies",
		COLUMNS(column));
	for (i = 0; i < n; i++) {
		const struct stf_phase *p = &s->a->phase[i];

		name_cell(&b, s, STF_ID_function_definition, p->function);
		stt_cell_uint(&b, p->level);
		stt_cell_uint(&b, p->calls);
		length_cell(&b, s, p->time);
		stt_cell_short(&b, p->parallel);
		stt_cell_short(&b, p->load_balance);
		stt_cell_short(&b, p->communication);
		thread_cell(&b, s, p->most);
		length_cell(&b, s, p->longest);
		stamp_cell(&b, s, p->longest_at);
		thread_cell(&b, s, p->longest_willy);
	}
	return stt_report_add(s->r, &b);
}

static int iteration_table(const struct shown_analysis *s)
{
	static const char *column[] = { "call", "count", "mean_s", "spread_s", "longest_s", "longest_at_s",
		"longest_of" };
	const struct stf_iterations *p = &s->a->iterations;
	struct stt_table b;

	stt_table_begin(&b, "iterations",
		"iterations, from one end of this call to the next; mean and spread of all but the longest",
		COLUMNS(column));
	name_cell(&b, s, STF_ID_function_definition, p->function);
	stt_cell_uint(&b, p->count);
	stt_cell_short(&b, p->mean * s->a->resolution);
	stt_cell_short(&b, p->spread * s->a->resolution);
	length_cell(&b, s, p->longest);
	stamp_cell(&b, s, p->longest_at);
	thread_cell(&b, s, p->longest_willy);
	return stt_report_add(s->r, &b);
}

static int team_table(const struct shown_analysis *s)
{
	static const char *column[] = { "process", "threads", "inside_s", "waited_s", "share", "most_for", "for_it_s",
		"source" };
	struct stt_table b;
	size_t i;

	stt_table_begin(&b, "openmp",
		"threads in parallel regions of OpenMP, what they waited at barriers, and for which thread they waited most",
		COLUMNS(column));
	for (i = 0; i < s->a->n_teams; i++) {
		const struct stf_team *m = &s->a->team[i];

		stt_cell_uint(&b, m->process);
		stt_cell_uint(&b, m->threads);
		length_cell(&b, s, m->inside);
		length_cell(&b, s, m->waited);
		known_cell(&b, m->inside ? (double)m->waited / (double)m->inside : (double)NAN);
		if (m->caused) {
			thread_cell(&b, s, m->cause);
		} else {
			stt_cell_none(&b);
		}
		length_cell(&b, s, m->caused);
		name_cell(&b, s, STF_ID_scl_definition, m->scl);
	}
	return stt_report_add(s->r, &b);
}

/* What was analysed, and what could not be. */
static int basis_table(const struct shown_analysis *s)
{
	static const char *column[] = { "what", "count" };
	const struct {
		const char *what;
		uint64_t n;
	} row[] = { { "messages", s->a->messages }, { "collective operations", s->a->operations },
		{ "not decidable: messages of which one end is not recorded", s->a->halves },
		{ "not decidable: collective operations that lack members", s->a->incomplete },
		{ "not decidable: collective operations of neighbours, or without a known root", s->a->no_root },
		{ "not decidable: calls of MPI_Win_lock_all", s->a->lock_alls },
		{ "not decidable: calls that may have waited for another thread of the rank in MPI", s->a->beside },
		{ "received before sent, by their stamps", s->a->reversed } };
	struct stt_table b;
	const char *cls, *text;
	size_t i;

	stt_table_begin(&b, "basis", "what was analysed", COLUMNS(column));
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (i < 2 || row[i].n || s->r->o->json) {
			stt_cell_text(&b, row[i].what);
			stt_cell_uint(&b, row[i].n);
		}
	}
	if (!isnan(s->a->without_processor)) {
		stt_cell_text(&b, "percent of the time that the ranks were ready to run without a processor");
		stt_cell_uint(&b, (uint64_t)(100 * s->a->without_processor + 0.5));
	}
	for (i = 0; stf_reader_info(s->t->r, i, &cls, &text) == 0; i++) {
		if (cls && text && (!strcmp(cls, "missing") || !strcmp(cls, "repairs"))) {
			stt_cell_text(&b, text);
			stt_cell_none(&b);
		}
	}
	return stt_report_add(s->r, &b);
}

/* ---- limits ---- */

/* Compares one efficiency with its limit. */
static int check_share(const struct stt_options *o, const char *name, const struct stf_share *share, double limit)
{
	if (isnan(share->value)) {
		return stt_fault(o, "--fail-below: the efficiency %s is not known of this trace", name);
	}
	if (share->value >= limit) {
		return STT_OK;
	}
	stt_say(o, 0, "%s: the efficiency %s is %.4g, below %.4g", o->input, name, share->value, limit);
	return STT_BELOW;
}

/* Checks "NAME=SHARE,NAME=SHARE"; a NULL: only whether that is what the text says. */
static int check_limits(const struct stt_options *o, const struct stf_analysis *a)
{
	static const char *const names[] = { "efficiency", "parallel", "load_balance", "communication", "serialisation",
		"transfer" };
	const struct stf_share none = { 0, 0 };
	const struct stf_share *share[] = { a ? &a->parallel : &none, a ? &a->parallel : &none,
		a ? &a->load_balance : &none, a ? &a->communication : &none, a ? &a->serialisation : &none,
		a ? &a->transfer : &none };
	const char *p = o->fail_below;
	size_t i, n;
	double limit;
	char *end;
	int rc = STT_OK;

	while (p && *p) {
		n = strcspn(p, "=,");
		for (i = 0;
			i < sizeof(names) / sizeof(names[0]) && (strlen(names[i]) != n || strncmp(p, names[i], n) != 0);
			i++) {
		}
		p += n;
		limit = *p == '=' ? strtod(p + 1, &end) : -1;
		if (i == sizeof(names) / sizeof(names[0]) || !(limit >= 0 && limit <= 1) || end == p + 1 ||
			(*end && (*end != ',' || !end[1]))) {
			return stt_usage(o,
				"--fail-below: '%s' is not efficiency, load_balance, communication, serialisation or transfer, = and a share from 0 to 1",
				o->fail_below);
		}
		p = end + (*end == ',');
		rc |= a ? check_share(o, names[i ? i : 1], share[i], limit) : STT_OK;
	}
	return rc;
}

struct progress_of_analysis {
	const struct stt_options *o;
	const struct stt_trace *t;
};

static int show_progress(void *user, uint64_t time)
{
	const struct progress_of_analysis *p = user;

	stt_progress(p->o, p->t, time, 0);
	return 0;
}

/* One window of time, or none. */
static int take_window(const struct stt_report *r, struct stf_analysis_options *o)
{
	const struct stt_request *q = r->req;

	if (!q->n) {
		return 0;
	}
	if (q->n > 1 || q->window[0].n_triplets || q->window[0].categories || !q->window[0].timed) {
		stt_usage(r->o, "--analyze takes one --request with a window of time alone, such as 1s:5s");
		return -1;
	}
	o->window = 1;
	o->from = q->window[0].start;
	o->to = q->window[0].end;
	return 0;
}

/* ---- one line ---- */

enum { MOST_SECONDS = 10, SAID_WAITS = 3 };
#define LACKS_PROCESSOR 0.1 /* as in vtreport: the kernel's noise is below that */
#define NOTICEABLE 0.05     /* of the time that is lost by waits */

/* A job that has just ended is not held up longer than this. */
static int is_long_enough(void *user, uint64_t time)
{
	const struct timespec *begin = user;
	struct timespec now;

	(void)time;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - begin->tv_sec >= MOST_SECONDS;
}

/* "rank 3", or "thread 1 of rank 3". */
static const char *rank_name(uint32_t willy, char *buf, size_t size)
{
	if (stf_willy_thread(willy)) {
		snprintf(buf, size, "thread %" PRIu32 " of rank %" PRIu32, stf_willy_thread(willy),
			stf_willy_process(willy));
	} else {
		snprintf(buf, size, "rank %" PRIu32, stf_willy_process(willy));
	}
	return buf;
}

/* ", in NAME"; nothing if the trace has no function there. */
static const char *in_function(const struct shown_analysis *s, uint32_t id, char *buf, size_t size)
{
	char full[1000];
	const char *name = id ? stt_full_name(s->t, STF_ID_function_definition, id, full, sizeof(full)) : NULL;

	snprintf(buf, size, "%s%s", name ? ", in " : "", name ? name : "");
	return buf;
}

/* The other sentences are about a program that gets the processors that it uses. */
static void say_without_processor(const struct shown_analysis *s)
{
	if (s->a->without_processor > LACKS_PROCESSOR) {
		printf("the ranks were ready to run for %.0f %% of the time without a processor, and all times contain that: "
		       "look for other programs, and for two ranks on a core\n",
			100 * s->a->without_processor);
	}
}

/* The first thread whose MPI_Finalize the trace lacks, because the run ended before it or it was not recorded: what its last calls
 * waited for is unknown then. NULL: there is none. */
static const struct stf_mpi_thread *without_finalize(const struct stf_analysis *a)
{
	size_t i;

	for (i = 0; i < a->n_threads && !(a->thread[i].begins && !a->thread[i].ends); i++) {
	}
	return i < a->n_threads ? &a->thread[i] : NULL;
}

static void say_who(const struct shown_analysis *s)
{
	const struct stf_culprit *c = &s->a->culprit;
	const double unit = s->a->resolution;
	char name[1024], rank[80];

	if (!c->known && c->without_processor > 0) {
		printf("no single rank makes the others wait: %s, for which they wait most, was ready to run for %.4g s without a processor\n",
			rank_name(c->willy, rank, sizeof(rank)), c->without_processor);
		return;
	}
	if (!c->known && !s->windowed && without_finalize(s->a)) {
		printf("the trace has no MPI_Finalize of %s: it is not known whether one rank makes the others wait\n",
			rank_name(without_finalize(s->a)->willy, rank, sizeof(rank)));
		return;
	}
	if (!c->known) {
		puts(s->a->without_processor > LACKS_PROCESSOR ||
					s->a->load_balance.value * s->a->serialisation.value < 1 - NOTICEABLE
				? "no single rank makes the others wait"
				: "no rank makes the others wait for long");
		return;
	}
	printf("%s makes the others wait%s, from %.4g s to %.4g s: %.4g s in all, %.0f %% of the%s\n",
		rank_name(c->willy, rank, sizeof(rank)), in_function(s, c->function, name, sizeof(name)),
		(double)c->since * unit, (double)c->until * unit, (double)c->waited * unit, 100 * c->share,
		c->by_work ? "ir time in MPI, as it works longer" : " waits");
}

/* Also the efficiencies and the longest waits, a line each. */
static void say_more(const struct shown_analysis *s)
{
	const struct stf_analysis *a = s->a;
	char rank[80], cause[80], name[1024];
	size_t i;

	if (!isnan(a->parallel.value)) {
		printf("parallel efficiency %.1f %% = load balance %.1f %% x communication %.1f %%\n",
			100 * a->parallel.value, 100 * a->load_balance.value, 100 * a->communication.value);
	}
	for (i = 0; i < SAID_WAITS && i < a->n_waits && a->wait[i].count; i++) {
		const struct stf_wait *w = &a->wait[i];

		printf("%s waits %.4g s%s, %s: %" PRIu64 " %s%s%s\n", rank_name(w->willy, rank, sizeof(rank)),
			(double)w->sum * a->resolution, in_function(s, w->function, name, sizeof(name)),
			stf_wait_name(w->kind), w->count, w->count == 1 ? "wait" : "waits",
			w->kind == STF_WAIT_OPEN ? "" : ", the longest for ",
			w->kind == STF_WAIT_OPEN ? "" : rank_name(w->cause, cause, sizeof(cause)));
	}
}

int stt_print_who(const struct stt_report *r, const struct stt_trace *t)
{
	struct stf_analysis_options o = stf_analysis_options();
	struct shown_analysis s = { NULL, t, NULL, 0 };
	struct timespec begin;
	struct stf_analysis *a;
	struct stf_err e;

	if (take_window(r, &o) < 0) {
		return STT_USAGE;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	o.progress = is_long_enough;
	o.user = &begin;
	a = stf_analyze(t->r, &o, &e);
	if (!a) {
		return stt_stf_fault(r->o, &e);
	}
	s.a = a;
	s.windowed = o.window;
	if (a->processes > 1) {
		say_without_processor(&s);
		say_who(&s);
	}
	if (a->processes > 1 && r->o->verbose > 1) {
		say_more(&s);
	}
	stf_analysis_free(a);
	return STT_OK;
}

/* ---- tables ---- */

int stt_print_analysis(struct stt_report *r, const struct stt_trace *t)
{
	struct progress_of_analysis p = { r->o, t };
	struct stf_analysis_options o = stf_analysis_options();
	struct stf_analysis *a;
	struct shown_analysis s;
	struct stf_err e;
	int rc;

	if (take_window(r, &o) < 0 || check_limits(r->o, NULL) != STT_OK) {
		return STT_USAGE;
	}
	o.progress = show_progress;
	o.user = &p;
	a = stf_analyze(t->r, &o, &e);
	stt_progress(r->o, t, 0, 1);
	if (!a) {
		return stt_stf_fault(r->o, &e);
	}
	s = (struct shown_analysis){ r, t, a, o.window };
	if (!a->processes && !a->n_teams && !r->o->json && !r->o->csv) {
		printf("no thread called MPI: there are no waits and no efficiencies\n");
		rc = check_limits(r->o, a);
	} else if (!a->processes && !r->o->json && !r->o->csv) {
		rc = team_table(&s) | wait_table(&s) | check_limits(r->o, a);
	} else {
		rc = efficiency_table(&s) | (a->n_phases ? phase_table(&s) : STT_OK) |
			(a->iterations.function ? iteration_table(&s) : STT_OK) | who_table(&s) | wait_table(&s) |
			delay_table(&s) | spread_table(&s) | path_table(&s) | path_function_table(&s) |
			thread_table(&s) | (a->n_teams ? team_table(&s) : STT_OK) | basis_table(&s) |
			check_limits(r->o, a);
	}
	stf_analysis_free(a);
	return rc;
}
