/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantiles, spreads, and a line that outliers do not move. */
#include "config.h"
#include <math.h>

#include "base/least.h"
#include "base/stats.h"
#include "tests/lib/check.h"

static void quantiles_and_spread(void)
{
	double v[] = { 5, 1, 4, 2, 3 };
	struct tkm_spread s = tkm_spread(v, 5);
	int64_t w[] = { 3, -1, 2 };

	CHECK_NEAR(s.median, 3, 0);
	CHECK_NEAR(s.min, 1, 0);
	CHECK_NEAR(s.max, 5, 0);
	CHECK_NEAR(tkm_quantile(v, 5, 0.25), 2, 0);
	CHECK_NEAR(tkm_quantile(v, 5, 1), 5, 0);
	tkm_sort_i64(w, 3);
	CHECK(w[0] == -1 && w[2] == 3, "sorted");
}

static void robust_line_ignores_outliers(void)
{
	enum { N = 400 };
	double x[N], y[N], slope = 1 + 37e-6;
	struct tkm_line l, plain;
	int i, round;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < N; i++) {
			x[i] = i * 1e6;
			y[i] = 12345 + slope * x[i] + 10 * (check_uniform() - 0.5);
			if (i % 7 == 0) {
				y[i] += 8e6 * check_uniform(); /* preempted in the middle of a read */
			}
		}
		CHECK(tkm_line_robust(x, y, N, NULL, &l) == 0, "fit");
		CHECK(tkm_line_fit(x, y, NULL, N, &plain) == 0, "fit");
		CHECK_NEAR(l.slope, slope, 5 * l.slope_se);
		CHECK(l.slope_se < 5e-9, "standard error %g", l.slope_se);
		CHECK(fabs(plain.slope - slope) > 1e-7, "least squares would have done: no test");
	}
	CHECK(tkm_line_fit(x, y, NULL, 1, &l) < 0, "one point is no line");
	x[1] = x[0];
	CHECK(tkm_line_fit(x, y, NULL, 2, &l) < 0, "a vertical line is none");
}

static void whole_numbers_are_those_of_libm(void)
{
	double v[] = { 0, 0.5, -0.5, 1, -1, -1.5, 2.5, 0x1p52 - 0.5, 0.5 - 0x1p52, 0x1p62, -0x1p70, 1e300, INFINITY };
	double range;
	unsigned i;

	for (i = 0; i < sizeof(v) / sizeof(*v); i++) {
		CHECK(tkm_floor(v[i]) == floor(v[i]), "floor of %g is %g", v[i], tkm_floor(v[i]));
		CHECK(tkm_nearest(v[i]) == floor(v[i] + 0.5), "nearest to %g is %g", v[i], tkm_nearest(v[i]));
	}
	CHECK(tkm_floor(-INFINITY) == -INFINITY && isnan(tkm_floor(NAN)), "what is no number stays");
	for (range = 1; range < 0x1p60; range *= 2) {
		double some = (check_uniform() - 0.5) * range;

		CHECK_NEAR(tkm_floor(some), floor(some), 0);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(quantiles_and_spread);
	RUN(robust_line_ignores_outliers);
	RUN(whole_numbers_are_those_of_libm);
	return check_end();
}
