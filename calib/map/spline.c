/* SPDX-License-Identifier: BSD-3-Clause */
/* The curves through the points of a clock map. */
#include "config.h"
#include "calib/map/map.h"

#include <math.h>
#include <stdlib.h>

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
	d[n] = (h[n - 1] * h[n - 1] * r[n - 2] + (2 * h[n - 2] + 3 * h[n - 1]) * h[n - 2] * r[n - 1]) /
		(h[n - 1] + h[n - 2]);
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
 * negative. */
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
			rc = tkm_fail(
				err, TKM_ERR_DATA, "clock map: time goes back between points %zu and %zu", i, i + 1);
		}
	}
	if (rc == 0 && n > 2) {
		if (kind == CAL_SPLINE_CUBIC) {
			rc = bend_cubic(p, n - 1, err);
		} else {
			bend_constrained(p, n - 1);
		}
	}
	for (i = 0; i + 1 < n && rc == 0; i++) {
		if (!rises(&p[i])) {
			rc = tkm_fail(err, TKM_ERR_DATA, "clock map: the curve goes back between points %zu and %zu", i,
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
