/* SPDX-License-Identifier: BSD-3-Clause */
/*  */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "tests/lib/check.h"

#include <math.h>

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(check_uniform() * (double)(high - low));
}

/* Kruger's spline as he writes it, a + b x + c x^2 + d x^3 per interval, in long double. */
static long double kruger(const long double *x, const long double *y, int n, long double at)
{
	long double d0 = 0, d1 = 0, s, sl, sr, f0, f1, a, b, c, d, x0, x1;
	int i = 1, k;

	while (i < n - 1 && at > x[i]) {
		i++;
	}
	for (k = i - 1; k <= i; k++) {
		long double slope;

		if (k == 0 || k == n - 1) {
			slope = 0; /* below */
		} else {
			sl = (y[k] - y[k - 1]) / (x[k] - x[k - 1]);
			sr = (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
			slope = sl * sr <= 0 ? 0 : 2 / (1 / sl + 1 / sr);
		}
		*(k == i - 1 ? &d0 : &d1) = slope;
	}
	s = (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
	if (i - 1 == 0) {
		d0 = 1.5L * s - 0.5L * d1;
	}
	if (i == n - 1) {
		d1 = 1.5L * s - 0.5L * d0;
	}
	x0 = x[i - 1];
	x1 = x[i];
	f0 = -2 * (d1 + 2 * d0) / (x1 - x0) + 6 * s / (x1 - x0);
	f1 = 2 * (2 * d1 + d0) / (x1 - x0) - 6 * s / (x1 - x0);
	d = (f1 - f0) / (6 * (x1 - x0));
	c = (x1 * f0 - x0 * f1) / (2 * (x1 - x0));
	b = (y[i] - y[i - 1] - c * (x1 * x1 - x0 * x0) - d * (x1 * x1 * x1 - x0 * x0 * x0)) / (x1 - x0);
	a = y[i - 1] - b * x0 - c * x0 * x0 - d * x0 * x0 * x0;
	return a + b * at + c * at * at + d * at * at * at;
}

static void the_spline_is_krugers(void)
{
	enum { N = 8 };
	int round, i;

	for (round = 0; round < 100; round++) {
		struct cal_map m = { 0 };
		ltick_t local[N];
		gtick_t global[N];
		long double x[N], y[N], slope;

		local[0] = ltick(0);
		global[0] = gtick(0);
		for (i = 1; i < N; i++) {
			int64_t step = between(200000, 1000000);

			local[i] = ltick_add(local[i - 1], step);
			global[i] = gtick_add(global[i - 1], (int64_t)((double)step * (4 + 3 * check_uniform())));
		}
		for (i = 0; i < N; i++) {
			x[i] = local[i].v;
			y[i] = global[i].v;
		}
		CHECK(cal_map_spline(&m, CAL_SPLINE_CONSTRAINED, local, global, N, NULL) == 0, "spline");
		for (i = 0; i < 500; i++) {
			int64_t at = between(0, local[N - 1].v);

			CHECK_NEAR((double)cal_map_at(&m, ltick(at)).v, (double)kruger(x, y, N, at), 1.01);
			slope = (kruger(x, y, N, at + 1) - kruger(x, y, N, at - 1)) / 2;
			if (at > 1 && at < local[N - 1].v - 1) {
				CHECK_NEAR(cal_map_slope(&m, ltick(at)), (double)slope, 1e-4);
			}
		}
		cal_map_free(&m);
	}
}

/* Not-a-knot: any cubic comes back as it is. */
static void the_cubic_reproduces_cubics(void)
{
	enum { N = 9 };
	int round, n, i;

	for (round = 0; round < 200; round++) {
		struct cal_map m = { 0 };
		ltick_t local[N];
		gtick_t global[N];
		/* u in [0, 1] over 1e9 ticks; 4 to 6 global ticks per local one, bent by up to 10 % */
		double c1 = 4 + 2 * check_uniform(), c2 = 0.2 * (check_uniform() - 0.5),
		       c3 = 0.2 * (check_uniform() - 0.5);
		int64_t span = 1000000000;

		n = 4 + (int)(check_random() % (N - 3));
		for (i = 0; i < n; i++) {
			double u = ((double)i + (i && i < n - 1 ? 0.3 * check_uniform() : 0)) / (n - 1);

			local[i] = ltick((int64_t)(u * (double)span));
			u = (double)local[i].v / (double)span;
			global[i] = gtick(llrint((double)span * (c1 * u + c2 * u * u + c3 * u * u * u)));
		}
		CHECK(cal_map_spline(&m, CAL_SPLINE_CUBIC, local, global, (size_t)n, NULL) == 0, "spline");
		for (i = 0; i < 200; i++) {
			int64_t at = between(0, span);
			double u = (double)at / (double)span;

			CHECK_NEAR((double)cal_map_at(&m, ltick(at)).v,
				(double)span * (c1 * u + c2 * u * u + c3 * u * u * u), 4);
			CHECK_NEAR(cal_map_slope(&m, ltick(at)), c1 + 2 * c2 * u + 3 * c3 * u * u, 1e-7);
		}
		cal_map_free(&m);
	}
}

static void three_points_give_the_parabola(void)
{
	struct cal_map m = { 0 };
	ltick_t l[] = { { 0 }, { 1000000 }, { 3000000 } };
	gtick_t g[] = { { 0 }, { 5000000 }, { 16200000 } }; /* 4.8 x + 0.2e-6 x^2 */
	int64_t at;

	CHECK(cal_map_spline(&m, CAL_SPLINE_CUBIC, l, g, 3, NULL) == 0, "spline");
	for (at = 0; at <= 3000000; at += 12345) {
		CHECK_NEAR(
			(double)cal_map_at(&m, ltick(at)).v, 4.8 * (double)at + 0.2e-6 * (double)at * (double)at, 1.01);
	}
	cal_map_free(&m);
}

/* A cubic overshoots where rates jump; a map that would go back is refused, not handed out. */
static void a_cubic_that_goes_back_is_refused(void)
{
	struct cal_map m = { 0 };
	struct tkm_err err;
	ltick_t l[] = { { 0 }, { 1000 }, { 2000 }, { 3000 }, { 4000 } };
	gtick_t g[] = { { 0 }, { 10 }, { 20 }, { 100020 }, { 100030 } };

	CHECK(cal_map_spline(&m, CAL_SPLINE_CUBIC, l, g, 5, &err) < 0 && strstr(err.text, "goes back"), "%s", err.text);
	CHECK(cal_map_spline(&m, CAL_SPLINE_CONSTRAINED, l, g, 5, &err) == 0, "%s", err.text);
	cal_map_free(&m);
}

static void points_that_go_back_are_refused(void)
{
	struct cal_map m = { 0 };
	struct tkm_err err;
	ltick_t l[] = { { 0 }, { 100 }, { 200 } };
	gtick_t g[] = { { 0 }, { 400 }, { 399 } };

	CHECK(cal_map_spline(&m, CAL_SPLINE_CONSTRAINED, l, g, 3, &err) < 0 && strstr(err.text, "points 1 and 2"), "%s",
		err.text);
	CHECK(cal_map_spline(&m, CAL_SPLINE_CONSTRAINED, l, g, 1, &err) < 0, "one point");
	CHECK(cal_map_line(&m, l[0], g[0], -1, &err) < 0, "negative slope");
	CHECK(cal_map_line(&m, l[0], g[0], NAN, &err) < 0, "no slope");
	CHECK(m.pieces == 0, "a map was made");
}

#ifdef HAVE_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#endif

#ifdef HAVE_GSL
/* One row of the system below: the value or a derivative of the cubic of interval i at its left or right end. */
static void put_row(gsl_matrix *a, size_t row, size_t i, double h, int derivative, double sign)
{
	int k;

	for (k = derivative; k < 4; k++) {
		double f = 1;
		int d;

		for (d = 0; d < derivative; d++) {
			f *= k - d;
		}
		gsl_matrix_set(a, row, 4 * i + (size_t)k,
			gsl_matrix_get(a, row, 4 * i + (size_t)k) + sign * f * pow(h, k - derivative));
	}
}
#endif

#ifdef HAVE_GSL
enum { KNOTS = 7, PIECES = KNOTS - 1 };

/* GSL has no not-a-knot spline; its dense solver has one out of the conditions as the books state them: values at
 * both ends of each interval, two derivatives continuous inside, the third at the first and the last inner point. */
static void solve_dense(const double *h, const gtick_t *global, gsl_vector *x)
{
	gsl_matrix *a = gsl_matrix_calloc(4 * PIECES, 4 * PIECES);
	gsl_vector *b = gsl_vector_calloc(4 * PIECES);
	gsl_permutation *p = gsl_permutation_alloc(4 * PIECES);
	size_t row = 0, k;
	int sign, i;

	for (k = 0; k < PIECES; k++) {
		gsl_vector_set(b, row, (double)global[k].v);
		put_row(a, row++, k, 0, 0, 1);
		gsl_vector_set(b, row, (double)global[k + 1].v);
		put_row(a, row++, k, h[k], 0, 1);
	}
	for (k = 0; k + 1 < PIECES; k++) {
		for (i = 1; i <= 2; i++) {
			put_row(a, row, k, h[k], i, 1);
			put_row(a, row++, k + 1, 0, i, -1);
		}
	}
	put_row(a, row, 0, h[0], 3, 1);
	put_row(a, row++, 1, 0, 3, -1);
	put_row(a, row, PIECES - 2, h[PIECES - 2], 3, 1);
	put_row(a, row++, PIECES - 1, 0, 3, -1);
	CHECK_INT(row, 4 * PIECES);
	gsl_linalg_LU_decomp(a, p, &sign);
	gsl_linalg_LU_solve(a, p, b, x);
	gsl_permutation_free(p);
	gsl_vector_free(b);
	gsl_matrix_free(a);
}
#endif

static void the_not_a_knot_cubic_is_what_a_dense_solver_finds(void)
{
#ifdef HAVE_GSL
	int round, i;

	for (round = 0; round < 30; round++) {
		gsl_vector *x = gsl_vector_alloc(4 * PIECES);
		struct cal_map m = { 0 };
		ltick_t local[KNOTS] = { { 0 } };
		gtick_t global[KNOTS] = { { 0 } };
		double h[PIECES];

		for (i = 1; i < KNOTS; i++) {
			int64_t step = 300000 + (int64_t)(700000 * check_uniform());

			local[i] = ltick_add(local[i - 1], step);
			global[i] = gtick_add(global[i - 1], (int64_t)((double)step * (4 + check_uniform())));
			h[i - 1] = (double)step / 1e6;
		}
		solve_dense(h, global, x);
		CHECK(cal_map_spline(&m, CAL_SPLINE_CUBIC, local, global, KNOTS, NULL) == 0, "spline");
		for (i = 0; i < 300; i++) {
			size_t k = check_random() % PIECES, c;
			double d = h[k] * check_uniform(), want = 0;
			int64_t ticks = llrint(d * 1e6);

			d = (double)ticks / 1e6;
			for (c = 4; c-- > 0;) {
				want = want * d + gsl_vector_get(x, 4 * k + c);
			}
			CHECK_NEAR((double)cal_map_at(&m, ltick_add(local[k], ticks)).v, want, 1.01);
		}
		cal_map_free(&m);
		gsl_vector_free(x);
	}
#else
	printf("# without GSL: no oracle\n");
#endif
}

/* What cal_curve() falls back to, where a cubic would go back: points whose secants differ by up to 1000 times. */
static void kruger_never_goes_back(void)
{
	enum { N = 9 };
	int round, i, rc;

	for (round = 0; round < 200; round++) {
		struct cal_map m = { 0 };
		ltick_t local[N] = { { 0 } };
		gtick_t global[N] = { { 0 } }, last = { 0 };

		for (i = 1; i < N; i++) {
			int64_t length = 3000 + (int64_t)(7000 * check_uniform());

			local[i] = ltick_add(local[i - 1], length);
			global[i] =
				gtick_add(global[i - 1], 1 + (int64_t)((double)length * pow(10, 3 * check_uniform())));
		}
		rc = cal_map_spline(&m, CAL_SPLINE_CONSTRAINED, local, global, N, NULL);
		CHECK(rc == 0, "no spline");
		for (i = 0; i < 5000 && rc == 0; i++) {
			gtick_t at = cal_map_at(&m, ltick(ltick_sub(local[N - 1], local[0]) * i / 5000));

			CHECK(gtick_sub(at, last) >= 0, "goes back at %d", i);
			last = at;
		}
		cal_map_free(&m);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_spline_is_krugers);
	RUN(the_cubic_reproduces_cubics);
	RUN(three_points_give_the_parabola);
	RUN(a_cubic_that_goes_back_is_refused);
	RUN(points_that_go_back_are_refused);
	RUN(the_not_a_knot_cubic_is_what_a_dense_solver_finds);
	RUN(kruger_never_goes_back);
	return check_end();
}
