/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces that a clock map is made of, one at a time: the filter, the line of a session, and the curves through several
 * sessions, which GSL computes in its own way. */
#include "config.h"
#include "base/err.h"
#include "base/stats.h"
#include "base/ticks.h"
#include "calib/map/fit.h"
#include "calib/map/sample.h"
#include "tests/lib/check.h"

#ifdef HAVE_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#endif

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_line_is_found);
	RUN(the_line_agrees_with_gsl);
	return check_end();
}
