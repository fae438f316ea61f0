/* SPDX-License-Identifier: BSD-3-Clause */
/* The effective tick: the largest step on whose multiples the increments of a clock lie. Increments
 * are whole ticks, so a multiple of a fractional step shows as one of its two neighbours. */
#include "config.h"
#include "timers/quality/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "base/stats.h"

enum { MAX_CLUSTERS = 24, DIVISORS = 6, FARTHEST = 200, ENOUGH = 16 };

/* For steps below this, a residual of one tick does not tell anything: only exact divisors count. */
static const double small_step = 4;
static const double wanted_share = 0.97;
/* From here on the increments are mostly the cost of a read, and what they have in common is looked for in their differences. */
static const int64_t slow_read = 100;

struct cluster {
	double centre, weight;
};

/* Increments in ascending order, equal ones together. */
struct increments {
	size_t distinct, n;
	int64_t *value;
	size_t *count;
};

/* Groups of neighbouring values, rare ones left out. */
static int find_clusters(const struct increments *v, struct cluster *c)
{
	size_t i = 0;
	int k = 0;

	while (i < v->distinct && k < MAX_CLUSTERS) {
		double sum = 0, weight = 0;

		do {
			sum += (double)v->value[i] * (double)v->count[i];
			weight += (double)v->count[i++];
		} while (i < v->distinct && v->value[i] - v->value[i - 1] <= 1);
		if (weight >= 1e-3 * (double)v->n) {
			c[k].centre = sum / weight;
			c[k++].weight = weight;
		}
	}
	return k;
}

/* Refines step on the clusters: the least squares multiple of each. Clusters at large increments (after an
 * interruption, for example) are left out: they would confirm any step. */
static double refine(const struct cluster *c, int k, double from, double step)
{
	double num = 0, den = 0;
	int i;

	for (i = 0; i < k; i++) {
		double m = tkm_nearest((c[i].centre - from) / step);

		if (m > FARTHEST) {
			break;
		}
		num += c[i].weight * (c[i].centre - from) * m;
		den += c[i].weight * m * m;
	}
	return den > 0 ? num / den : step;
}

/* A clock computed from a counter that itself moves in steps (clock_monotonic from the TSC) is rounded twice. So where
 * the step is many ticks, an increment that is one tick off still counts as on the grid. from: the origin of the
 * multiples, 0 or an increment that lies on the grid. */
static double share_on(const struct increments *v, double from, double step)
{
	double tolerance = step >= 2 * small_step ? 1.25 : 0.999;
	size_t on = 0, seen = 0, i;

	for (i = 0; i < v->distinct; i++) {
		double x = (double)v->value[i] - from, m = tkm_nearest(x / step);

		if (m > FARTHEST) {
			break; /* values ascend; at larger values the error of step itself would decide */
		}
		seen += v->count[i];
		on += (m > 0 || from > 0) && fabs(x - m * step) <= tolerance ? v->count[i] : 0;
		if ((double)(seen - on) > (1 - wanted_share) * (double)v->n) {
			return 0;
		}
	}
	return 2 * seen >= v->n ? (double)on / (double)seen : 0;
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

/* The same refinement on all increments, in ascending order, since there are more of them than clusters. */
static double refine_far(const struct increments *v, double from, double step)
{
	double farthest;
	size_t i;

	for (farthest = FARTHEST / 8; farthest <= FARTHEST; farthest *= 2) {
		double num = 0, den = 0;

		for (i = 0; i < v->distinct; i++) {
			double x = (double)v->value[i] - from, m = tkm_nearest(x / step);

			if (m > farthest) {
				break;
			}
			num += (double)v->count[i] * x * m;
			den += (double)v->count[i] * m * m;
		}
		step = den > 0 ? num / den : step;
	}
	return step;
}

static void try_step(
	const struct increments *v, const struct cluster *c, int k, double from, double step, struct tmr_grid *out)
{
	double share;

	step = refine(c, k, from, refine(c, k, from, step));
	if (k == MAX_CLUSTERS && step >= small_step) {
		step = refine_far(v, from, step);
	}
	if (step < small_step || (out->found && step <= out->ticks * 0.75)) {
		return;
	}
	share = share_on(v, from, step);
	/* of two nearly equal steps the one on which more increments lie, else the larger step */
	if (share >= wanted_share && (!out->found || share > out->share || step > out->ticks * 1.25)) {
		out->ticks = step;
		out->share = share;
		out->found = 1;
	}
}

static void try_steps(const struct increments *v, const struct cluster *c, int k, double from, struct tmr_grid *out)
{
	int a, d;

	for (a = 0; a < k; a++) {
		for (d = 1; d <= DIVISORS; d++) {
			if (c[a].centre > from) {
				try_step(v, c, k, from, (c[a].centre - from) / d, out);
			}
			if (a > 0) {
				try_step(v, c, k, from, (c[a].centre - c[a - 1].centre) / d, out);
			}
		}
	}
}

/* The exact divisor, for clocks of whole steps below small_step, clocks that move at every tick, and increments of many steps. */
static void try_divisor(const struct increments *v, struct tmr_grid *out)
{
	int64_t g = 0;
	size_t i;

	for (i = 0; i < v->distinct && g != 1; i++) {
		g = gcd(v->value[i], g);
	}
	/* with few increments a large common divisor may be chance */
	out->found = g < (int64_t)small_step || v->distinct == 1 || v->n >= ENOUGH;
	out->ticks = out->found ? (double)g : (double)v->value[0];
	out->share = out->found;
}

/* A reading is rounded down to a whole tick, so it lags by up to one step plus one tick. Where all increments are
 * multiples of a step of whole ticks, nothing was rounded. */
static double grid_lag(const struct increments *v, const struct tmr_grid *g)
{
	double whole = tkm_nearest(g->ticks);
	size_t i;

	if (whole < 1 || fabs(g->ticks - whole) > 0.01) {
		return g->ticks + 1;
	}
	for (i = 0; i < v->distinct; i++) {
		if (v->value[i] % (int64_t)whole != 0) {
			return g->ticks + 1;
		}
	}
	return whole;
}

/* Copies the positive ones of n increments to room[0..n), sorted. Returns 0, or -1 when memory runs out. */
static int merge_increments(const int64_t *increments, size_t n, int64_t *room, struct increments *v)
{
	size_t m = 0, i;

	for (i = 0; i < n; i++) {
		if (increments[i] > 0) {
			room[m++] = increments[i];
		}
	}
	*v = (struct increments){ .n = m, .value = room, .count = calloc(m + 1, sizeof(*v->count)) };
	if (!v->count) {
		return -1;
	}
	tkm_sort_i64(room, m);
	for (i = 0; i < m; i++) {
		v->distinct += v->distinct == 0 || room[i] != room[v->distinct - 1];
		room[v->distinct - 1] = room[i];
		v->count[v->distinct - 1]++;
	}
	return 0;
}

int tmr_grid_find(const int64_t *increments, size_t n, struct tmr_grid *out)
{
	int64_t *room = malloc((n + 1) * sizeof(*room));
	struct increments v = { .n = 0 };
	struct cluster c[MAX_CLUSTERS] = { { 0, 0 } };
	int k, rc = -1;

	memset(out, 0, sizeof(*out));
	if (room && merge_increments(increments, n, room, &v) == 0 && v.n > 0) {
		out->samples = v.n;
		k = find_clusters(&v, c);
		try_steps(&v, c, k, 0, out);
		if (!out->found && k > 1 && v.value[0] >= slow_read && v.n >= ENOUGH) {
			try_steps(&v, c, k, c[0].centre, out);
		}
		if (!out->found) {
			try_divisor(&v, out);
		}
		out->lag_ticks = grid_lag(&v, out);
		rc = 0;
	}
	free(v.count);
	free(room);
	return rc;
}
