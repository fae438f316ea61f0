/* SPDX-License-Identifier: BSD-3-Clause */
/* The effective tick: the largest step on whose multiples the increments of a clock lie. Increments
 * are whole ticks, so a multiple of a fractional step shows as one of its two neighbours. */
#include "config.h"
#include "timers/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLUSTERS = 24, DIVISORS = 6 };

/* Below this a residual of one tick says nothing: only exact divisors count. */
static const double small_step = 4;
static const double wanted_share = 0.97;

struct cluster {
	double centre, weight;
};

/* Groups of neighbouring values (v ascending), rare ones left out. */
static int find_clusters(const int64_t *v, size_t n, struct cluster *c)
{
	size_t i = 0;
	int k = 0;

	while (i < n && k < MAX_CLUSTERS) {
		size_t j = i;
		double sum = 0;

		do {
			sum += (double)v[j++];
		} while (j < n && v[j] - v[j - 1] <= 1);
		if ((double)(j - i) >= 1e-3 * (double)n) {
			c[k].centre = sum / (double)(j - i);
			c[k++].weight = (double)(j - i);
		}
		i = j;
	}
	return k;
}

/* Refines step on the clusters: the least squares multiple of each. */
static double refine(const struct cluster *c, int k, double step)
{
	double num = 0, den = 0;
	int i;

	for (i = 0; i < k; i++) {
		double m = nearbyint(c[i].centre / step);

		num += c[i].weight * c[i].centre * m;
		den += c[i].weight * m * m;
	}
	return den > 0 ? num / den : step;
}

/* A clock computed from a counter that itself moves in steps (clock_monotonic from the TSC) is rounded
 * twice, so where a whole tick is small against the step, one tick off still counts as on the grid. */
static double share_on(const int64_t *v, size_t n, double step)
{
	double tolerance = step >= 2 * small_step ? 1.25 : 0.999;
	size_t on = 0, seen = 0, i;

	for (i = 0; i < n; i++) {
		double m = nearbyint((double)v[i] / step);

		if (m > 200) {
			break; /* v ascends; far out the error of step itself decides */
		}
		seen++;
		on += m > 0 && fabs((double)v[i] - m * step) <= tolerance;
	}
	return seen ? (double)on / (double)seen : 0;
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static void try_step(const int64_t *v, size_t n, const struct cluster *c, int k, double step, struct tmr_grid *out)
{
	double share;

	step = refine(c, k, refine(c, k, step));
	if (step < small_step || (out->found && step <= out->ticks * 1.001)) {
		return;
	}
	share = share_on(v, n, step);
	if (share >= wanted_share) {
		out->ticks = step;
		out->share = share;
		out->found = 1;
	}
}

int tmr_grid_find(const int64_t *increments, size_t n, struct tmr_grid *out)
{
	int64_t *v = malloc((n + 1) * sizeof(*v));
	struct cluster c[MAX_CLUSTERS];
	int64_t g = 0;
	size_t m = 0, i;
	int k, a, d;

	memset(out, 0, sizeof(*out));
	for (i = 0; v && i < n; i++) {
		if (increments[i] > 0) {
			v[m++] = increments[i];
		}
	}
	if (m == 0) {
		free(v);
		return -1;
	}
	tkm_sort_i64(v, m);
	out->samples = m;
	k = find_clusters(v, m, c);
	for (a = 0; a < k; a++) {
		for (d = 1; d <= DIVISORS; d++) {
			try_step(v, m, c, k, c[a].centre / d, out);
			if (a > 0) {
				try_step(v, m, c, k, (c[a].centre - c[a - 1].centre) / d, out);
			}
		}
	}
	if (!out->found) {
		for (i = 0; i < m && g != 1; i++) {
			g = gcd(v[i], g);
		}
		/* a clock of whole steps below small_step, or one that moves at every tick; a larger common
		 * divisor would have been found above, unless nearly all increments are equal */
		out->ticks = (double)g;
		out->share = 1;
		out->found = g < (int64_t)small_step || v[0] == v[m - 1];
		if (!out->found) {
			out->ticks = (double)v[0];
			out->share = 0;
		}
	}
	free(v);
	return 0;
}
