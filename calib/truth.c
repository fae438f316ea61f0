/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/text.h"
#include "calib/clk.h"
#include "timers/sim.h"

const double cal_truth_after_s[CAL_TRUTH_TIMES] = { 0, 10, 60 };

const char *cal_truth_name(int method)
{
	static const char *const ours[] = { "pairs", "itc" };

	return method < CAL_TRUTH_BASELINE ? ours[method] : cal_baseline_name((enum cal_baseline)(method - CAL_TRUTH_BASELINE));
}

/* What a round needs to remember. */
struct truth {
	struct cal_link *l;
	const struct cal_truth_options *opt;
	struct cal_rank *rank[CAL_TRUTH_BASELINE]; /* [method][rank]: all sessions of a round */
	struct cal_baseline_rank *baseline;
	struct cal_truth_row *row; /* of the method at hand; rank 0 */
	int64_t base0;             /* reading of the shared clock when the method ended */
	int64_t first[CAL_TRUTH_BASELINE]; /* and when its first session ended */
	double *took[CAL_TRUTH_BASELINE];  /* seconds of each session */
};

/* ---- what the truth says ---- */

/* Keeps the largest error and bound of a rank against what its clock and the master's will show. */
static void judge(struct truth *t, int when, double error, double bound)
{
	struct cal_truth_row *row = t->row;

	row->error_s[when] = fmax(row->error_s[when], fabs(error));
	if (!isnan(bound)) {
		row->bound_s[when] = fmax(row->bound_s[when], bound);
		row->outside += !(fabs(error) <= bound);
	}
}

static int64_t base_at(const struct truth *t, int when)
{
	return t->base0 + llrint(cal_truth_after_s[when] * tmr_sim_base(t->opt->clock[0])->hz);
}

/* A rank's map minus the master's when the shared clock shows `base`; seconds. */
static double map_error(const struct truth *t, const struct cal_run *run, int rank, int64_t base, double *bound)
{
	const struct cal_map *m0 = &run->rank[0].map, *m = &run->rank[rank].map;
	double f0, f;
	ltick_t l0 = tmr_sim_truth(t->opt->clock[0], base, &f0), at = tmr_sim_truth(t->opt->clock[rank], base, &f);

	*bound = cal_map_bound(m, at);
	return ((double)gtick_sub(cal_map_at(m, at), cal_map_at(m0, l0)) + f * cal_map_slope(m, at) - f0 * cal_map_slope(m0, l0)) *
	       run->period_s;
}

/* From the first session to the last, and for the guide's method also later. */
static void judge_map(struct truth *t, const struct cal_run *run, int rank, int method)
{
	enum { POINTS = 101 };
	int64_t first = t->first[method];
	double bound, error;
	int i;

	for (i = 0; method == CAL_TRUTH_ITC && i < CAL_TRUTH_TIMES; i++) {
		error = map_error(t, run, rank, base_at(t, i), &bound);
		judge(t, i, error, bound);
	}
	for (i = 0; i < POINTS; i++) {
		error = fabs(map_error(t, run, rank, first + (int64_t)((double)(t->base0 - first) * i / (POINTS - 1)), &bound));
		t->row->between_s = fmax(t->row->between_s, error);
		t->row->outside += !(error <= bound);
	}
}

/* What our own method knows while the run lasts. */
static int judge_online(struct truth *t, const struct cal_rank *r, struct tkm_err *err)
{
	const struct cal_truth_options *opt = t->opt;
	struct cal_online_options how = { .hz = opt->sync.hz[r->rank], .master_hz = opt->sync.hz[0], .tick_s = opt->tick_s[r->rank],
		.master_tick_s = opt->tick_s[0], .max_drift = opt->max_drift, .max_wander = opt->max_wander, .how = CAL_QUIET };
	struct cal_online o;
	int rc = 0, i;
	size_t k;

	cal_online_begin(&o, &how);
	for (k = 0; k < r->sessions && rc == 0; k++) {
		rc = cal_online_add(&o, &r->session[k], err);
	}
	for (i = 0; i < CAL_TRUTH_TIMES && rc == 0; i++) {
		double f0, f, error;
		ltick_t l0 = tmr_sim_truth(opt->clock[0], base_at(t, i), &f0), at = tmr_sim_truth(opt->clock[r->rank], base_at(t, i), &f);

		error = ((double)cal_map_at(&o.map, at).v + f * cal_map_slope(&o.map, at)) * o.map.period_s -
			((double)ltick_sub(l0, o.master0) + f0) / how.master_hz;
		judge(t, i, error, cal_map_bound(&o.map, at));
	}
	cal_online_free(&o);
	return rc;
}

static void judge_line(struct truth *t, const struct cal_line *line, int rank)
{
	int when;

	for (when = 0; when < CAL_TRUTH_TIMES; when++) {
		double f0, f;
		ltick_t l0 = tmr_sim_truth(t->opt->clock[0], base_at(t, when), &f0);
		ltick_t at = tmr_sim_truth(t->opt->clock[rank], base_at(t, when), &f);
		double error = (double)ltick_sub(line->master0, l0) - f0 + line->offset +
			       line->slope * ((double)ltick_sub(at, line->local0) + f);

		judge(t, when, error / t->opt->sync.hz[0], NAN);
	}
}

/* ---- our method and the guide's: sessions ---- */

static int session(struct truth *t, int method, enum cal_session_kind kind, struct tkm_err *err)
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
	sync.method = method == CAL_TRUTH_PAIRS ? CAL_SYNC_PAIRS : CAL_SYNC_ITC;
	sync.brief = kind == CAL_MIDDLE; /* as in a job */
	rc = cal_link_barrier(l, err);
	begin = cal_link_seconds(l);
	if (method == CAL_TRUTH_ITC) {
		cal_link_hold_cores(l, 0);
	}
	if (rc == 0) {
		rc = cal_sync_ranks(l, 0, t->opt->plan, exchanges, &sync, kind, &t->rank[method][l->rank < 0 ? 0 : l->rank], err);
	}
	cal_link_hold_cores(l, 1);
	if (rc == 0 && method == CAL_TRUTH_PAIRS && t->opt->plan->shape != CAL_SHAPE_STAR) {
		rc = cal_link_barrier(l, err); /* rank 0 is ready before all others are */
	}
	if (cal_link_is(l, 0)) {
		t->took[method][t->row->sessions] = cal_link_seconds(l) - begin;
		t->row->total_s += t->took[method][t->row->sessions++];
		t->base0 = tmr_read_ordered(tmr_sim_base(l->timer)).v;
		t->first[method] = kind == CAL_START ? t->base0 : t->first[method];
	}
	free(exchanges);
	return rc;
}

static void sessions_begin(struct truth *t, int method)
{
	int i;

	for (i = 0; i < t->l->size; i++) {
		struct cal_rank *r = &t->rank[method][i];

		*r = (struct cal_rank){ .rank = i, .nominal_hz = t->opt->sync.hz[i], .effective_tick_s = t->opt->tick_s[i] };
		snprintf(r->timer, sizeof(r->timer), "sim");
	}
}

/* Sessions of all ranks go to rank 0, as in a file. */
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
		length = 0; /* rank 0 hears of it: an empty block is none */
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
static void describe_exchanges(struct truth *t, int rank, const struct cal_session *s)
{
	const double *hz = t->opt->sync.hz;
	size_t i;

	t->row->messages += 2 * (long long)(s->n + s->lost);
	for (i = 0; i < s->n; i++) {
		double took = cal_rtt(&s->sample[i], hz[s->peer] / hz[rank]) / hz[rank];

		t->row->rtt_s = fmin(t->row->rtt_s, took);
		t->row->exchange_s += took;
	}
}

/* A rank's exchanges, and the narrowest interval of its sessions. */
static void describe_rank(struct truth *t, const struct cal_run *run, const struct cal_rank *r)
{
	const struct cal_map *m = &r->map;
	double narrowest = INFINITY;
	size_t k;

	for (k = 0; k < r->sessions; k++) {
		describe_exchanges(t, r->rank, &r->session[k]);
	}
	for (k = 0; k < r->edges; k++) {
		describe_exchanges(t, r->rank, &r->edge[k]);
	}
	for (k = 0; k < m->nodes; k++) {
		narrowest = fmin(narrowest, 0.5 * (double)gtick_sub(m->node[k].high, m->node[k].low) * run->period_s);
	}
	t->row->half_s = fmax(t->row->half_s, narrowest);
}

static int evaluate_sessions(struct truth *t, int method, struct tkm_err *err)
{
	const struct cal_truth_options *opt = t->opt;
	struct cal_run run = { .ranks = (size_t)t->l->size, .rank = t->rank[method], .max_drift = opt->max_drift,
		.max_wander = opt->max_wander, .wanted = CAL_CONSTRAINED,
		.method = method == CAL_TRUTH_PAIRS ? CAL_SYNC_PAIRS : CAL_SYNC_ITC };
	int i, when;

	run.rank[0].anchors = 0; /* the master's clock is the truth here, not what the realtime clock says of it */
	if (cal_solve(&run, -1, err) < 0) {
		return -1;
	}
	t->row->half_s = t->row->between_s = t->row->exchange_s = 0;
	t->row->duration_s = tkm_median(t->took[method], (size_t)t->row->sessions);
	for (when = 0; when < CAL_TRUTH_TIMES; when++) {
		t->row->bound_s[when] = 0;
	}
	for (i = 1; i < t->l->size; i++) {
		judge_map(t, &run, i, method);
		describe_rank(t, &run, &run.rank[i]);
		if (method == CAL_TRUTH_PAIRS && judge_online(t, &run.rank[i], err) < 0) {
			return -1;
		}
	}
	if (method == CAL_TRUTH_PAIRS) {
		t->row->claimed_s = t->row->bound_s[0];
	}
	return 0;
}

/* Everything about a method whose sessions are over. */
static int sessions_end(struct truth *t, int method, struct tkm_err *err)
{
	int i, rc = gather_sessions(t, t->rank[method], err);

	if (rc == 0 && cal_link_is(t->l, 0)) {
		rc = evaluate_sessions(t, method, err);
	}
	for (i = 0; i < t->l->size; i++) {
		cal_rank_free(&t->rank[method][i]);
	}
	return rc;
}

/* ---- the methods of others ---- */

static int gather_baseline(struct truth *t, struct tkm_err *err)
{
	struct cal_link *l = t->l;
	struct cal_blobs all;
	int i;

	if (l->rank < 0) {
		return 0;
	}
	if (cal_link_gather(l, &t->baseline[l->rank], sizeof(*t->baseline), &all, err) < 0) {
		return -1;
	}
	for (i = 0; i < all.n; i++) {
		memcpy(&t->baseline[i], all.data[i], sizeof(*t->baseline));
	}
	cal_blobs_free(&all);
	return 0;
}

static void evaluate_baseline(struct truth *t)
{
	int i;

	for (i = 1; i < t->l->size; i++) {
		const struct cal_baseline_rank *b = &t->baseline[i];

		judge_line(t, &b->line, i);
		t->row->rtt_s = fmin(t->row->rtt_s, b->shortest / t->opt->sync.hz[i]);
		t->row->messages += b->messages;
		if (!isnan(b->check_s)) {
			t->row->claimed_s = fmax(isnan(t->row->claimed_s) ? 0 : t->row->claimed_s, fabs(b->check_s));
		}
	}
}

static int baseline(struct truth *t, enum cal_baseline which, struct tkm_err *err)
{
	struct cal_baseline_options opt = t->opt->baseline;
	struct cal_link *l = t->l;
	double begin;
	int rc;

	opt.hz = t->opt->sync.hz;
	if (cal_link_barrier(l, err) < 0) {
		return -1;
	}
	cal_link_hold_cores(l, 0); /* as these programs wait */
	rc = cal_baseline_warm(l, err);
	begin = cal_link_seconds(l);
	if (rc == 0) {
		rc = cal_baseline_run(l, which, &opt, t->baseline, err);
	}
	if (rc == 0 && cal_link_is(l, 0)) {
		t->row->sessions = 1;
		t->row->duration_s = t->row->total_s = cal_link_seconds(l) - begin;
		t->base0 = tmr_read_ordered(tmr_sim_base(l->timer)).v;
	}
	if (rc == 0 && which != CAL_MIN10) {
		rc = cal_baseline_check(l, &opt, t->baseline, err);
	}
	cal_link_hold_cores(l, 1);
	if (rc == 0) {
		rc = gather_baseline(t, err);
	}
	if (rc == 0 && cal_link_is(l, 0)) {
		evaluate_baseline(t);
	}
	return rc;
}

/* ---- rounds ---- */

static void empty(struct cal_truth_row *row)
{
	*row = (struct cal_truth_row){ .rtt_s = INFINITY, .between_s = NAN, .half_s = NAN, .claimed_s = NAN, .exchange_s = NAN };
	row->bound_s[0] = row->bound_s[1] = row->bound_s[2] = NAN;
}

/* Nobody goes on alone: rank 0 is the one that has something to fail at. */
static int agree(struct cal_link *l, int rc, struct tkm_err *err)
{
	int32_t all = rc;

	return cal_link_bcast(l, &all, sizeof(all), err) < 0 || rc < 0 || all < 0 ? -1 : 0;
}

static int is_wanted(const struct truth *t, int method)
{
	return (t->opt->methods & 1u << method) != 0;
}

static void begins(const struct truth *t, int round, int method)
{
	if (t->opt->progress && cal_link_is(t->l, 0)) {
		t->opt->progress(t->opt->ctx, round, cal_truth_name(method));
	}
}

/* What is done once: each method begins in some round. */
static int all_baselines(struct truth *t, int round, struct cal_truth_row *rows, struct tkm_err *err)
{
	int i, rc = 0;

	for (i = 0; i < CAL_BASELINES && rc == 0; i++) {
		int method = CAL_TRUTH_BASELINE + (i + round) % CAL_BASELINES;

		if (is_wanted(t, method)) {
			begins(t, round, method);
			t->row = &rows[method];
			rc = agree(t->l, baseline(t, (enum cal_baseline)(method - CAL_TRUTH_BASELINE), err), err);
		}
	}
	return rc;
}

/* The sessions of our method and of the guide's side by side over apart_s. */
static int all_sessions(struct truth *t, int round, struct cal_truth_row *rows, struct tkm_err *err)
{
	double begin = cal_link_seconds(t->l);
	int last = t->opt->sessions - 1, k, i, method, rc = 0;

	for (k = 0; k <= last && rc == 0; k++) {
		cal_link_sleep(t->l, fmax(0, begin + t->opt->apart_s * k / last - cal_link_seconds(t->l)));
		for (i = 0; i < CAL_TRUTH_BASELINE && rc == 0; i++) {
			method = (i + round) % CAL_TRUTH_BASELINE;
			if (!is_wanted(t, method) || (method == CAL_TRUTH_ITC && k > 0 && k < last)) {
				continue;
			}
			begins(t, round, method);
			t->row = &rows[method];
			if (k == 0) {
				sessions_begin(t, method);
			}
			rc = session(t, method, k == 0 ? CAL_START : k < last ? CAL_MIDDLE : CAL_END, err);
			if (rc == 0 && k == last) {
				rc = sessions_end(t, method, err);
			}
			rc = agree(t->l, rc, err);
		}
	}
	return rc;
}

int cal_truth_measure(struct cal_link *l, const struct cal_truth_options *opt, struct cal_truth_row *row,
	struct tkm_err *err)
{
	struct truth t = { .l = l, .opt = opt };
	struct cal_truth_row unused[CAL_TRUTH_METHODS];
	int i, round, rc = 0;

	t.baseline = calloc((size_t)l->size, sizeof(*t.baseline));
	for (i = 0; i < CAL_TRUTH_BASELINE; i++) {
		t.rank[i] = calloc((size_t)l->size, sizeof(*t.rank[i]));
		t.took[i] = calloc((size_t)opt->sessions, sizeof(*t.took[i]));
	}
	if (!t.baseline || !t.rank[0] || !t.rank[1] || !t.took[0] || !t.took[1]) {
		rc = tkm_fail(err, TKM_ERR_NOMEM, "clock comparison: out of memory");
	}
	cal_link_hold_cores(l, 1);
	l->by_mpi = 1; /* the methods are compared by the same messages */
	for (round = 0; round < opt->rounds && rc == 0; round++) {
		struct cal_truth_row *rows = cal_link_is(l, 0) ? row + round * CAL_TRUTH_METHODS : unused;

		for (i = 0; i < CAL_TRUTH_METHODS; i++) {
			empty(&rows[i]);
		}
		rc = all_sessions(&t, round, rows, err);
		if (rc == 0) {
			rc = all_baselines(&t, round, rows, err);
		}
	}
	for (i = 0; i < CAL_TRUTH_BASELINE; i++) {
		free(t.rank[i]);
		free(t.took[i]);
	}
	free(t.baseline);
	return rc;
}
