/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces that a clock map is made of, one at a time: the filter, the line of a session, and the curves through several
 * sessions, which GSL computes in its own way. */
#include "config.h"
#include "base/stats.h"
#include "calib/map/fit.h"
#include "calib/map/map.h"
#include "tests/lib/check.h"

#ifdef HAVE_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#endif

static void the_slowest_tenth_is_dropped(void)
{
	struct cal_sample s[100];
	int i, kept = 0;

	for (i = 0; i < 100; i++) {
		s[i] = (struct cal_sample){ ltick(0), ltick(0), ltick(0), ltick((i * 37) % 100), 0 };
	}
	CHECK_INT(cal_filter(s, 100, 0.1, 1), 90);
	for (i = 0; i < 100; i++) {
		CHECK_INT(s[i].kept, cal_rtt(&s[i], 1) < 90);
		kept += s[i].kept;
	}
	CHECK_INT(kept, 90);
	for (i = 0; i < 100; i++) {
		s[i].recv = ltick(5);
	}
	CHECK_INT(cal_filter(s, 100, 0.1, 1), 90); /* all equal: the number still holds */
	CHECK_INT(cal_filter(s, 9, 0.1, 1), 9);
	CHECK_INT(cal_filter(s, 1, 0.1, 1), 1);
	CHECK_INT(cal_filter(s, 0, 0.1, 1), 0);
}

/* Two sessions of samples with a known line between them and noise in the round trips. */
static void make_sessions(struct cal_session *k, double slope, double offset, int64_t l0, int64_t m0)
{
	int i, j;

	memset(k, 0, 2 * sizeof(*k));
	for (j = 0; j < 2; j++) {
		k[j].kind = j ? CAL_END : CAL_START;
		k[j].used = 1;
		for (i = 0; i < 100; i++) {
			int64_t send = (int64_t)(j * 2.25e10) + i * 1000;
			double rtt = 500 + 100 * check_uniform();
			struct cal_sample s;

			s.send = ltick(l0 + send);
			s.master_in = s.master_out = ltick(
				m0 + llrint(offset + slope * ((double)send + rtt * (0.45 + 0.1 * check_uniform()))));
			s.recv = ltick(l0 + send + (int64_t)rtt);
			s.kept = 1;
			CHECK(cal_session_add(&k[j], &s) == 0, "memory");
		}
		cal_filter(k[j].sample, k[j].n, 0.1, 1);
	}
}

static void the_line_is_found(void)
{
	int round;

	for (round = 0; round < 200; round++) {
		double slope = 1 + 1e-4 * (check_uniform() - 0.5), offset = 1e6 * check_uniform();
		int64_t l0 = (int64_t)(check_random() >> 4), m0 = (int64_t)(check_random() >> 4);
		struct cal_session k[2];
		struct cal_line line;
		struct tkm_err err;
		double at_mid;

		make_sessions(k, slope, offset, l0, m0);
		CHECK(cal_fit_line(k, 2, 1, &line, &err) == 0, "%s", err.text);
		CHECK_NEAR(line.slope, slope, 6 * line.slope_se);
		CHECK(line.slope_se < 1e-9, "standard error %g", line.slope_se);
		/* at the middle of the run, in ticks, where the truth is offset + slope x */
		at_mid = (double)ltick_sub(line.master0, ltick(m0)) + line.offset +
			line.slope * (1.125e10 - (double)ltick_sub(line.local0, ltick(l0)));
		CHECK_NEAR(at_mid, offset + slope * 1.125e10, 4);
		cal_session_free(&k[0]);
		cal_session_free(&k[1]);
	}
}

static void the_line_agrees_with_gsl(void)
{
#ifdef HAVE_GSL
	enum { N = 200 };
	double x[N], y[N], w[N], c0, c1, v00, v01, v11, chi;
	struct tkm_line line;
	int round, i;

	for (round = 0; round < 50; round++) {
		gsl_matrix *X = gsl_matrix_alloc(N, 2);
		gsl_vector *Y = gsl_vector_alloc(N), *c = gsl_vector_alloc(2);
		gsl_matrix *cov = gsl_matrix_alloc(2, 2);
		gsl_multifit_robust_workspace *ws = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, N, 2);

		for (i = 0; i < N; i++) {
			x[i] = i + check_uniform();
			y[i] = 3 - 0.25 * x[i] + check_uniform();
			w[i] = check_uniform();
		}
		gsl_fit_linear(x, 1, y, 1, N, &c0, &c1, &v00, &v01, &v11, &chi);
		CHECK(tkm_line_fit(x, y, NULL, N, &line) == 0, "fit");
		CHECK_NEAR(line.slope, c1, 1e-13);
		CHECK_NEAR(tkm_line_at(&line, 0), c0, 1e-11);
		CHECK_NEAR(line.slope_se, sqrt(v11), 1e-12);
		gsl_fit_wlinear(x, 1, w, 1, y, 1, N, &c0, &c1, &v00, &v01, &v11, &chi);
		CHECK(tkm_line_fit(x, y, w, N, &line) == 0, "fit");
		CHECK_NEAR(line.slope, c1, 1e-12);

		for (i = 0; i < N; i++) {
			y[i] += i % 9 == 0 ? 500 : 0;
			gsl_matrix_set(X, (size_t)i, 0, 1);
			gsl_matrix_set(X, (size_t)i, 1, x[i]);
			gsl_vector_set(Y, (size_t)i, y[i]);
		}
		gsl_multifit_robust(X, Y, c, cov, ws);
		CHECK(tkm_line_robust(x, y, N, NULL, &line) == 0, "robust fit");
		CHECK_NEAR(line.slope, gsl_vector_get(c, 1), 2e-4);
		CHECK_NEAR(line.slope, -0.25, 2e-3);
		gsl_multifit_robust_free(ws);
		gsl_matrix_free(cov);
		gsl_vector_free(c);
		gsl_vector_free(Y);
		gsl_matrix_free(X);
	}
#else
	printf("# without GSL: no oracle\n");
#endif
}

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
	RUN(the_slowest_tenth_is_dropped);
	RUN(the_line_is_found);
	RUN(the_line_agrees_with_gsl);
	RUN(the_not_a_knot_cubic_is_what_a_dense_solver_finds);
	RUN(kruger_never_goes_back);
	return check_end();
}
