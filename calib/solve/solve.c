/* SPDX-License-Identifier: BSD-3-Clause */
/* From the measurements of a run to its clock maps; see calib/solve/solve.h. */
#include "config.h"
#include "calib/solve/solve.h"
#include "calib/solve/assumptions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/map/curve.h"
#include "calib/map/fit.h"
#include "calib/map/learn.h"
#include "calib/tree/net.h"

/* Two clocks of one machine that disagree by more over the run cannot both have run freely. */
static const double set_limit = 1e-3;

/* Master ticks per local tick as the two frequencies say; not finite when one is not known. */
static double nominal_slope(const struct cal_run *run, const struct cal_rank *r)
{
	double master = cal_session_hz(&run->rank[run->master]), own = cal_session_hz(r);

	return master > 0 && own > 0 ? master / own : NAN;
}

static void filter_and_mark(struct cal_rank *r, double nominal, int skip)
{
	size_t k;
	int middle = 0;

	for (k = 0; k < r->sessions; k++) {
		struct cal_session *s = &r->session[k];

		cal_filter(s->sample, s->n, 0.1, nominal);
		s->used = s->kind != CAL_MIDDLE;
		if (s->kind == CAL_MIDDLE) {
			s->used = skip >= 0 && middle % (skip + 1) == skip;
			middle++;
		}
		s->used = s->used && (s->n > 0 || s->given);
	}
}

/* Global ticks per master tick as a fraction rise / length: the run takes as long as the master's
 * realtime clock says. */
static int scale_of_run(struct cal_run *run, int64_t *length, int64_t *rise, struct tkm_err *err)
{
	const struct cal_rank *m = &run->rank[run->master];
	const struct cal_anchor *a = &m->anchor[0], *b = &m->anchor[1];
	int64_t real, mono;
	double hz = cal_session_hz(m);

	run->realtime0_ns = a->realtime_ns;
	run->clock_was_set = 0;
	if (m->anchors == 2 && ltick_sub(b->local, a->local) > 0) {
		real = b->realtime_ns - a->realtime_ns;
		mono = b->monotonic_ns - a->monotonic_ns;
		if (mono > 0 && fabs((double)(real - mono)) > set_limit * (double)mono) {
			run->clock_was_set = 1;
			real = mono;
		}
		*length = ltick_sub(b->local, a->local);
		*rise = llrint((double)real * 1e-9 / run->period_s);
		if (*rise > 0) {
			return 0;
		}
	}
	if (!(hz > 0)) {
		return tkm_fail(err, TKM_ERR_DATA,
			"rank %d: neither a frequency nor two readings of the realtime clock", run->master);
	}
	/* too short a run, or a clock that stood: the nominal rate */
	*length = (int64_t)1 << 40;
	while (*length > 1 && (double)*length / hz / run->period_s >= 0x1p61) {
		*length /= 2;
	}
	*rise = llrint((double)*length / hz / run->period_s);
	return 0;
}

static int master_map(struct cal_run *run, struct tkm_err *err)
{
	struct cal_rank *m = &run->rank[run->master];
	int64_t length = 1, rise = 1;
	struct cal_piece *p;

	if (scale_of_run(run, &length, &rise, err) < 0) {
		return -1;
	}
	p = malloc(sizeof(*p));
	if (!p) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	*p = (struct cal_piece){ m->anchor[0].local, gtick(0), length, rise, 0, 0 };
	m->map.piece = p;
	m->map.pieces = 1;
	run->end = m->anchors == 2 ? cal_map_session_at(&m->map, m->anchor[1].local) : gtick(0);
	return 0;
}

/* Global time of a master stamp with a fraction. */
static gtick_t master_to_global(const struct cal_run *run, ltick_t master, double fraction)
{
	const struct cal_map *m = &run->rank[run->master].map;

	return gtick_add(cal_map_session_at(m, master), llrint(fraction * cal_map_session_slope(m, master)));
}

/* Effective tick of a rank in its own ticks; one tick when it was not measured. */
static double child_effective_ticks(const struct cal_rank *r)
{
	double ticks = cal_session_tick(r) * cal_session_hz(r);

	return isfinite(ticks) && ticks >= 1 ? ticks : 1;
}

static enum cal_estimate estimate_of(const struct cal_run *run)
{
	return run->method == CAL_SYNC_PAIRS ? CAL_QUIET : CAL_MEAN;
}

/* It is assumed that no clock is set in a session shorter than this. */
static const double long_session_s = 1e-3;

static double lasted(const struct cal_rank *r, const struct cal_session *s)
{
	return s->n ? (double)ltick_sub(s->sample[s->n - 1].recv, s->sample[0].send) / cal_session_hz(r) : 0;
}

/* What the nodes of a rank are made of. slope and error as for cal_condense(). */
struct node_source {
	const struct cal_run *run;
	const struct cal_rank *rank;
	double slope, error;
};

/* Appends the node of a session or of a part of it. */
static int add_node(
	const struct node_source *q, const struct cal_session *s, int session, struct cal_map *map, struct tkm_err *err)
{
	const struct cal_run *run = q->run;
	const struct cal_rank *r = q->rank;
	struct cal_node *n = &map->node[map->nodes];
	double tick = child_effective_ticks(r), master_tick = child_effective_ticks(&run->rank[run->master]);
	struct cal_point p = s->point;

	if (!s->given && cal_condense(s, q->slope, q->error, tick, master_tick, estimate_of(run), &p, err) < 0) {
		return -1;
	}
	if (!s->given && map->may_step && lasted(r, s) > long_session_s) {
		cal_allow_for_step(s, q->slope, q->error, tick, master_tick, &p);
	}
	*n = (struct cal_node){ .local = p.local,
		.global = master_to_global(run, p.master, p.fraction),
		.low = gtick_add(master_to_global(run, p.master, fmin(p.low, p.high)), -1),
		.high = gtick_add(master_to_global(run, p.master, fmax(p.low, p.high)), 1),
		.used = s->used,
		.sigma = p.sigma * cal_map_session_slope(&run->rank[run->master].map, p.master),
		.session = session + 1 };
	map->nodes++;
	return 0;
}

/* A stretch of a session's samples, filtered on its own. */
static int add_half(
	const struct node_source *q, int session, size_t from, size_t to, struct cal_map *map, struct tkm_err *err)
{
	const struct cal_session *whole = &q->rank->session[session];
	struct cal_session half = { .kind = whole->kind, .used = whole->used, .n = to - from };
	int rc;

	if (half.n == 0) {
		return 0;
	}
	half.sample = malloc(half.n * sizeof(*half.sample));
	if (!half.sample) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	memcpy(half.sample, whole->sample + from, half.n * sizeof(*half.sample));
	cal_filter(half.sample, half.n, 0.1, q->slope);
	rc = add_node(q, &half, session, map, err);
	free(half.sample);
	return rc;
}

/* One node per session, two where a clock stepped within it. */
static int add_nodes(const struct cal_run *run, const struct cal_rank *r, double slope, double error,
	struct cal_map *map, struct tkm_err *err)
{
	const struct node_source q = { run, r, slope, error };
	struct cal_node *grown = realloc(map->node, (2 * r->sessions + 1) * sizeof(*grown));
	const struct cal_map *master = &run->rank[run->master].map;
	size_t k, before, after;
	int torn, rc = 0;

	if (!grown) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	map->node = grown;
	map->nodes = 0;
	for (k = 0; k < r->sessions && rc == 0; k++) {
		const struct cal_session *s = &r->session[k];

		if (s->n == 0 && !s->given) {
			continue; /* all exchanges were lost: nothing is known here */
		}
		torn = s->given ? 0
				: cal_find_step_in_session(s, slope, error, child_effective_ticks(r),
					  child_effective_ticks(&run->rank[run->master]), &before, &after);
		if (torn < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
		}
		rc = torn ? add_half(&q, (int)k, 0, before, map, err) : add_node(&q, s, (int)k, map, err);
		if (rc == 0 && torn) {
			rc = add_half(&q, (int)k, after, s->n, map, err);
		} else if (rc == 0) {
			cal_map_leave_out_same_tick(map, slope * cal_map_session_slope(master, master->piece[0].local));
		}
	}
	return rc;
}

/* May somebody have set the rank's clock or the master's between two sessions? Or moved the machine of one of them? */
static int may_step(const struct cal_run *run, const struct cal_rank *r)
{
	const struct cal_rank *m = &run->rank[run->master];

	return cal_session_may_step(r) || cal_session_may_step(m) || r->disruption_changed || m->disruption_changed;
}

/* Nodes, parts, and the rate that is certain: first with what the assumption about drift allows within a
 * session, then with what came out, because in sessions that last long it makes the intervals narrower. */
static int find_child_nodes(
	const struct cal_run *run, const struct cal_rank *r, struct cal_map *map, struct tkm_err *err)
{
	double nominal = nominal_slope(run, r), slope = nominal, error = 2 * run->max_drift, found, width;
	double master = cal_map_session_slope(&run->rank[run->master].map, run->rank[run->master].map.piece[0].local);
	int pass;

	for (pass = 0; pass < 2; pass++) {
		map->max_wander = run->max_wander;
		map->may_step = may_step(run, r);
		if (add_nodes(run, r, slope, error, map, err) < 0 || cal_map_split(map, nominal * master, err) < 0) {
			return -1;
		}
		found = 0.5 * (map->rate_low + map->rate_high) / master;
		width = 0.5 * (map->rate_high - map->rate_low) / master / found;
		if (!(map->rate_high > 0) || !(width < error)) {
			break;
		}
		slope = found;
		error = width;
	}
	cal_map_narrow(map);
	return 0;
}

static int line_map(
	const struct cal_run *run, const struct cal_rank *r, double nominal, struct cal_map *map, struct tkm_err *err)
{
	double slope;
	struct cal_line line;

	if (cal_fit_line(r->session, r->sessions, nominal, &line, err) < 0) {
		return -1;
	}
	slope = cal_map_session_slope(&run->rank[run->master].map, line.master0);
	if (cal_map_line(map, line.local0, master_to_global(run, line.master0, line.offset), line.slope * slope, err) <
		0) {
		return -1;
	}
	map->part[0].piece = 0;
	map->part[0].pieces = 1;
	return 0;
}

static size_t used_sessions(const struct cal_rank *r)
{
	size_t n = 0, k;

	for (k = 0; k < r->sessions; k++) {
		n += (size_t)r->session[k].used;
	}
	return n;
}

static int child_map(const struct cal_run *run, const struct cal_rank *r, enum cal_interpolation how,
	struct cal_map *map, struct tkm_err *err)
{
	static const enum cal_spline kinds[] = {
		[CAL_CONSTRAINED] = CAL_SPLINE_CONSTRAINED, [CAL_CUBIC] = CAL_SPLINE_CUBIC
	};
	const struct cal_map *master = &run->rank[run->master].map;
	double nominal = nominal_slope(run, r);
	int rc;

	memset(map, 0, sizeof(*map));
	map->period_s = run->period_s;
	map->max_drift = run->max_drift;
	if (!(nominal > 0) || !isfinite(nominal)) {
		return tkm_fail(err, TKM_ERR_DATA, "the frequency of %s is not known", r->timer);
	}
	rc = find_child_nodes(run, r, map, err);
	if (rc == 0 && map->nodes == 0) {
		rc = tkm_fail(err, TKM_ERR_DATA, "no clock sample was kept, so there is nothing to fit");
	}
	if (rc == 0 && how == CAL_LINEAR && map->parts == 1 &&
		!(run->method == CAL_SYNC_PAIRS && used_sessions(r) <= 2)) {
		rc = line_map(run, r, nominal, map, err); /* the guide's; our points are better than their samples */
	} else if (rc == 0) {
		rc = cal_curve(map, how == CAL_LINEAR, kinds[how == CAL_LINEAR ? CAL_CUBIC : how],
			nominal * cal_map_session_slope(master, master->piece[0].local), err);
	}
	if (rc < 0) {
		cal_map_free(map);
	}
	return rc;
}

/* Prepends the rank to the text of an error. */
static int name_rank(const struct cal_rank *r, struct tkm_err *err)
{
	struct tkm_err inner;

	if (err) {
		inner = *err;
		tkm_fail(err, inner.code, "rank %d (%s): %.300s", r->rank, r->host, inner.text);
	}
	return -1;
}

static void choose_period(struct cal_run *run)
{
	double finest = 1e-6;
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		double hz = cal_session_hz(&run->rank[i]);

		if (hz > 0) {
			finest = fmin(finest, 1 / hz);
		}
	}
	run->period_s = cal_global_period(finest);
}

int cal_solve(struct cal_run *run, int skip, struct tkm_err *err)
{
	size_t i;

	choose_period(run);
	if (cal_net_solve(run, err) < 0) {
		return -1;
	}
	run->interpolation = CAL_LINEAR;
	for (i = 0; i < run->ranks; i++) {
		filter_and_mark(&run->rank[i], nominal_slope(run, &run->rank[i]), skip);
		if (used_sessions(&run->rank[i]) > 2) {
			run->interpolation = run->wanted;
		}
		cal_map_free(&run->rank[i].map);
		run->rank[i].map.period_s = run->period_s;
		/* the pairs of the master's own clock need it too, as after cal_clk_read() */
		run->rank[i].map.max_drift = run->max_drift;
	}
	if (master_map(run, err) < 0) {
		return -1;
	}
	for (i = 0; i < run->ranks; i++) {
		struct cal_rank *r = &run->rank[i];

		if ((int)i == run->master || r->sync == CAL_SHARED) {
			continue;
		}
		if (child_map(run, r, used_sessions(r) > 2 ? run->wanted : CAL_LINEAR, &r->map, err) < 0) {
			return name_rank(r, err);
		}
	}
	cal_test_assumptions(run);
	for (i = 0; i < run->ranks && run->learn && !run->contradicted; i++) {
		struct cal_rank *r = &run->rank[i];

		if (r->map.nodes && r->sync != CAL_SHARED) {
			cal_learn_tested(&r->map, cal_session_hz(r));
		}
	}
	for (i = 0; i < run->ranks; i++) {
		struct cal_rank *r = &run->rank[i];

		if (r->sync != CAL_SHARED) {
			continue;
		}
		if (cal_map_copy(&r->map, &run->rank[r->leader].map) < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
		}
		r->map.extra_s += r->shared_within_s;
	}
	return cal_attach_pairs(run, err);
}

int cal_solve_alternative(
	const struct cal_run *run, int rank, enum cal_interpolation how, struct cal_map *out, struct tkm_err *err)
{
	const struct cal_rank *r = &run->rank[rank];

	if (child_map(run, r, how, out, err) < 0) {
		return name_rank(r, err);
	}
	return 0;
}

void cal_rank_skew(const struct cal_run *run, int rank, double *offset_s, double *skew_s)
{
	const struct cal_map *m = &run->rank[rank].map;
	ltick_t at = m->pairs.n ? cal_pairs_local(&m->pairs, m->piece[0].local) : m->piece[0].local;
	long double skew = (long double)cal_map_slope(m, at) * m->period_s;
	long double there = (long double)run->realtime0_ns * 1e-9L + (long double)cal_map_at(m, at).v * m->period_s;

	*skew_s = (double)skew;
	*offset_s = (double)(there - skew * (long double)at.v);
}
