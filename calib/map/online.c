/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock map of a run that still lasts; see calib/map/online.h. */
#include "config.h"
#include "calib/map/online.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "calib/map/learn.h"

/* Nodes that are kept. When they are too many, every second one of the older half goes: the base line stays. */
enum { MOST = 64 };

/* Nodes lie on a line if they are within so many times their scatter. */
static const double on_line = 2;

void cal_online_begin(struct cal_online *o, const struct cal_online_options *opt)
{
	memset(o, 0, sizeof(*o));
	o->opt = *opt;
	o->opt.tick_s = fmax(opt->tick_s, 1 / opt->hz);
	o->opt.master_tick_s = fmax(opt->master_tick_s, 1 / opt->master_hz);
	o->map.period_s = cal_global_period(fmin(1 / opt->hz, 1 / opt->master_hz));
	o->map.max_drift = opt->max_drift;
	o->map.max_wander = opt->max_wander;
	o->map.may_step = opt->may_step;
	o->slope = 1 / opt->hz / o->map.period_s;
}

void cal_online_free(struct cal_online *o)
{
	cal_map_free(&o->map);
}

/* Global ticks per master tick. */
static double scale(const struct cal_online *o)
{
	return 1 / o->opt.master_hz / o->map.period_s;
}

static gtick_t to_global(const struct cal_online *o, ltick_t master, double more)
{
	long double ticks =
		(long double)ltick_sub(master, o->master0) * (1 / (long double)o->opt.master_hz / o->map.period_s);

	return gtick((int64_t)llroundl(ticks + (long double)more * scale(o)));
}

/* What is certain of the rate, in master ticks per local one, as a value and a relative error. */
static void online_rate(const struct cal_online *o, double *slope, double *error)
{
	const struct cal_map *m = &o->map;

	*slope = o->opt.master_hz / o->opt.hz;
	*error = 2 * o->opt.max_drift;
	if (m->rate_high > 0 && m->rate_high - m->rate_low < 2 * *error * m->rate_low) {
		*slope = 0.5 * (m->rate_low + m->rate_high) / scale(o);
		*error = (m->rate_high - m->rate_low) / (m->rate_low + m->rate_high);
	}
}

/* The session, or what is after a step within it, as a node. Returns 1, 0: nothing is known here, -1. */
static int node_of(
	struct cal_online *o, const struct cal_session *s, struct cal_node *n, int *torn, struct tkm_err *err)
{
	double slope, error, tick = o->opt.tick_s * o->opt.hz, master_tick = o->opt.master_tick_s * o->opt.master_hz;
	struct cal_session rest = { .n = s->n };
	struct cal_point p = s->point;
	size_t before, after = 0;
	int rc = 0;

	online_rate(o, &slope, &error);
	*torn = s->given || s->n == 0 ? 0
				      : cal_find_step_in_session(s, slope, error, tick, master_tick, &before, &after);
	if (s->n - after * (size_t)(*torn == 1) == 0 && !s->given) {
		return 0;
	}
	if (!s->given) {
		rest.n = *torn == 1 ? s->n - after : s->n;
		rest.sample = malloc((rest.n + 1) * sizeof(*rest.sample));
		if (!rest.sample || *torn < 0) {
			free(rest.sample);
			return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
		}
		memcpy(rest.sample, s->sample + (*torn == 1 ? after : 0), rest.n * sizeof(*rest.sample));
		cal_filter(rest.sample, rest.n, 0.1, slope);
		rc = cal_condense(&rest, slope, error, tick, master_tick, o->opt.how, &p, err);
		free(rest.sample);
	}
	if (rc < 0) {
		return -1;
	}
	if (o->sessions == 0) {
		o->master0 = o->opt.have_axis ? o->opt.axis : p.master;
	}
	*n = (struct cal_node){ .local = p.local,
		.global = to_global(o, p.master, p.fraction),
		.low = gtick_add(to_global(o, p.master, fmin(p.low, p.high)), -1),
		.high = gtick_add(to_global(o, p.master, fmax(p.low, p.high)), 1),
		.used = 1,
		.sigma = p.sigma * scale(o) };
	return 1;
}

static int append_online_node(struct cal_map *m, const struct cal_node *n, struct tkm_err *err)
{
	struct cal_node *grown;
	size_t i, to;

	if (m->nodes == MOST) {
		for (i = to = 0; i < MOST; i++) {
			if (i == 0 || i >= MOST / 2 || i % 2 == 0) {
				m->node[to++] = m->node[i];
			}
		}
		m->nodes = to;
	}
	grown = realloc(m->node, (MOST + 1) * sizeof(*grown));
	if (!grown) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	m->node = grown;
	m->node[m->nodes++] = *n;
	return 0;
}

/* Only the last part matters from now on. What was found about the rate stays valid. */
static void forget_online_nodes(struct cal_online *o, int torn)
{
	struct cal_map *m = &o->map;
	size_t from = m->part[m->parts - 1].node;

	o->steps += m->steps;
	if (m->steps) {
		o->last_step = m->step[m->steps - 1];
	} else if (torn) {
		o->steps++;
	}
	memmove(m->node, m->node + from, (m->nodes - from) * sizeof(*m->node));
	m->nodes -= from;
	m->parts = 1;
	m->steps = 0;
	m->part[0] = (struct cal_part){ 0, m->nodes, 0, 0 };
}

/* The rate was within both at any instant. */
static void keep_rate(struct cal_map *m, double low, double high, double wander)
{
	if (low > 0 && m->max_wander <= wander && fmax(low, m->rate_low) < fmin(high, m->rate_high)) {
		m->rate_low = fmax(low, m->rate_low);
		m->rate_high = fmin(high, m->rate_high);
	}
	m->max_wander = fmax(m->max_wander, wander);
}

/* By how many times their sigma the nodes scatter at the most, from what four neighbours each leave of a parabola: what
 * the rate does meanwhile is not in that. At least 1. Only of the newer half, from which none was thinned out. */
static double scatter(const struct cal_map *m)
{
	double off = 0;
	size_t first = m->nodes > MOST / 2 ? m->nodes - MOST / 2 : 0, i, j, k, n = 0;

	for (i = first; i + 4 <= m->nodes; i++) {
		double sum = 0, squares = 0;

		for (j = i; j < i + 4; j++) {
			double weight = 1;

			for (k = i; k < i + 4; k++) {
				weight /= k == j ? 1 : 1e-6 * (double)ltick_sub(m->node[j].local, m->node[k].local);
			}
			sum += weight * (double)gtick_sub(m->node[j].global, m->node[i].global);
			squares += weight * weight * m->node[j].sigma * m->node[j].sigma;
		}
		if (squares > 0 && isfinite(squares)) {
			off += fabs(sum) / sqrt(squares);
			n++;
		}
	}
	/* sigma from the mean of |x|, and more of it while few nodes say so */
	return n ? fmax(1, sqrt(M_PI / 2) * off / (double)n * (1 + 1 / sqrt((double)n))) : 1;
}

/* The newest nodes as points: local ticks after the newest, global ticks beyond o->slope, and their sigma. */
struct points {
	double x[MOST], y[MOST], sigma[MOST];
};

static void online_points(const struct cal_online *o, size_t w, double more, struct points *p)
{
	const struct cal_map *m = &o->map;
	const struct cal_node *last = &m->node[m->nodes - 1];
	size_t i;

	for (i = 0; i < w; i++) {
		const struct cal_node *n = &m->node[m->nodes - w + i];

		p->x[i] = (double)ltick_sub(n->local, last->local);
		p->y[i] = (double)gtick_sub(n->global, last->global) - o->slope * p->x[i];
		p->sigma[i] = n->sigma > 0 ? more * n->sigma : INFINITY;
	}
}

/* How far the points are from the line in units of their sigma: the maximum of fewer than 6 residuals, else 1.48 times their
 * median, which single outliers do not change. */
static double typical_miss(const struct points *p, size_t w, const struct tkm_line *line)
{
	double off[MOST], most = 0;
	size_t i;

	for (i = 0; i < w; i++) {
		off[i] = fabs(p->y[i] - tkm_line_at(line, p->x[i])) / p->sigma[i];
		most = fmax(most, off[i]);
	}
	return w < 6 ? most : 1.4826 * tkm_median(off, w);
}

/* Least squares over the newest w nodes, as a slope beyond o->slope and a value at the newest; points that are far off
 * count less (Huber's weights). Do they lie on the line? */
static int fit_online(const struct cal_online *o, size_t w, double more, struct tkm_line *line)
{
	double weight[MOST];
	struct points p;
	size_t i;
	int pass;

	online_points(o, w, more, &p);
	for (pass = 0; pass < 4; pass++) {
		for (i = 0; i < w; i++) {
			double off = pass ? fabs(p.y[i] - tkm_line_at(line, p.x[i])) / p.sigma[i] : 0;

			weight[i] = fmin(1, 1.5 / fmax(off, 1e-9)) / (p.sigma[i] * p.sigma[i]);
		}
		if (tkm_line_fit(p.x, p.y, weight, w, line) < 0 && tkm_line_fit(p.x, p.y, NULL, w, line) < 0) {
			*line = (struct tkm_line){ .slope = 0 };
			return 0;
		}
	}
	return typical_miss(&p, w, line) <= on_line;
}

/* After a step, or a session that was not as expected, the run so far does not predict the rate. */
static void learn_now(struct cal_online *o)
{
	struct cal_map *m = &o->map;
	double per_master_tick = 1 / o->opt.master_hz / m->period_s; /* global ticks */

	if (o->opt.learn && !o->refuted && !o->steps) {
		cal_learn(m, o->opt.hz);
		if (o->opt.earlier_high > 0) {
			cal_learn_earlier(m, o->opt.earlier_low * per_master_tick,
				o->opt.earlier_high * per_master_tick, o->opt.hz);
		}
	} else {
		m->learned_low = m->learned_high = m->learned_wander = 0;
		m->learned_for = 0;
	}
}

/* The line for the stamps to come: as many of the newest nodes as lie on one. That fewer of them do not says nothing
 * where more do: it was chance. */
static int predict(struct cal_online *o, struct tkm_err *err)
{
	struct cal_map *m = &o->map;
	const struct cal_node *last = &m->node[m->nodes - 1];
	struct tkm_line best = { .slope = 0 }, line;
	double at, more = scatter(m);
	size_t w;

	for (w = m->nodes; w >= 2; w--) {
		if (fit_online(o, w, more, &line) || w == 2) {
			best = line;
			break;
		}
	}
	o->slope += best.slope;
	if (m->rate_high > 0) {
		o->slope = fmin(fmax(o->slope, m->rate_low), m->rate_high);
	}
	if (m->learned_high > 0 && m->nodes == 1) {
		o->slope = 0.5 * (m->learned_low + m->learned_high);
	} else if (m->learned_high > 0) {
		o->slope = fmin(fmax(o->slope, m->learned_low), m->learned_high);
	}
	at = fmin(fmax(tkm_line_at(&best, 0), (double)gtick_sub(last->low, last->global)),
		(double)gtick_sub(last->high, last->global));
	if (cal_map_line(m, last->local, gtick_add(last->global, llrint(at)), o->slope, err) < 0) {
		return -1;
	}
	m->part[0].piece = 0;
	m->part[0].pieces = 1;
	return 0;
}

int cal_online_add(struct cal_online *o, const struct cal_session *s, struct tkm_err *err)
{
	double low = o->map.rate_low, high = o->map.rate_high, wander = o->map.max_wander;
	struct cal_map next;
	struct cal_node n;
	struct cal_online old = *o;
	int torn, rc = node_of(o, s, &n, &torn, err);

	if (rc <= 0) {
		return rc;
	}
	o->refuted = o->refuted || cal_learn_refuted(&o->map, &n);
	if (cal_map_copy(&next, &o->map) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	o->map = next;
	if (torn == 1) {
		o->map.nodes = 0;
	}
	rc = append_online_node(&o->map, &n, err);
	if (rc == 0) {
		cal_map_leave_out_same_tick(&o->map, o->slope);
		rc = cal_map_split(&o->map, 1 / o->opt.hz / o->map.period_s, err);
	}
	if (rc == 0) {
		keep_rate(&o->map, low, high, wander);
		forget_online_nodes(o, torn == 1);
		learn_now(o);
		rc = predict(o, err);
	}
	if (rc < 0) {
		cal_map_free(&o->map);
		*o = old;
		return -1;
	}
	o->sessions++;
	cal_map_free(&old.map);
	return 0;
}

/* ---- when the next one is due ---- */

double cal_map_lasts(const struct cal_map *m, ltick_t now, double target_s)
{
	double per_s = 1 / (cal_map_slope(m, now) * m->period_s), low = 0, high = 1e-6, mid;
	int i;

	if (cal_map_bound(m, now) > target_s) {
		return 0;
	}
	while (cal_map_bound(m, ltick_add(now, (int64_t)(high * per_s))) <= target_s) {
		low = high;
		high *= 2;
		if (high > 1e8) {
			return INFINITY;
		}
	}
	for (i = 0; i < 30; i++) {
		mid = 0.5 * (low + high);
		if (cal_map_bound(m, ltick_add(now, (int64_t)(mid * per_s))) <= target_s) {
			low = mid;
		} else {
			high = mid;
		}
	}
	return low;
}

double cal_session_spacing(double half_width_s, double max_wander, int may_step, double target_s)
{
	double left = target_s - half_width_s;

	/* between two nodes T apart: W T / 2 at the most, or 2 W T if either of them may be past a step */
	return left > 0 ? left / (may_step ? 2 : 0.5) / max_wander : 0;
}
