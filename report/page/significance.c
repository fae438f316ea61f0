/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank sum test, exact for few runs. */
#include "config.h"
#include "report/page/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 40 };

struct ranked {
	double value;
	int is_a;
	unsigned twice; /* its rank times two, so that the ranks of equal values are whole numbers, too */
};

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static void rank_values(struct ranked *r, size_t n)
{
	size_t i, k, end;

	qsort(r, n, sizeof(*r), by_value);
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !(r[end].value > r[i].value); end++) {
		}
		for (k = i; k < end; k++) {
			r[k].twice = (unsigned)(i + 1 + end);
		}
	}
}

/* The share of all choices of na of the n ranks whose sum is at least as far from the mean as this one. */
static double exact_p(const struct ranked *r, size_t n, size_t na, unsigned sum)
{
	enum { SUMS = EXACT * (EXACT + 1) + 1 };
	double *ways = calloc((EXACT + 1) * (size_t)SUMS, sizeof(*ways)), all = 0, as_far = 0;
	double mean = (double)na * (double)(n + 1);
	size_t i, k, s;

	if (!ways) {
		return 1;
	}
	ways[0] = 1;
	for (i = 0; i < n; i++) {
		for (k = na; k-- > 0;) {
			for (s = SUMS - r[i].twice; s-- > 0;) {
				ways[(k + 1) * SUMS + s + r[i].twice] += ways[k * SUMS + s];
			}
		}
	}
	for (s = 0; s < SUMS; s++) {
		all += ways[na * SUMS + s];
		as_far += fabs((double)s - mean) >= fabs((double)sum - mean) ? ways[na * SUMS + s] : 0;
	}
	free(ways);
	return as_far / all;
}

/* With the correction for equal values. */
static double normal_p(const struct ranked *r, size_t n, size_t na, unsigned sum)
{
	double nb = (double)(n - na), ties = 0, variance, z;
	size_t i, end;

	for (i = 0; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && r[end].twice == r[i].twice; end++) {
		}
		t = (double)(end - i);
		ties += t * (t * t - 1);
	}
	variance = (double)na * nb / 12 * ((double)(n + 1) - ties / ((double)n * (double)(n - 1)));
	z = (fabs((double)sum / 2 - (double)na * (double)(n + 1) / 2) - 0.5) / sqrt(variance);
	return variance > 0 ? fmin(1, erfc(fmax(0, z) / sqrt(2))) : 1;
}

double vtr_rank_sum_p(const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb, i;
	struct ranked *r = na && nb ? calloc(n, sizeof(*r)) : NULL;
	unsigned sum = 0;
	double p;

	if (!r) {
		return 1;
	}
	for (i = 0; i < n; i++) {
		r[i] = (struct ranked){ .value = i < na ? a[i] : b[i - na], .is_a = i < na };
	}
	rank_values(r, n);
	for (i = 0; i < n; i++) {
		sum += r[i].is_a ? r[i].twice : 0;
	}
	p = n <= EXACT ? exact_p(r, n, na, sum) : normal_p(r, n, na, sum);
	free(r);
	return p;
}

double vtr_rank_sum_least_p(size_t na, size_t nb)
{
	double ways = 1;
	size_t k;

	for (k = 1; k <= nb; k++) {
		ways *= (double)(na + k) / (double)k;
	}
	return na && nb ? fmin(1, 2 / ways) : 1;
}
