/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a * b / c to nearest, c > 0; the product does not fit 64 bits, the quotient does. */
static int64_t mul_div(int64_t a, int64_t b, int64_t c)
{
	__int128 p = (__int128)a * b;

	return (int64_t)((p >= 0 ? p + c / 2 : p - c / 2) / c);
}

/* The piece that holds `local`, else the nearest. */
static const struct cal_piece *piece_of(const struct cal_map *m, ltick_t local)
{
	size_t low = 0, high = m->pieces;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (ltick_sub(local, m->piece[mid].local) >= 0) {
			low = mid;
		} else {
			high = mid;
		}
	}
	return &m->piece[low];
}

gtick_t cal_map_at(const struct cal_map *m, ltick_t local)
{
	const struct cal_piece *p = piece_of(m, local);
	int64_t l = ltick_sub(local, p->local);
	gtick_t g = gtick_add(p->global, mul_div(l, p->rise, p->length));
	double u;

	if (l < 0) {
		return gtick_add(g, llrint((double)l * p->bend_begin));
	}
	if (l > p->length) {
		return gtick_add(g, llrint((double)(l - p->length) * p->bend_end));
	}
	u = (double)l / (double)p->length;
	return gtick_add(g, llrint((double)p->length * u * (1 - u) * ((1 - u) * p->bend_begin - u * p->bend_end)));
}

double cal_map_slope(const struct cal_map *m, ltick_t local)
{
	const struct cal_piece *p = piece_of(m, local);
	int64_t l = ltick_sub(local, p->local);
	double s = (double)p->rise / (double)p->length, u;

	if (l <= 0) {
		return s + p->bend_begin;
	}
	if (l >= p->length) {
		return s + p->bend_end;
	}
	u = (double)l / (double)p->length;
	return s + (1 - u) * (1 - 3 * u) * p->bend_begin - u * (2 - 3 * u) * p->bend_end;
}

/* Distance from the map to the far end of the node's certain interval, seconds. */
static double node_error(const struct cal_map *m, const struct cal_node *n)
{
	gtick_t at = cal_map_at(m, n->local);
	double above = (double)gtick_sub(n->high, at), below = (double)gtick_sub(at, n->low);

	return fmax(fmax(above, below), 0) * m->period_s;
}

/* The used node before `local` and the one behind it; either may be NULL. */
static void neighbours(const struct cal_map *m, ltick_t local, const struct cal_node **before,
	const struct cal_node **behind)
{
	size_t i;

	*before = *behind = NULL;
	for (i = 0; i < m->nodes; i++) {
		if (!m->node[i].used) {
			continue;
		}
		if (ltick_sub(m->node[i].local, local) <= 0) {
			*before = &m->node[i];
		} else if (!*behind) {
			*behind = &m->node[i];
		}
	}
}

/* Seconds between two local stamps, by the map's own slope. */
static double seconds_between(const struct cal_map *m, ltick_t a, ltick_t b)
{
	return fabs((double)gtick_sub(cal_map_at(m, b), cal_map_at(m, a))) * m->period_s;
}

/* Beyond the outermost node `edge`; `other` is the used node next to it or NULL. */
static double bound_outside(const struct cal_map *m, ltick_t local, const struct cal_node *edge,
	const struct cal_node *other)
{
	double rate = 2 * m->max_drift, apart; /* two clocks, each off by so much */

	if (other && ltick_sub(other->local, edge->local) != 0) {
		apart = seconds_between(m, edge->local, other->local);
		rate = fmin(rate, (node_error(m, edge) + node_error(m, other)) / apart + 2 * m->max_wander);
	}
	return node_error(m, edge) + seconds_between(m, edge->local, local) * rate;
}

double cal_map_bound(const struct cal_map *m, ltick_t local)
{
	const struct cal_node *before, *behind, *first, *unused;
	double u, apart, chord, left, right;

	if (m->nodes == 0) {
		return 0;
	}
	neighbours(m, local, &before, &behind);
	if (!before && !behind) {
		return INFINITY; /* nothing but checks */
	}
	if (!behind) {
		neighbours(m, ltick_add(before->local, -1), &first, &unused);
		return bound_outside(m, local, before, first);
	}
	if (!before) {
		neighbours(m, behind->local, &unused, &first);
		return bound_outside(m, local, behind, first);
	}
	apart = seconds_between(m, before->local, behind->local);
	u = (double)ltick_sub(local, before->local) / (double)ltick_sub(behind->local, before->local);
	left = node_error(m, before);
	right = node_error(m, behind);
	/* where the map leaves its own chord, it may be wrong by as much */
	chord = (double)gtick_sub(cal_map_at(m, local), cal_map_at(m, before->local)) -
		u * (double)gtick_sub(cal_map_at(m, behind->local), cal_map_at(m, before->local));
	return (1 - u) * left + u * right + 2 * m->max_wander * u * (1 - u) * apart + fabs(chord) * m->period_s;
}

int cal_map_line(struct cal_map *m, ltick_t local, gtick_t global, double slope, struct tkm_err *err)
{
	struct cal_piece *p;
	int64_t length = (int64_t)1 << 60;

	if (!(slope > 0) || !isfinite(slope)) {
		return tkm_fail(err, TKM_ERR_DATA, "clock map: a slope of %g cannot be", slope);
	}
	while (length > 1 && (double)length * slope >= 0x1p61) {
		length /= 2;
	}
	p = malloc(sizeof(*p));
	if (!p) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	*p = (struct cal_piece){ local, global, length, llrint((double)length * slope), 0, 0 };
	free(m->piece);
	m->piece = p;
	m->pieces = 1;
	return 0;
}

/* Secant k+1 minus secant k, exactly in the numerator. */
static double secant_step(const struct cal_piece *a, const struct cal_piece *b)
{
	__int128 num = (__int128)b->rise * a->length - (__int128)a->rise * b->length;

	return (double)((long double)num / (long double)a->length / (long double)b->length);
}

/* Slopes as differences from the secants: slopes themselves agree in their first ten digits, and a
 * difference of two doubles of them would be noise. With secants s (left) and t (right), d = 2st/(s+t),
 * so d - s = s (t - s) / (s + t) and d - t = -t (t - s) / (s + t). */
static void set_bends(struct cal_piece *p, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		double s = (double)p[i].rise / (double)p[i].length;
		double t = (double)p[i + 1].rise / (double)p[i + 1].length;
		double step = secant_step(&p[i], &p[i + 1]);

		/* both secants are positive here, so Kruger's "differ in sign" cannot happen */
		p[i].bend_end = s * step / (s + t);
		p[i + 1].bend_begin = -t * step / (s + t);
	}
	/* end slope 1.5 s - 0.5 d, where d = s + bend: minus s leaves -bend / 2 */
	p[0].bend_begin = -0.5 * p[0].bend_end;
	p[n - 1].bend_end = -0.5 * p[n - 1].bend_begin;
	if (n == 1) {
		p[0].bend_begin = p[0].bend_end = 0;
	}
}

int cal_map_constrained(struct cal_map *m, const ltick_t *local, const gtick_t *global, size_t n,
	struct tkm_err *err)
{
	struct cal_piece *p;
	size_t i;

	if (n < 2) {
		return tkm_fail(err, TKM_ERR_DATA, "clock map: %zu points are no curve", n);
	}
	p = calloc(n - 1, sizeof(*p));
	if (!p) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	for (i = 0; i + 1 < n; i++) {
		p[i].local = local[i];
		p[i].global = global[i];
		p[i].length = ltick_sub(local[i + 1], local[i]);
		p[i].rise = gtick_sub(global[i + 1], global[i]);
		if (p[i].length <= 0 || p[i].rise <= 0) {
			free(p);
			return tkm_fail(err, TKM_ERR_DATA,
				"clock map: time goes back between synchronisation points %zu and %zu", i, i + 1);
		}
	}
	set_bends(p, n - 1);
	free(m->piece);
	m->piece = p;
	m->pieces = n - 1;
	return 0;
}

int cal_map_copy(struct cal_map *to, const struct cal_map *from)
{
	*to = *from;
	to->piece = malloc((from->pieces + 1) * sizeof(*to->piece));
	to->node = malloc((from->nodes + 1) * sizeof(*to->node));
	if (!to->piece || !to->node) {
		cal_map_free(to);
		return -1;
	}
	memcpy(to->piece, from->piece, from->pieces * sizeof(*to->piece));
	if (from->nodes) {
		memcpy(to->node, from->node, from->nodes * sizeof(*to->node));
	}
	return 0;
}

void cal_map_free(struct cal_map *m)
{
	free(m->piece);
	free(m->node);
	memset(m, 0, sizeof(*m));
}

double cal_global_period(double min_period_s)
{
	static const double steps[] = { 1, 0.5, 0.2 };
	double limit = min_period_s / 4, decade = 1e-9;
	int i;

	for (;;) {
		for (i = 0; i < 3; i++) {
			if (steps[i] * decade <= limit * (1 + 1e-12)) {
				return steps[i] * decade;
			}
		}
		decade /= 10;
	}
}
