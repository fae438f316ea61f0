/* SPDX-License-Identifier: BSD-3-Clause */
/* Kalman filter and smoother (R. Kalman 1960; H. Rauch, F. Tung, C. Striebel 1965) for a straight line whose slope walks at
 * random; how much it walks is what makes the points likeliest (F. Schweppe 1965). The result is that of a smoothing spline
 * (C. Reinsch 1967; G. Wahba 1978) whose one free number is found in the points. */
#include "config.h"
#include "calib/map/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Value and slope at a point, with variances and covariance. */
struct state {
	double v, s, vv, vs, ss;
};

/* Of each point: before its value is taken in, and after. */
struct passed {
	struct state before, after;
};

static struct state predict_state(const struct state *a, double dt, double walk)
{
	return (struct state){ .v = a->v + dt * a->s,
		.s = a->s,
		.vv = a->vv + dt * (2 * a->vs + dt * a->ss) + walk * dt * dt * dt / 3,
		.vs = a->vs + dt * a->ss + walk * dt * dt / 2,
		.ss = a->ss + walk * dt };
}

/* Takes a value in; *cost is minus twice the logarithm of its likelihood. */
static struct state update_state(const struct state *a, double y, double sigma, double *cost)
{
	double all = a->vv + sigma * sigma, off = y - a->v, gv = a->vv / all, gs = a->vs / all;

	*cost = off * off / all + log(all);
	return (struct state){ .v = a->v + gv * off,
		.s = a->s + gs * off,
		.vv = a->vv - gv * a->vv,
		.vs = a->vs - gv * a->vs,
		.ss = a->ss - gs * a->vs };
}

/* Over all points, whose sigmas are taken `scale` times; passed may be NULL. Returns the cost. */
static double filter(const struct cal_smooth_point *p, size_t n, double slope_sigma, double walk, double scale,
	struct passed *passed)
{
	struct state a = {
		.v = p[0].y, .vv = scale * scale * p[0].sigma * p[0].sigma, .ss = slope_sigma * slope_sigma
	};
	double sum = 0, cost;
	size_t i;

	if (passed) {
		passed[0].before = passed[0].after = a;
	}
	for (i = 1; i < n; i++) {
		struct state b = predict_state(&a, p[i].x - p[i - 1].x, walk);

		a = update_state(&b, p[i].y, scale * p[i].sigma, &cost);
		sum += cost;
		if (passed) {
			passed[i] = (struct passed){ b, a };
		}
	}
	return sum;
}

/* Backwards: adds the information of the later points to the value. */
static void smooth_points(const struct cal_smooth_point *p, size_t n, const struct passed *passed, double *value)
{
	double v = passed[n - 1].after.v, s = passed[n - 1].after.s;
	size_t i;

	value[n - 1] = v;
	for (i = n - 1; i-- > 0;) {
		const struct state *a = &passed[i].after, *b = &passed[i + 1].before;
		double dt = p[i + 1].x - p[i].x, det = b->vv * b->ss - b->vs * b->vs;
		/* covariance of this state with the next one as predicted, times the inverse of that one's own */
		double cvv = a->vv + dt * a->vs, cvs = a->vs, csv = a->vs + dt * a->ss, css = a->ss;
		double dv = v - b->v, ds = s - b->s;
		double wv = (b->ss * dv - b->vs * ds) / det, ws = (b->vv * ds - b->vs * dv) / det;

		if (!(det > 0)) {
			wv = ws = 0;
		}
		v = a->v + cvv * wv + cvs * ws;
		s = a->s + csv * wv + css * ws;
		value[i] = v;
	}
}

int cal_smooth(const struct cal_smooth_point *p, size_t n, double most, double *value)
{
	double shortest = INFINITY, best = 0, least, walk;
	struct passed *passed;
	size_t i;

	for (i = 0; i < n; i++) {
		value[i] = p[i].y;
		shortest = i ? fmin(shortest, p[i].x - p[i - 1].x) : shortest;
	}
	if (n < 3 || !(shortest > 0)) {
		return 0;
	}
	passed = malloc(n * sizeof(*passed));
	if (!passed) {
		return -1;
	}
	/* from a slope that changes by `most` between the two that are closest, in steps of 3, to one that does not over all */
	walk = most * most / shortest;
	least = filter(p, n, 10 * most, 0, 1, NULL);
	for (i = 0; i < 40; i++, walk /= 3) {
		double cost = filter(p, n, 10 * most, walk, 1, NULL);

		if (cost < least) {
			least = cost;
			best = walk;
		}
	}
	/* A rate that swings regularly bends more than a random walk of that size, and smoothing too much would flatten its turns:
	 * ten times the likeliest costs little where the rate really walks. */
	filter(p, n, 10 * most, 10 * best, 1, passed);
	smooth_points(p, n, passed, value);
	free(passed);
	return 0;
}

/* ---- what comes after the last point ---- */

/* Where the cost is so much more than the least, it is as unlikely as 3.2 standard deviations. */
static const double unlikely = 10;

/* Safety factors on the predicted standard deviation, with the largest likely walk, and on what the likeliest walk adds: a
 * walk is often a regular swing, which goes on turning. Chosen in doc/calibration.md, "Learned drift". */
static const double margin = 1.5, walk_margin = 12;

/* The walks that are tried, from a slope that changes by `most` between the two closest points; and the factors by which the
 * sigmas may be too small. */
enum { WALKS = 36, WALK_STEP = 2, SCALES = 3, SCALE_STEP = 2 };

/* Variance of the walk in a unit of x: the likeliest, and the largest that is not unlikely, with the scatter that goes best with it. */
struct walks {
	double best, largest, scale;
};

static void find_walks(const struct cal_smooth_point *p, size_t n, double most, double shortest, struct walks *w)
{
	double cost[SCALES][WALKS], least = INFINITY, walk, scale = 1;
	int k, s, largest = WALKS;

	for (s = 0; s < SCALES; s++, scale *= SCALE_STEP) {
		for (k = 0, walk = most * most / shortest; k < WALKS; k++, walk /= WALK_STEP) {
			cost[s][k] = filter(p, n, 10 * most, walk, scale, NULL);
			if (cost[s][k] < least) {
				least = cost[s][k];
				w->best = walk;
			}
		}
	}
	for (s = 0, scale = 1; s < SCALES; s++, scale *= SCALE_STEP) {
		for (k = 0, walk = most * most / shortest; k < largest; k++, walk /= WALK_STEP) {
			if (cost[s][k] < least + unlikely) {
				largest = k;
				w->largest = walk;
				w->scale = scale;
			}
		}
	}
}

int cal_foresee(const struct cal_smooth_point *p, size_t n, double most, double ahead_x, double *slope, double *within)
{
	struct passed *passed = calloc(n, sizeof(*passed));
	struct walks w = { 0, 0, 1 };
	double shortest = INFINITY;
	size_t i;

	for (i = 1; i < n; i++) {
		shortest = fmin(shortest, p[i].x - p[i - 1].x);
	}
	if (!passed || n < 3 || !(shortest > 0)) {
		free(passed);
		return -1;
	}
	find_walks(p, n, most, shortest, &w);
	filter(p, n, 10 * most, w.largest, w.scale, passed);
	*slope = passed[n - 1].after.s;
	/* the mean of a slope that walks strays by sqrt(walk x / 3) in x */
	*within = margin * sqrt(passed[n - 1].after.ss + w.largest * ahead_x / 3) +
		walk_margin * sqrt(w.best * ahead_x / 3);
	free(passed);
	return 0;
}
