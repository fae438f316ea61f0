/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank sum test, compared with published tables and with all choices counted one by one. */
#include "config.h"
#include "report/page/significance.h"

#include <math.h>

#include "tests/lib/check.h"

static void groups_apart_have_the_least_p(void)
{
	static const double a[] = { 1, 2, 3, 4, 5 }, b[] = { 6, 7, 8, 9, 10 };

	/* 2 of the choices of 3 of 6, 4 of 8, 5 of 10 */
	CHECK_NEAR(vtr_rank_sum_p(a, 3, b, 3), 2.0 / 20, 1e-12);
	CHECK_NEAR(vtr_rank_sum_p(a, 4, b, 4), 2.0 / 70, 1e-12);
	CHECK_NEAR(vtr_rank_sum_p(b, 5, a, 5), 2.0 / 252, 1e-12);
	CHECK_NEAR(vtr_rank_sum_least_p(5, 5), 2.0 / 252, 1e-12);
	CHECK_NEAR(vtr_rank_sum_least_p(1, 1), 1, 1e-12);
	CHECK_NEAR(vtr_rank_sum_p(a, 1, b, 1), 1, 1e-12);
	CHECK_NEAR(vtr_rank_sum_p(a, 0, b, 5), 1, 1e-12);
}

/* All choices of na of n values, by brute force. */
static double counted_p(const double *v, unsigned n, unsigned na)
{
	double rank[12], mean = (double)na * (n + 1) / 2, sum, first = 0;
	unsigned bits, i, k, all = 0, far = 0;

	for (i = 0; i < n; i++) {
		rank[i] = 0.5;
		for (k = 0; k < n; k++) {
			rank[i] += v[k] < v[i] ? 1 : v[k] == v[i] ? 0.5 : 0;
		}
		first += i < na ? rank[i] : 0;
	}
	for (bits = 0; bits < 1u << n; bits++) {
		for (i = 0, sum = 0; i < n; i++) {
			sum += bits >> i & 1 ? rank[i] : 0;
		}
		if ((unsigned)__builtin_popcount(bits) == na) {
			all++;
			far += fabs(sum - mean) >= fabs(first - mean) - 1e-9;
		}
	}
	return (double)far / all;
}

static void equal_values_are_exact_too(void)
{
	static const double v[][9] = { { 1, 1, 2, 2, 3, 3, 3, 4, 4 }, { 5, 5, 5, 5, 5, 5, 5, 5, 5 },
		{ 9, 2, 7, 4, 5, 6, 3, 8, 1 }, { 1, 2, 2, 2, 7, 8, 2, 9, 9 } };
	unsigned i, na;

	for (i = 0; i < 4; i++) {
		for (na = 1; na < 9; na++) {
			CHECK_NEAR(vtr_rank_sum_p(v[i], na, v[i] + na, 9 - na), counted_p(v[i], 9, na), 1e-12);
		}
	}
}

static void many_runs_join_the_exact_ones(void)
{
	double a[21], b[21], ratio;
	unsigned i;

	for (i = 0; i < 21; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 9;
	}
	/* 20 and 20 are exact, 21 and 21 by the normal distribution */
	ratio = vtr_rank_sum_p(a, 20, b, 20) / vtr_rank_sum_p(a, 21, b, 21);
	CHECK_NEAR(ratio, 1, 0.25);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(groups_apart_have_the_least_p);
	RUN(equal_values_are_exact_too);
	RUN(many_runs_join_the_exact_ones);
	return check_end();
}
