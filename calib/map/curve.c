/* SPDX-License-Identifier: BSD-3-Clause */
/* The curve of a clock map through its nodes; see calib/map/curve.h. */
#include "config.h"
#include "calib/map/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "calib/map/smooth.h"

/* Points of a piece at which it is compared with the corridor. */
enum { LOOKS = 64 };

/* The nodes that the curve goes through, as indices. */
struct knots {
	size_t n;
	size_t *node;
	ltick_t *local;
	gtick_t *global;
};

static int knots_make(struct knots *k, size_t room, struct tkm_err *err)
{
	k->n = 0;
	k->node = malloc((room + 1) * sizeof(*k->node));
	k->local = malloc((room + 1) * sizeof(*k->local));
	k->global = malloc((room + 1) * sizeof(*k->global));
	return k->node && k->local && k->global ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
}

static void knots_free(struct knots *k)
{
	free(k->node);
	free(k->local);
	free(k->global);
}

/* Is the slope between the two known well enough to be followed? */
static int slope_is_known(const struct cal_map *m, const struct cal_node *a, const struct cal_node *b)
{
	return a->sigma + b->sigma <= m->max_wander * (double)gtick_sub(b->global, a->global);
}

/* That time, or the nearest one that is certain at the node. */
static gtick_t inside_node(const struct cal_node *n, gtick_t at)
{
	gtick_t low = cal_node_low(n), high = cal_node_high(n);

	return gtick_sub(at, low) < 0 ? low : gtick_sub(at, high) > 0 ? high : at;
}

/* The used nodes of the part, without those that are too close after another; the first and the last
 * stay. wanted[] are taken in any case. */
static void choose_knots(
	const struct cal_map *m, const struct cal_part *p, const unsigned char *wanted, struct knots *k)
{
	size_t i, last = p->node + p->nodes;

	k->n = 0;
	while (last > p->node && !m->node[last - 1].used) {
		last--;
	}
	for (i = p->node; i < last; i++) {
		const struct cal_node *n = &m->node[i];

		if (!n->used) {
			continue;
		}
		if (k->n > 1 && i + 1 == last && !wanted[k->node[k->n - 1]] &&
			!slope_is_known(m, &m->node[k->node[k->n - 1]], n)) {
			k->n--;
		}
		if (k->n == 0 || i + 1 == last || wanted[i] || slope_is_known(m, &m->node[k->node[k->n - 1]], n)) {
			k->node[k->n] = i;
			k->local[k->n] = n->local;
			/* an average can lie outside what is certain */
			k->global[k->n] = inside_node(n, n->global);
			k->n++;
		}
	}
}

/* How far a point is likely to be off. Its scatter does not show the effect of paths of unequal length. */
static double knot_error(const struct cal_node *n)
{
	return fmax(fmax(2 * n->sigma, 0.1 * 0.5 * (double)gtick_sub(n->high, n->low)), 1);
}

/* The points of the knots, without what is only their scatter: where sessions follow each other closely, a curve through all of them
 * would swing with it through the long gaps beside them. */
static int smooth_curve_nodes(const struct cal_map *m, struct knots *k, struct tkm_err *err)
{
	struct cal_smooth_point *p = calloc(k->n + 1, sizeof(*p));
	double *value = malloc((k->n + 1) * sizeof(*value)), rate;
	int rc = p && value ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	size_t i;

	if (rc == 0 && k->n > 2) {
		rate = (double)gtick_sub(k->global[k->n - 1], k->global[0]) /
			(double)ltick_sub(k->local[k->n - 1], k->local[0]);
		for (i = 0; i < k->n; i++) {
			p[i].x = (double)ltick_sub(k->local[i], k->local[0]) * rate;
			p[i].y = (double)gtick_sub(k->global[i], k->global[0]) - p[i].x;
			p[i].sigma = knot_error(&m->node[k->node[i]]);
		}
		rc = cal_smooth(p, k->n, m->max_wander, value) < 0
			? tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory")
			: 0;
		for (i = 0; i < k->n && rc == 0; i++) {
			const struct cal_node *n = &m->node[k->node[i]];

			k->global[i] = inside_node(n, gtick_add(k->global[i], llrint(value[i] - p[i].y)));
		}
	}
	free(p);
	free(value);
	return rc;
}

/* By how much the curve may leave its chord at distance x after a and y before b, in global ticks. */
static void room_at(const struct cal_map *m, const struct cal_node *a, const struct cal_node *b, double x, double y,
	gtick_t chord, double *down, double *up)
{
	double da = x * m->rate_low, db = y * m->rate_low;

	*down = fmax((double)gtick_sub(cal_node_low(a), chord) + da,
		(double)gtick_sub(cal_node_low(b), chord) - y * m->rate_high);
	*up = fmin((double)gtick_sub(cal_node_high(a), chord) + x * m->rate_high,
		(double)gtick_sub(cal_node_high(b), chord) - db);
}

/* Bends a piece less until it stays inside the corridor, and bends no more than the wander allows; its chord is as good as the points are. */
static void keep_inside(
	const struct cal_map *m, const struct cal_node *a, const struct cal_node *b, struct cal_piece *p)
{
	double least = 1;
	int i;

	if (!(m->rate_high > 0)) {
		return;
	}
	for (i = 1; i < LOOKS; i++) {
		double u = (double)i / LOOKS, length = (double)p->length, down, up;
		double leaves = length * u * (1 - u) * ((1 - u) * p->bend_begin - u * p->bend_end);
		double bow = cal_map_bow(m, u, (double)p->rise);

		room_at(m, a, b, u * length, (1 - u) * length, gtick_add(p->global, llrint(u * (double)p->rise)), &down,
			&up);
		/* no clock leaves its own chord by more, and the bound adds what the curve does */
		up = fmin(up, bow);
		down = fmax(down, -bow);
		if (leaves > fmax(up, 0)) {
			least = fmin(least, fmax(up, 0) / leaves);
		} else if (leaves < fmin(down, 0)) {
			least = fmin(least, fmin(down, 0) / leaves);
		}
	}
	p->bend_begin *= least;
	p->bend_end *= least;
}

static int spline(
	const struct cal_map *m, const struct knots *k, enum cal_spline kind, struct cal_map *out, struct tkm_err *err)
{
	size_t i;

	if (cal_map_spline(out, kind, k->local, k->global, k->n, err) < 0) {
		return -1;
	}
	for (i = 0; i + 1 < k->n && kind == CAL_SPLINE_CUBIC; i++) {
		keep_inside(m, &m->node[k->node[i]], &m->node[k->node[i + 1]], &out->piece[i]);
	}
	return 0;
}

/* Which used nodes does the curve miss by more than what is certain there? Adds them to wanted, returns how
 * many are new. */
static size_t add_missed_nodes(
	const struct cal_map *m, const struct cal_part *p, const struct cal_map *curve, unsigned char *wanted)
{
	size_t i, n = 0;

	for (i = p->node; i < p->node + p->nodes; i++) {
		const struct cal_node *node = &m->node[i];
		gtick_t at = cal_map_at(curve, node->local);

		if (node->used && !wanted[i] && (gtick_sub(at, inside_node(node, at)) != 0)) {
			wanted[i] = 1;
			n++;
		}
	}
	return n;
}

static int part_spline(const struct cal_map *m, const struct cal_part *p, enum cal_spline kind, struct knots *k,
	struct cal_map *out, struct tkm_err *err)
{
	unsigned char *wanted = calloc(m->nodes + 1, 1);
	struct tkm_err why = { .text = "" };
	int rc = wanted ? 0 : tkm_fail(&why, TKM_ERR_NOMEM, "clock map: out of memory");

	while (rc == 0) {
		choose_knots(m, p, wanted, k);
		rc = kind == CAL_SPLINE_CUBIC ? smooth_curve_nodes(m, k, &why) : 0;
		rc = rc < 0 ? rc : spline(m, k, kind, out, &why);
		if (rc < 0 && kind == CAL_SPLINE_CUBIC && why.code != TKM_ERR_NOMEM) {
			/* it would go back; this one never does */
			rc = spline(m, k, CAL_SPLINE_CONSTRAINED, out, &why);
		}
		if (rc == 0 && add_missed_nodes(m, p, out, wanted) == 0) {
			break;
		}
	}
	free(wanted);
	if (rc < 0 && err) {
		*err = why;
	}
	return rc;
}

/* The most likely rate of the run, where a part has but one node: that of the longest part. */
static double likely_rate(const struct cal_map *m, double nominal)
{
	double best = nominal, longest = 0;
	size_t i;

	if (!(nominal > 0) && m->rate_high > 0) {
		best = 0.5 * (m->rate_low + m->rate_high);
	}
	for (i = 0; i < m->parts; i++) {
		const struct cal_part *p = &m->part[i];
		const struct cal_node *a = &m->node[p->node], *b = &m->node[p->node + p->nodes - 1];
		double length = (double)ltick_sub(b->local, a->local);

		if (length > longest) {
			longest = length;
			best = (double)gtick_sub(b->global, a->global) / length;
		}
	}
	return m->rate_high > 0 ? fmin(fmax(best, m->rate_low), m->rate_high) : best;
}

/* Least squares through the points. */
static int part_line(const struct knots *k, double rate, struct cal_map *out, struct tkm_err *err)
{
	double *x = malloc(2 * (k->n + 1) * sizeof(*x)), *y;
	struct tkm_line line = { .slope = 0 };
	size_t i;
	int rc;

	if (!x) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	y = x + k->n + 1;
	for (i = 0; i < k->n; i++) {
		x[i] = (double)ltick_sub(k->local[i], k->local[0]);
		y[i] = (double)gtick_sub(k->global[i], k->global[0]) - rate * x[i];
	}
	if (tkm_line_fit(x, y, NULL, k->n, &line) < 0) {
		line = (struct tkm_line){ .slope = 0 };
	}
	rc = cal_map_line(
		out, k->local[0], gtick_add(k->global[0], llrint(tkm_line_at(&line, 0))), rate + line.slope, err);
	free(x);
	return rc;
}

int cal_curve(struct cal_map *m, int straight, enum cal_spline kind, double nominal, struct tkm_err *err)
{
	unsigned char *none = calloc(m->nodes + 1, 1);
	double rate = likely_rate(m, nominal);
	struct cal_map one = { 0 };
	struct knots k = { 0 };
	size_t i;
	int rc = none ? knots_make(&k, m->nodes, err) : tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");

	free(m->piece);
	m->piece = NULL;
	m->pieces = 0;
	for (i = 0; i < m->parts && rc == 0; i++) {
		struct cal_part *p = &m->part[i];

		choose_knots(m, p, none, &k);
		if (m->parts > 1 && k.n == 2 && !slope_is_known(m, &m->node[k.node[0]], &m->node[k.node[1]])) {
			k.n = 1; /* too short a part to know its rate, and the gap after it may be long */
		}
		rc = k.n == 1 || (straight && k.n > 2) ? part_line(&k, rate, &one, err)
						       : part_spline(m, p, kind, &k, &one, err);
		p->piece = m->pieces;
		p->pieces = rc == 0 ? one.pieces : 0;
		rc = rc == 0 ? cal_map_append(m, &one, err) : rc;
	}
	cal_map_free(&one);
	knots_free(&k);
	free(none);
	return rc;
}
