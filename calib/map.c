/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

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
	double rate = 2 * m->max_drift, apart, slope, chord; /* one node: the map is nominal, two clocks are off it */

	if (other && ltick_sub(other->local, edge->local) != 0) {
		/* what believable clocks do is no limit here: the map itself may tilt by more */
		apart = seconds_between(m, edge->local, other->local);
		rate = (node_error(m, edge) + node_error(m, other)) / apart + 2 * m->max_wander;
		/* the map goes on with its slope at the edge, the reasoning with its slope between the nodes */
		slope = cal_map_slope(m, edge->local);
		chord = (double)gtick_sub(cal_map_at(m, edge->local), cal_map_at(m, other->local)) /
			(double)ltick_sub(edge->local, other->local);
		rate += fabs(slope - chord) / chord;
	}
	return node_error(m, edge) + seconds_between(m, edge->local, local) * rate;
}

/* Without extra_s. */
static double own_bound(const struct cal_map *m, ltick_t local)
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

double cal_map_bound(const struct cal_map *m, ltick_t local)
{
	return own_bound(m, local) + m->extra_s;
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

/* Slopes are computed as differences from the secants: the slopes of a clock agree in their first ten
 * digits, and a difference of two doubles of them would be noise. */

static double secant(const struct cal_piece *p)
{
	return (double)p->rise / (double)p->length;
}

/* Secant of b minus secant of a, exactly in the numerator. */
static double secant_step(const struct cal_piece *a, const struct cal_piece *b)
{
	__int128 num = (__int128)b->rise * a->length - (__int128)a->rise * b->length;

	return (double)((long double)num / (long double)a->length / (long double)b->length);
}

/* With secants s (left) and t (right), d = 2st/(s+t), so d - s = s (t - s) / (s + t) and d - t =
 * -t (t - s) / (s + t). Both secants are positive here, so "differ in sign" cannot happen. */
static void bend_constrained(struct cal_piece *p, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		double s = secant(&p[i]), t = secant(&p[i + 1]), step = secant_step(&p[i], &p[i + 1]);

		p[i].bend_end = s * step / (s + t);
		p[i + 1].bend_begin = -t * step / (s + t);
	}
	/* end slope 1.5 s - 0.5 d, where d = s + bend: minus s leaves -bend / 2 */
	p[0].bend_begin = -0.5 * p[0].bend_end;
	p[n - 1].bend_end = -0.5 * p[n - 1].bend_begin;
}

/* The parabola through three points has the slope s + step h_left / (h_left + h_right) in the middle,
 * and s - step h / (h_left + h_right) at an end. Steffen limits it to twice the smaller secant, and an
 * end slope to between 0 and twice its secant. */
static void bend_steffen(struct cal_piece *p, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		double s = secant(&p[i]), t = secant(&p[i + 1]), step = secant_step(&p[i], &p[i + 1]);
		double h = (double)p[i].length, k = (double)p[i + 1].length, bend = step * h / (h + k);

		bend = fmin(bend, 2 * fmin(s, t) - s);
		p[i].bend_end = bend;
		p[i + 1].bend_begin = bend - step;
		if (i == 0) {
			p[0].bend_begin = fmin(fmax(-step * h / (h + k), -s), s);
		}
		if (i + 2 == n) {
			p[n - 1].bend_end = fmin(fmax(step * k / (h + k), -t), t);
		}
	}
}

/* Slopes d_0 .. d_n of the not-a-knot cubic from the secants r_i (both less a common slope) and the
 * lengths h_i of n >= 2 intervals. The second derivative is continuous inside:
 *   h_i d_(i-1) + 2 (h_(i-1) + h_i) d_i + h_(i-1) d_(i+1) = 3 (h_i r_(i-1) + h_(i-1) r_i)
 * and the third at the first and last inner point:
 *   h_1 d_0 + (h_0 + h_1) d_1 = ((3 h_0 + 2 h_1) h_1 r_0 + h_0^2 r_1) / (h_0 + h_1)
 * Solved by elimination; a is the diagonal below, b the diagonal, c above, of n + 1 rows. */
static void solve_not_a_knot(const double *h, const double *r, size_t n, double *a, double *b, double *c, double *d)
{
	size_t i;

	b[0] = h[1];
	c[0] = h[0] + h[1];
	d[0] = ((3 * h[0] + 2 * h[1]) * h[1] * r[0] + h[0] * h[0] * r[1]) / (h[0] + h[1]);
	for (i = 1; i < n; i++) {
		a[i] = h[i];
		b[i] = 2 * (h[i - 1] + h[i]);
		c[i] = h[i - 1];
		d[i] = 3 * (h[i] * r[i - 1] + h[i - 1] * r[i]);
	}
	a[n] = h[n - 1] + h[n - 2];
	b[n] = h[n - 2];
	d[n] = (h[n - 1] * h[n - 1] * r[n - 2] + (2 * h[n - 2] + 3 * h[n - 1]) * h[n - 2] * r[n - 1]) / (h[n - 1] + h[n - 2]);
	for (i = 1; i <= n; i++) {
		double f = a[i] / b[i - 1];

		b[i] -= f * c[i - 1];
		d[i] -= f * d[i - 1];
	}
	d[n] /= b[n];
	for (i = n; i-- > 0;) {
		d[i] = (d[i] - c[i] * d[i + 1]) / b[i];
	}
}

static int bend_cubic(struct cal_piece *p, size_t n, struct tkm_err *err)
{
	double *work = malloc((6 * n + 6) * sizeof(*work));
	double *h = work, *r = work + n, *d = work + 2 * n, *rest = d + n + 1;
	size_t i;

	if (!work) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	for (i = 0; i < n; i++) {
		h[i] = (double)p[i].length / (double)p[0].length; /* any unit will do */
		r[i] = i ? secant_step(&p[0], &p[i]) : 0;
	}
	if (n == 2) {
		/* both ends say the same of two intervals: the parabola */
		d[1] = r[1] * h[0] / (h[0] + h[1]);
		d[0] = -d[1];
		d[2] = 2 * r[1] - d[1];
	} else {
		solve_not_a_knot(h, r, n, rest, rest + n + 1, rest + 2 * n + 2, d);
	}
	for (i = 0; i < n; i++) {
		p[i].bend_begin = d[i] - r[i];
		p[i].bend_end = d[i + 1] - r[i];
	}
	free(work);
	return 0;
}

/* Does the piece go back nowhere? Its slope is a parabola in u; enough that the ends and the apex are not
 * negative. Steffen's limits make an end slope 0 at the most, give or take rounding. */
static int rises(const struct cal_piece *p)
{
	double s = secant(p), b = p->bend_begin, e = p->bend_end, least = -1e-12 * s, apex, u;

	/* s + b - (4b + 2e) u + 3 (b + e) u^2 */
	if (!(s + b >= least) || !(s + e >= least)) {
		return 0;
	}
	if (b + e > 0) {
		u = (2 * b + e) / (3 * (b + e));
		apex = s + b - (2 * b + e) * u;
		return u <= 0 || u >= 1 || apex >= least;
	}
	return 1;
}

int cal_map_spline(struct cal_map *m, enum cal_spline kind, const ltick_t *local, const gtick_t *global, size_t n,
	struct tkm_err *err)
{
	struct cal_piece *p;
	size_t i;
	int rc = 0;

	if (n < 2) {
		return tkm_fail(err, TKM_ERR_DATA, "clock map: %zu points are no curve", n);
	}
	p = calloc(n - 1, sizeof(*p));
	if (!p) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	for (i = 0; i + 1 < n && rc == 0; i++) {
		p[i].local = local[i];
		p[i].global = global[i];
		p[i].length = ltick_sub(local[i + 1], local[i]);
		p[i].rise = gtick_sub(global[i + 1], global[i]);
		if (p[i].length <= 0 || p[i].rise <= 0) {
			rc = tkm_fail(err, TKM_ERR_DATA, "clock map: time goes back between synchronisation points %zu and %zu", i,
				i + 1);
		}
	}
	if (rc == 0 && n > 2) {
		if (kind == CAL_SPLINE_CUBIC) {
			rc = bend_cubic(p, n - 1, err);
		} else {
			(kind == CAL_SPLINE_STEFFEN ? bend_steffen : bend_constrained)(p, n - 1);
		}
	}
	for (i = 0; i + 1 < n && rc == 0; i++) {
		if (!rises(&p[i])) {
			rc = tkm_fail(err, TKM_ERR_DATA, "clock map: the curve goes back between synchronisation points %zu and %zu", i,
				i + 1);
		}
	}
	if (rc < 0) {
		free(p);
		return -1;
	}
	free(m->piece);
	m->piece = p;
	m->pieces = n - 1;
	return 0;
}

int cal_map_steps(const struct cal_map *m, struct cal_step *step, int room)
{
	double *rate, typical, wander;
	size_t k, pairs = m->nodes < 4 ? 0 : m->nodes - 1;
	int found = 0;

	if (pairs == 0) {
		return 0;
	}
	rate = malloc(pairs * sizeof(*rate));
	if (!rate) {
		return -1;
	}
	for (k = 0; k < pairs; k++) {
		const struct cal_node *a = &m->node[k], *b = a + 1;
		double rise = 0.5 * ((double)gtick_sub(b->low, a->low) + (double)gtick_sub(b->high, a->high));

		rate[k] = rise / (double)ltick_sub(b->local, a->local);
	}
	typical = tkm_median(rate, pairs);
	wander = 2 * m->max_wander * typical;
	for (k = 0; k < pairs; k++) {
		const struct cal_node *a = &m->node[k], *b = a + 1;
		double length = (double)ltick_sub(b->local, a->local), expected = typical * length;
		double least = (double)gtick_sub(b->low, a->high) - expected, most = (double)gtick_sub(b->high, a->low) - expected;

		if (least > wander * length || most < -wander * length) {
			if (found < room) {
				step[found] = (struct cal_step){ a->local, b->local, 0.5 * (least + most) * m->period_s };
			}
			found++;
		}
	}
	free(rate);
	return found;
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
