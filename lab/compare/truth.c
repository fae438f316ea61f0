/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of measuring offsets compared with known true times; see lab/compare/truth.h. */
#include "config.h"
#include "lab/compare/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib/solve/solve.h"
#include "base/text/text.h"
#include "calib/analysis/analysis.h"
#include "calib/file/clk.h"
#include "timers/sources/sim.h"

const double cal_truth_after_s[CAL_TRUTH_TIMES] = { 0, 10, 60 };

/* Points between the first session and the last at which a method is judged. */
enum { POINTS = 101 };

const char *cal_truth_name(int method)
{
	static const char *const ours[] = { "pairs", "itc" };

	return method < CAL_TRUTH_BASELINE ? ours[method]
					   : cal_baseline_name((enum cal_baseline)(method - CAL_TRUTH_BASELINE));
}

const char *cal_truth_table_name(int table)
{
	static const char *const names[] = { "published", "time", "messages" };

	return names[table];
}

/* One method in one table of a round. */
struct entry {
	int method, table;
	double share;                           /* of the messages that its authors use */
	struct cal_truth_row *row;              /* rank 0 */
	struct cal_rank *rank;                  /* pairs and itc: all sessions of the round, by rank */
	struct cal_baseline_rank *first, *last; /* others: of the first and the last session, by rank */
	double *took;                           /* seconds of each session */
	int64_t base_first, base_last; /* reading of the shared clock when the first and the last session ended */
};

struct truth {
	struct cal_link *l;
	const struct cal_truth_options *opt;
	struct entry entry[CAL_TRUTH_TABLES * CAL_TRUTH_METHODS];
};

static int is_ours_or_itc(const struct entry *e)
{
	return e->method < CAL_TRUTH_BASELINE;
}

static enum cal_baseline baseline_of(const struct entry *e)
{
	return (enum cal_baseline)(e->method - CAL_TRUTH_BASELINE);
}

/* 1: the method has a first and a last session, and its errors between them count. */
static int has_sessions(int method)
{
	return method < CAL_TRUTH_BASELINE || method == CAL_TRUTH_BASELINE + CAL_MIN10;
}

/* ---- what the truth says ---- */

/* Keeps the largest error and bound of a rank against what its clock and the master's will show. */
static void judge(struct entry *e, int when, double error, double bound)
{
	struct cal_truth_row *row = e->row;

	row->error_s[when] = fmax(row->error_s[when], fabs(error));
	if (!isnan(bound)) {
		row->bound_s[when] = fmax(row->bound_s[when], bound);
		row->outside += !(fabs(error) <= bound);
	}
}

static int64_t base_at(const struct truth *t, const struct entry *e, int when)
{
	return e->base_last + llrint(cal_truth_after_s[when] * tmr_sim_base(t->opt->clock[0])->hz);
}

/* The i-th point between the sessions. */
static int64_t base_between(const struct entry *e, int i)
{
	return e->base_first + (int64_t)((double)(e->base_last - e->base_first) * i / (POINTS - 1));
}

/* A rank's map minus the master's when the shared clock shows `base`; seconds. */
static double map_error(const struct truth *t, const struct cal_run *run, int rank, int64_t base, double *bound)
{
	const struct cal_map *m0 = &run->rank[0].map, *m = &run->rank[rank].map;
	double f0, f;
	ltick_t l0 = tmr_sim_truth(t->opt->clock[0], base, &f0), at = tmr_sim_truth(t->opt->clock[rank], base, &f);

	*bound = cal_map_bound(m, at);
	return ((double)gtick_sub(cal_map_at(m, at), cal_map_at(m0, l0)) + f * cal_map_slope(m, at) -
		       f0 * cal_map_slope(m0, l0)) *
		run->period_s;
}

/* From the first session to the last, and for the guide's method also later. */
static void judge_map(struct truth *t, struct entry *e, const struct cal_run *run, int rank)
{
	double bound, error;
	int i;

	for (i = 0; e->method == CAL_TRUTH_ITC && i < CAL_TRUTH_TIMES; i++) {
		error = map_error(t, run, rank, base_at(t, e, i), &bound);
		judge(e, i, error, bound);
	}
	for (i = 0; i < POINTS; i++) {
		error = fabs(map_error(t, run, rank, base_between(e, i), &bound));
		e->row->between_s = fmax(e->row->between_s, error);
		e->row->outside += !(error <= bound);
	}
}

/* The map of our own method while the run lasts. */
static int judge_online(struct truth *t, struct entry *e, const struct cal_rank *r, struct tkm_err *err)
{
	const struct cal_truth_options *opt = t->opt;
	struct cal_online_options how = { .hz = opt->sync.hz[r->rank],
		.master_hz = opt->sync.hz[0],
		.tick_s = opt->tick_s[r->rank],
		.master_tick_s = opt->tick_s[0],
		.max_drift = opt->max_drift,
		.max_wander = opt->max_wander,
		.how = CAL_QUIET };
	struct cal_online o;
	int rc = 0, i;
	size_t k;

	cal_online_begin(&o, &how);
	for (k = 0; k < r->sessions && rc == 0; k++) {
		rc = cal_online_add(&o, &r->session[k], err);
	}
	for (i = 0; i < CAL_TRUTH_TIMES && rc == 0; i++) {
		double f0, f, error;
		ltick_t l0 = tmr_sim_truth(opt->clock[0], base_at(t, e, i), &f0),
			at = tmr_sim_truth(opt->clock[r->rank], base_at(t, e, i), &f);

		error = ((double)cal_map_at(&o.map, at).v + f * cal_map_slope(&o.map, at)) * o.map.period_s -
			((double)ltick_sub(l0, o.master0) + f0) / how.master_hz;
		judge(e, i, error, cal_map_bound(&o.map, at));
	}
	cal_online_free(&o);
	return rc;
}

/* Seconds that a rank's line is off when the shared clock shows `base`. */
static double line_error(const struct truth *t, const struct cal_line *line, int rank, int64_t base)
{
	double f0, f;
	ltick_t l0 = tmr_sim_truth(t->opt->clock[0], base, &f0), at = tmr_sim_truth(t->opt->clock[rank], base, &f);

	return ((double)ltick_sub(line->master0, l0) - f0 + line->offset +
		       line->slope * ((double)ltick_sub(at, line->local0) + f)) /
		t->opt->sync.hz[0];
}

static void judge_line(struct truth *t, struct entry *e, const struct cal_line *line, int rank)
{
	int i;

	for (i = 0; i < CAL_TRUTH_TIMES; i++) {
		judge(e, i, line_error(t, line, rank, base_at(t, e, i)), NAN);
	}
	for (i = 0; has_sessions(e->method) && i < POINTS; i++) {
		e->row->between_s = fmax(e->row->between_s, fabs(line_error(t, line, rank, base_between(e, i))));
	}
}

/* ---- our method and the guide's: sessions ---- */

static int sync_session(struct truth *t, struct entry *e, enum cal_session_kind kind, struct tkm_err *err)
{
	struct cal_link *l = t->l;
	struct cal_sync_options sync = t->opt->sync;
	unsigned char *exchanges = malloc((size_t)l->size);
	double begin;
	int rc;

	if (!exchanges) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock comparison: out of memory");
	}
	memset(exchanges, 1, (size_t)l->size);
	sync.method = e->method == CAL_TRUTH_PAIRS ? CAL_SYNC_PAIRS : CAL_SYNC_ITC;
	sync.brief = kind == CAL_MIDDLE; /* as in a job */
	sync.max_messages = llrint(fmax(2, fmin(1e6, (double)sync.max_messages * e->share)));
	rc = cal_link_barrier(l, err);
	begin = cal_link_seconds(l);
	if (e->method == CAL_TRUTH_ITC) {
		cal_link_hold_cores(l, 0);
	}
	if (rc == 0) {
		rc = cal_sync_ranks(
			l, 0, t->opt->plan, exchanges, &sync, kind, &e->rank[l->rank < 0 ? 0 : l->rank], err);
	}
	cal_link_hold_cores(l, 1);
	if (rc == 0 && e->method == CAL_TRUTH_PAIRS && t->opt->plan->shape != CAL_SHAPE_STAR) {
		rc = cal_link_barrier(l, err); /* rank 0 is ready before all others are */
	}
	if (cal_link_is(l, 0)) {
		e->took[e->row->sessions++] = cal_link_seconds(l) - begin;
		e->base_last = tmr_read_ordered(tmr_sim_base(l->timer)).v;
	}
	free(exchanges);
	return rc;
}

static void sessions_begin(struct truth *t, struct entry *e)
{
	int i;

	for (i = 0; i < t->l->size; i++) {
		struct cal_rank *r = &e->rank[i];

		*r = (struct cal_rank){
			.rank = i, .nominal_hz = t->opt->sync.hz[i], .effective_tick_s = t->opt->tick_s[i]
		};
		snprintf(r->timer, sizeof(r->timer), "sim");
	}
}

/* Sends the sessions of all ranks to rank 0, in the format of a file. */
static int gather_sessions(struct truth *t, struct cal_rank *rank, struct tkm_err *err)
{
	struct cal_link *l = t->l;
	struct cal_blobs all;
	char *text = NULL;
	size_t length = 0;
	FILE *f;
	int i, rc;

	if (l->rank < 0) {
		return 0;
	}
	f = open_memstream(&text, &length);
	if (!f || (cal_clk_write_rank(f, &rank[l->rank], err) | tkm_text_end(f, &text)) != 0) {
		length = 0; /* an empty block tells rank 0 that there is none */
	}
	rc = cal_link_gather(l, text ? text : "", length, &all, err);
	free(text);
	for (i = 1; rc == 0 && l->rank == 0 && i < all.n; i++) {
		cal_rank_free(&rank[i]);
		rc = cal_clk_read_rank(all.data[i], all.length[i], "rank", &rank[i], err);
	}
	if (rc == 0) {
		cal_blobs_free(&all);
	}
	return rc;
}

/* Round trips and messages of exchanges with one other rank. */
static void describe_exchanges(struct truth *t, struct cal_truth_row *row, int rank, const struct cal_session *s)
{
	const double *hz = t->opt->sync.hz;
	size_t i;

	row->messages += 2 * (long long)(s->n + s->lost);
	for (i = 0; i < s->n; i++) {
		double took = cal_rtt(&s->sample[i], hz[s->peer] / hz[rank]) / hz[rank];

		row->rtt_s = fmin(row->rtt_s, took);
		row->exchange_s += took;
	}
}

/* A rank's exchanges, and the narrowest interval of its sessions. */
static void describe_rank(
	struct truth *t, struct cal_truth_row *row, const struct cal_run *run, const struct cal_rank *r)
{
	const struct cal_map *m = &r->map;
	double narrowest = INFINITY;
	size_t k;

	for (k = 0; k < r->sessions; k++) {
		describe_exchanges(t, row, r->rank, &r->session[k]);
	}
	for (k = 0; k < r->edges; k++) {
		describe_exchanges(t, row, r->rank, &r->edge[k]);
	}
	for (k = 0; k < m->nodes; k++) {
		narrowest = fmin(narrowest, 0.5 * (double)gtick_sub(m->node[k].high, m->node[k].low) * run->period_s);
	}
	row->half_s = fmax(row->half_s, narrowest);
}

static int evaluate_sessions(struct truth *t, struct entry *e, struct tkm_err *err)
{
	const struct cal_truth_options *opt = t->opt;
	struct cal_run run = { .ranks = (size_t)t->l->size,
		.rank = e->rank,
		.max_drift = opt->max_drift,
		.max_wander = opt->max_wander,
		.wanted = CAL_CONSTRAINED,
		.method = e->method == CAL_TRUTH_PAIRS ? CAL_SYNC_PAIRS : CAL_SYNC_ITC };
	int i, when;

	run.rank[0].anchors = 0; /* the master's clock is the truth here, not what the realtime clock says of it */
	if (cal_solve(&run, -1, err) < 0) {
		return -1;
	}
	e->row->half_s = e->row->between_s = e->row->exchange_s = 0;
	for (when = 0; when < CAL_TRUTH_TIMES; when++) {
		e->row->bound_s[when] = 0;
	}
	for (i = 1; i < t->l->size; i++) {
		judge_map(t, e, &run, i);
		describe_rank(t, e->row, &run, &run.rank[i]);
		if (e->method == CAL_TRUTH_PAIRS && judge_online(t, e, &run.rank[i], err) < 0) {
			return -1;
		}
	}
	if (e->method == CAL_TRUTH_PAIRS) {
		e->row->claimed_s = e->row->bound_s[0];
	}
	return 0;
}

/* Evaluates a method after its last session. */
static int sessions_end(struct truth *t, struct entry *e, struct tkm_err *err)
{
	int i, rc = gather_sessions(t, e->rank, err);

	if (rc == 0 && cal_link_is(t->l, 0)) {
		rc = evaluate_sessions(t, e, err);
	}
	for (i = 0; i < t->l->size; i++) {
		cal_rank_free(&e->rank[i]);
	}
	return rc;
}

/* ---- the methods of others ---- */

static int gather_baseline(struct truth *t, struct cal_baseline_rank *out, struct tkm_err *err)
{
	return t->l->rank < 0 ? 0 : cal_link_collect(t->l, &out[t->l->rank], sizeof(*out), out, err);
}

static void evaluate_baseline(struct truth *t, struct entry *e)
{
	int i;

	e->row->between_s = has_sessions(e->method) ? 0 : NAN;
	for (i = 1; i < t->l->size; i++) {
		struct cal_baseline_rank *b = &e->last[i];

		if (has_sessions(e->method)) {
			cal_baseline_join(&e->first[i], b);
		}
		judge_line(t, e, &b->line, i);
		e->row->rtt_s = fmin(e->row->rtt_s, b->shortest / t->opt->sync.hz[i]);
		e->row->messages += b->messages;
		if (!isnan(b->check_s)) {
			e->row->claimed_s = fmax(isnan(e->row->claimed_s) ? 0 : e->row->claimed_s, fabs(b->check_s));
		}
	}
}

static int baseline_session(struct truth *t, struct entry *e, struct cal_baseline_rank *out, struct tkm_err *err)
{
	struct cal_baseline_options opt = t->opt->baseline;
	struct cal_link *l = t->l;
	double begin;
	int rc;

	opt.hz = t->opt->sync.hz;
	cal_baseline_scale(baseline_of(e), e->share, &opt);
	if (cal_link_barrier(l, err) < 0) {
		return -1;
	}
	cal_link_hold_cores(l, 0); /* as these programs wait */
	rc = cal_baseline_warm(l, err);
	begin = cal_link_seconds(l);
	if (rc == 0) {
		rc = cal_baseline_run(l, baseline_of(e), &opt, out, err);
	}
	if (rc == 0 && cal_link_is(l, 0)) {
		e->took[e->row->sessions++] = cal_link_seconds(l) - begin;
		e->base_last = tmr_read_ordered(tmr_sim_base(l->timer)).v;
	}
	if (rc == 0 && e->method != CAL_TRUTH_BASELINE + CAL_MIN10) {
		rc = cal_baseline_check(l, &opt, out, err);
	}
	cal_link_hold_cores(l, 1);
	return rc == 0 ? gather_baseline(t, out, err) : rc;
}

/* ---- rounds ---- */

static void clear_row(struct cal_truth_row *row)
{
	*row = (struct cal_truth_row){
		.rtt_s = INFINITY, .between_s = NAN, .half_s = NAN, .claimed_s = NAN, .exchange_s = NAN
	};
	row->bound_s[0] = row->bound_s[1] = row->bound_s[2] = NAN;
}

/* All ranks stop if rank 0 fails; the others have nothing that can fail here. */
static int agree_on_failure(struct cal_link *l, int rc, struct tkm_err *err)
{
	int32_t all = rc;

	return cal_link_bcast(l, &all, sizeof(all), err) < 0 || rc < 0 || all < 0 ? -1 : 0;
}

static struct entry *entry_of(struct truth *t, int table, int method)
{
	return &t->entry[table * CAL_TRUTH_METHODS + method];
}

/* In the other tables, "pairs" sets the time or the number of messages for the other methods. */
static int is_wanted(const struct truth *t, const struct entry *e)
{
	return (t->opt->methods & 1u << e->method) && (e->table == CAL_TRUTH_PUBLISHED || e->method != CAL_TRUTH_PAIRS);
}

static void print_entry(const struct truth *t, int round, const struct entry *e)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", cal_truth_name(e->method),
		e->table == CAL_TRUTH_PUBLISHED ? "" : ", equal ",
		e->table == CAL_TRUTH_PUBLISHED ? "" : cal_truth_table_name(e->table));
	if (t->opt->progress && cal_link_is(t->l, 0)) {
		t->opt->progress(t->opt->ctx, round, name);
	}
}

/* The k-th session of a method, or all that it does; all processes agree that it worked. */
static int one_session(struct truth *t, int round, struct entry *e, int k, int last, struct tkm_err *err)
{
	int rc;

	print_entry(t, round, e);
	if (is_ours_or_itc(e)) {
		if (k == 0) {
			sessions_begin(t, e);
		}
		rc = sync_session(t, e, k == 0 ? CAL_START : k < last ? CAL_MIDDLE : CAL_END, err);
	} else {
		rc = baseline_session(t, e, k < last ? e->first : e->last, err);
	}
	e->base_first = k == 0 ? e->base_last : e->base_first;
	if (rc == 0 && k == last && is_ours_or_itc(e)) {
		rc = sessions_end(t, e, err);
	} else if (rc == 0 && k == last && cal_link_is(t->l, 0)) {
		evaluate_baseline(t, e);
	}
	if (rc == 0 && k == last && cal_link_is(t->l, 0)) {
		int i;

		for (i = 0; i < e->row->sessions; i++) {
			e->row->total_s += e->took[i];
		}
		e->row->duration_s = cal_summarise(e->took, (size_t)e->row->sessions).median;
	}
	return agree_on_failure(t->l, rc, err);
}

/* Side by side: the sessions of the methods that have several over apart_s, then what the others do once. Each method begins
 * in some round. */
static int run_tables(struct truth *t, int round, int from, int to, int sessions, struct tkm_err *err)
{
	int last = sessions - 1, n = (to - from) * CAL_TRUTH_METHODS, k, i, rc = 0;
	double begin = cal_link_seconds(t->l);

	for (k = 0; k <= last && rc == 0; k++) {
		cal_link_sleep(t->l, fmax(0, begin + t->opt->apart_s * k / last - cal_link_seconds(t->l)));
		for (i = 0; i < n && rc == 0; i++) {
			struct entry *e = entry_of(t, from, (i + round) % n);
			int here = has_sessions(e->method) && (k == 0 || k == last || e->method == CAL_TRUTH_PAIRS);

			rc = here && is_wanted(t, e) ? one_session(t, round, e, k, last, err) : 0;
		}
	}
	for (i = 0; i < n && rc == 0; i++) {
		struct entry *e = entry_of(t, from, (i + round) % n);

		rc = !has_sessions(e->method) && is_wanted(t, e) ? one_session(t, round, e, 0, 0, err) : 0;
	}
	return rc;
}

/* How much each method must send, as a share of what its authors send, to take the time or the messages of our
 * method. */
static int set_shares(struct truth *t, struct tkm_err *err)
{
	double share[CAL_TRUTH_TABLES * CAL_TRUTH_METHODS];
	int table, m, i;

	for (table = CAL_TRUTH_TIME; table < CAL_TRUTH_TABLES; table++) {
		const struct cal_truth_row *ours = entry_of(t, CAL_TRUTH_PUBLISHED, CAL_TRUTH_PAIRS)->row;

		*entry_of(t, table, CAL_TRUTH_PAIRS)->row = *ours;
		for (m = 0; m < CAL_TRUTH_METHODS; m++) {
			const struct cal_truth_row *own = entry_of(t, CAL_TRUTH_PUBLISHED, m)->row;
			double a = table == CAL_TRUTH_TIME ? ours->total_s : (double)ours->messages;
			double b = table == CAL_TRUTH_TIME ? own->total_s : (double)own->messages;

			/* a method that was not wanted has taken neither */
			share[table * CAL_TRUTH_METHODS + m] = a > 0 && b > 0 ? a / b : 1;
		}
	}
	if (cal_link_bcast(t->l, share, sizeof(share), err) < 0) {
		return -1;
	}
	for (i = CAL_TRUTH_METHODS; i < CAL_TRUTH_TABLES * CAL_TRUTH_METHODS; i++) {
		t->entry[i].share = share[i];
	}
	return 0;
}

static int one_round(struct truth *t, int round, struct tkm_err *err)
{
	unsigned tables = t->opt->tables;
	int rc = run_tables(t, round, CAL_TRUTH_PUBLISHED, CAL_TRUTH_PUBLISHED + 1, t->opt->sessions, err);
	int from = tables & 1u << CAL_TRUTH_TIME ? CAL_TRUTH_TIME : CAL_TRUTH_MESSAGES;
	int to = tables & 1u << CAL_TRUTH_MESSAGES ? CAL_TRUTH_MESSAGES + 1 : CAL_TRUTH_TIME + 1;

	if (rc < 0 || from >= to) {
		return rc;
	}
	return set_shares(t, err) < 0 ? -1 : run_tables(t, round, from, to, 2, err);
}

static void entries_free(struct truth *t)
{
	int i;

	for (i = 0; i < CAL_TRUTH_TABLES * CAL_TRUTH_METHODS; i++) {
		free(t->entry[i].rank);
		free(t->entry[i].first);
		free(t->entry[i].last);
		free(t->entry[i].took);
	}
}

static int entries_new(struct truth *t, struct tkm_err *err)
{
	size_t n = (size_t)t->l->size;
	int i;

	for (i = 0; i < CAL_TRUTH_TABLES * CAL_TRUTH_METHODS; i++) {
		struct entry *e = &t->entry[i];

		*e = (struct entry){ .method = i % CAL_TRUTH_METHODS, .table = i / CAL_TRUTH_METHODS, .share = 1 };
		e->rank = calloc(n, sizeof(*e->rank));
		e->first = calloc(n, sizeof(*e->first));
		e->last = calloc(n, sizeof(*e->last));
		e->took = calloc((size_t)t->opt->sessions, sizeof(*e->took));
		if (!e->rank || !e->first || !e->last || !e->took) {
			return tkm_fail(err, TKM_ERR_NOMEM, "clock comparison: out of memory");
		}
	}
	return 0;
}

int cal_truth_measure(
	struct cal_link *l, const struct cal_truth_options *opt, struct cal_truth_row *row, struct tkm_err *err)
{
	struct truth t = { .l = l, .opt = opt };
	struct cal_truth_row unused[CAL_TRUTH_TABLES * CAL_TRUTH_METHODS];
	int i, round, rc;

	if (opt->tables != 1u << CAL_TRUTH_PUBLISHED && !(opt->methods & 1u << CAL_TRUTH_PAIRS)) {
		return tkm_fail(
			err, TKM_ERR_ARG, "equal time and equal messages: of pairs, which is not among the methods");
	}
	rc = entries_new(&t, err);
	cal_link_hold_cores(l, 1);
	l->by_mpi = 1; /* the methods are compared by the same messages */
	for (round = 0; round < opt->rounds && rc == 0; round++) {
		for (i = 0; i < CAL_TRUTH_TABLES * CAL_TRUTH_METHODS; i++) {
			struct entry *e = &t.entry[i];

			e->row = cal_link_is(l, 0) ? cal_truth_row(row, round, e->table, e->method) : &unused[i];
			clear_row(e->row);
		}
		rc = one_round(&t, round, err);
	}
	entries_free(&t);
	return rc;
}
