/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/fit.h"

/* Two clocks of one machine that disagree by more over the run cannot both have run freely. */
static const double set_limit = 1e-3;

const char *cal_interpolation_name(enum cal_interpolation how)
{
	static const char *const names[] = { "linear", "constrained", "steffen", "cubic" };

	return names[how];
}

double cal_rank_hz(const struct cal_rank *r)
{
	return r->nominal_hz > 0 ? r->nominal_hz : r->measured_hz;
}

/* Master ticks per local tick as the two frequencies say; not finite when one is not known. */
static double nominal_slope(const struct cal_run *run, const struct cal_rank *r)
{
	return cal_rank_hz(&run->rank[run->master]) / cal_rank_hz(r);
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
	double hz = cal_rank_hz(m);

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
		return tkm_fail(err, TKM_ERR_DATA, "rank %d: neither a frequency nor two readings of the realtime clock",
			run->master);
	}
	/* too short a run, or a clock that stood: the nominal rate */
	*length = (int64_t)1 << 40;
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
	run->end = m->anchors == 2 ? cal_map_at(&m->map, m->anchor[1].local) : gtick(0);
	return 0;
}

/* Global time of a master stamp with a fraction. */
static gtick_t master_to_global(const struct cal_run *run, ltick_t master, double fraction)
{
	const struct cal_map *m = &run->rank[run->master].map;

	return gtick_add(cal_map_at(m, master), llrint(fraction * cal_map_slope(m, master)));
}

/* Effective tick of a rank in its own ticks; one tick when it was not measured. */
static double effective_ticks(const struct cal_rank *r)
{
	double ticks = r->effective_tick_s * cal_rank_hz(r);

	return isfinite(ticks) && ticks >= 1 ? ticks : 1;
}

static int condense(const struct cal_run *run, const struct cal_rank *r, const struct cal_session *s, double slope,
	double error, struct cal_point *p, struct tkm_err *err)
{
	if (s->given) {
		*p = s->point;
		return 0;
	}
	return cal_condense(s, slope, error, effective_ticks(r), effective_ticks(&run->rank[run->master]),
		run->method == CAL_SYNC_PAIRS ? CAL_QUIET : CAL_MEAN, p, err);
}

/* Which slope holds within the sessions, and how far off it can be at most (relative). Each clock is within
 * max_drift of its nominal rate; what is certain at both ends of the run narrows that down, to within the
 * wander. The regression's slope would not do: it is only likely. */
static int certain_slope(const struct cal_run *run, const struct cal_rank *r, double *slope, double *error,
	struct tkm_err *err)
{
	const struct cal_session *first = NULL, *last = NULL;
	double nominal = nominal_slope(run, r), rise, width, narrow;
	struct cal_point a, b;
	size_t k;

	*slope = nominal;
	*error = 2 * run->max_drift;
	for (k = 0; k < r->sessions; k++) {
		if (r->session[k].used) {
			first = first ? first : &r->session[k];
			last = &r->session[k];
		}
	}
	if (first == last) {
		return 0;
	}
	if (condense(run, r, first, *slope, *error, &a, err) < 0 || condense(run, r, last, *slope, *error, &b, err) < 0) {
		return -1;
	}
	rise = (double)ltick_sub(b.master, a.master) + 0.5 * (b.low + b.high) - 0.5 * (a.low + a.high);
	width = 0.5 * (fabs(b.high - b.low) + fabs(a.high - a.low));
	narrow = width / rise + 2 * run->max_wander;
	if (rise > 0 && narrow < *error) {
		*slope = rise / (double)ltick_sub(b.local, a.local);
		*error = narrow;
	}
	return 0;
}

static int add_nodes(const struct cal_run *run, const struct cal_rank *r, struct cal_map *map, struct tkm_err *err)
{
	double slope, error;
	size_t k;

	if (certain_slope(run, r, &slope, &error, err) < 0) {
		return -1;
	}

	map->node = calloc(r->sessions + 1, sizeof(*map->node));
	if (!map->node) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	for (k = 0; k < r->sessions; k++) {
		struct cal_node *n = &map->node[map->nodes];
		struct cal_point p;
		double low, high;

		if (r->session[k].n == 0 && !r->session[k].given) {
			continue; /* all lost: nothing is known here */
		}
		if (condense(run, r, &r->session[k], slope, error, &p, err) < 0) {
			return -1;
		}
		/* contradicting samples (a clock stepped in the session) certify no more than their hull */
		low = fmin(p.low, p.high);
		high = fmax(p.low, p.high);
		n->local = p.local;
		n->global = master_to_global(run, p.master, p.fraction);
		n->low = gtick_add(master_to_global(run, p.master, low), -1);
		n->high = gtick_add(master_to_global(run, p.master, high), 1);
		n->used = r->session[k].used;
		map->nodes++;
	}
	return 0;
}

static int line_map(const struct cal_run *run, const struct cal_line *line, struct cal_map *map, struct tkm_err *err)
{
	double slope = cal_map_slope(&run->rank[run->master].map, line->master0);

	return cal_map_line(map, line->local0, master_to_global(run, line->master0, line->offset), line->slope * slope,
		err);
}

static int spline_map(struct cal_map *map, enum cal_interpolation how, struct tkm_err *err)
{
	static const enum cal_spline kinds[] = { [CAL_CONSTRAINED] = CAL_SPLINE_CONSTRAINED,
		[CAL_STEFFEN] = CAL_SPLINE_STEFFEN, [CAL_CUBIC] = CAL_SPLINE_CUBIC };
	ltick_t *local = malloc((map->nodes + 1) * sizeof(*local));
	gtick_t *global = malloc((map->nodes + 1) * sizeof(*global));
	size_t n = 0, i;
	int rc = -1;

	for (i = 0; local && global && i < map->nodes; i++) {
		if (map->node[i].used) {
			local[n] = map->node[i].local;
			global[n++] = map->node[i].global;
		}
	}
	if (!local || !global) {
		tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	} else {
		rc = cal_map_spline(map, kinds[how], local, global, n, err);
	}
	free(local);
	free(global);
	return rc;
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
	double nominal = nominal_slope(run, r);
	struct cal_line line;

	memset(map, 0, sizeof(*map));
	map->period_s = run->period_s;
	map->max_drift = run->max_drift;
	map->max_wander = run->max_wander;
	if (!(nominal > 0) || !isfinite(nominal)) {
		return tkm_fail(err, TKM_ERR_DATA, "the frequency of %s is not known", r->timer);
	}
	if (cal_fit_line(r->session, r->sessions, nominal, &line, err) < 0 || add_nodes(run, r, map, err) < 0) {
		cal_map_free(map);
		return -1;
	}
	/* our points are better than their samples: the line goes through the two */
	if (how == CAL_LINEAR && run->method == CAL_SYNC_PAIRS && used_sessions(r) == 2) {
		how = CAL_CONSTRAINED;
	}
	if ((how == CAL_LINEAR ? line_map(run, &line, map, err) : spline_map(map, how, err)) < 0) {
		cal_map_free(map);
		return -1;
	}
	return 0;
}

/* Puts the rank in front of an error that does not know it. */
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
		double hz = cal_rank_hz(&run->rank[i]);

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
	run->interpolation = CAL_LINEAR;
	for (i = 0; i < run->ranks; i++) {
		filter_and_mark(&run->rank[i], nominal_slope(run, &run->rank[i]), skip);
		if (used_sessions(&run->rank[i]) > 2) {
			run->interpolation = run->wanted;
		}
		cal_map_free(&run->rank[i].map);
		run->rank[i].map.period_s = run->period_s;
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
	return 0;
}

int cal_solve_alternative(const struct cal_run *run, int rank, enum cal_interpolation how, struct cal_map *out,
	struct tkm_err *err)
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
	ltick_t at = m->piece[0].local;
	long double skew = (long double)cal_map_slope(m, at) * m->period_s;
	long double there = (long double)run->realtime0_ns * 1e-9L + (long double)cal_map_at(m, at).v * m->period_s;

	*skew_s = (double)skew;
	*offset_s = (double)(there - skew * (long double)at.v);
}

void cal_rank_free(struct cal_rank *r)
{
	size_t k;

	for (k = 0; k < r->sessions; k++) {
		cal_session_free(&r->session[k]);
	}
	for (k = 0; k < r->edges; k++) {
		cal_session_free(&r->edge[k]);
	}
	free(r->session);
	free(r->edge);
	cal_map_free(&r->map);
	memset(r, 0, sizeof(*r));
}

void cal_run_free(struct cal_run *run)
{
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		cal_rank_free(&run->rank[i]);
	}
	free(run->rank);
	memset(run, 0, sizeof(*run));
}
