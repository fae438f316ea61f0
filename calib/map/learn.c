/* SPDX-License-Identifier: BSD-3-Clause */
/* What a free clock will do next, from what it did so far. The assumption about wander, 1 ppm, is what a quartz may do
 * in bad conditions; most change by a tenth or a hundredth of it in a minute. So the walk of the rate over the last
 * sessions, with a margin, predicts the rate for as long again as those sessions lasted. This is an estimate: no
 * message proves it. Each session tests it. If a session is outside of it, nothing is learned any more in that run.
 * doc/calibration.md, "Learned drift". */
#include "config.h"
#include "calib/map/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/map/smooth.h"

/* The nodes of this many seconds count; if there are many nodes, some of them. */
enum { MOST_POINTS = 64 };
static const double window_s = 300;

/* What was learned is valid for as long again as those nodes lasted, at most for this long. */
static const double counts_s = 120;

/* In sessions that lasted less than that a walk hides by chance more often, so their margin is larger, by the third power. Below
 * the shorter time it is the same again, since what was learned counts for no longer than they lasted. */
static const double short_s = 150, shorter_s = 60;

static double more_margin(double length_s)
{
	return pow(fmax(1, short_s / fmax(length_s, shorter_s)), 3);
}

static int refuted(const struct cal_map *m, const struct cal_node *last, const struct cal_node *n)
{
	double x, low, high;

	if (!(m->learned_high > 0)) {
		return 0;
	}
	x = (double)ltick_sub(n->local, last->local);
	if (x > (double)m->learned_for) {
		return 0;
	}
	low = (double)gtick_sub(last->low, n->high) + x * m->learned_low;
	high = (double)gtick_sub(last->high, n->low) + x * m->learned_high;
	return low > 0 || high < 0;
}

int cal_learn_refuted(const struct cal_map *m, const struct cal_node *n)
{
	return m->nodes ? refuted(m, &m->node[m->nodes - 1], n) : 0;
}

/* How far a point is likely to be off; one whose scatter is small can still be off by a twentieth of what is certain of it,
 * because paths change. */
static double learned_error(const struct cal_node *n)
{
	double half = 0.5 * (double)gtick_sub(n->high, n->low);

	return n->sigma > 0 && isfinite(n->sigma) ? fmin(half, fmax(n->sigma, 0.05 * half)) : half;
}

/* The first of the nodes up to n that count. */
static size_t first_learned_point(const struct cal_map *m, size_t n, double hz)
{
	size_t first = n - CAL_LEARN_NODES;

	while (first > 0 && (double)ltick_sub(m->node[n - 1].local, m->node[first - 1].local) <= window_s * hz) {
		first--;
	}
	return first;
}

/* The last is always among them. Returns how many. */
static size_t rate_points(
	const struct cal_map *m, size_t first, size_t n, double mean, double hz, struct cal_smooth_point *p)
{
	const struct cal_node *from = &m->node[first];
	size_t every = (n - first - 1) / MOST_POINTS + 1, k = 0, i;

	for (i = (n - 1 - first) % every + first; i < n; i += every, k++) {
		double x = (double)ltick_sub(m->node[i].local, from->local);

		p[k] = (struct cal_smooth_point){ .x = x / hz,
			.y = (double)gtick_sub(m->node[i].global, from->global) - mean * x,
			.sigma = learned_error(&m->node[i]) };
	}
	return k;
}

static int has_pause(const struct cal_smooth_point *p, size_t n)
{
	size_t i;

	for (i = 1; i < n && p[i].x - p[i - 1].x <= 0.25 * (p[n - 1].x - p[0].x); i++) {
	}
	return i < n;
}

static void learn_from(struct cal_map *m, size_t n, double hz)
{
	struct cal_smooth_point p[MOST_POINTS + 1];
	double length, mean, slope, within;
	size_t first, points;

	m->learned_low = m->learned_high = m->learned_wander = 0;
	m->learned_for = 0;
	if (n < CAL_LEARN_NODES) {
		return;
	}
	first = first_learned_point(m, n, hz);
	length = (double)ltick_sub(m->node[n - 1].local, m->node[first].local);
	mean = (double)gtick_sub(m->node[n - 1].global, m->node[first].global) / length;
	points = rate_points(m, first, n, mean, hz, p);
	if (!(length > 0) || has_pause(p, points) ||
		cal_foresee(p, points, m->max_wander * mean * hz, fmin(length / hz, counts_s), &slope, &within) < 0) {
		return;
	}
	slope = mean + slope / hz;
	within *= more_margin(length / hz) / hz;
	if (within < m->max_wander * mean) {
		m->learned_low = fmax(slope - within, m->rate_low);
		m->learned_high = fmin(slope + within, m->rate_high);
		m->learned_for = (int64_t)fmin(length, counts_s * hz);
		m->learned_wander = within / mean;
	}
	if (!(m->learned_high > m->learned_low)) {
		m->learned_low = m->learned_high = m->learned_wander = 0;
		m->learned_for = 0;
	}
}

void cal_learn(struct cal_map *m, double hz)
{

	learn_from(m, m->may_step || m->steps ? 0 : m->nodes, hz);
}

void cal_learn_tested(struct cal_map *m, double hz)
{
	size_t n, last = m->may_step || m->steps || m->parts > 1 ? 0 : m->nodes;

	for (n = CAL_LEARN_NODES; n < last; n++) {
		learn_from(m, n, hz);
		if (refuted(m, &m->node[n - 1], &m->node[n])) {
			last = 0;
		}
	}
	learn_from(m, last, hz);
}

void cal_learn_earlier(struct cal_map *m, double low, double high, double hz)
{
	const double an_hour_s = 3600;

	low = fmax(low, m->rate_low);
	high = m->rate_high > 0 ? fmin(high, m->rate_high) : high;
	if (m->learned_high > 0 || m->may_step || m->steps || m->nodes == 0 || !(low < high)) {
		return;
	}
	m->learned_low = low;
	m->learned_high = high;
	m->learned_for = (int64_t)(an_hour_s * hz);
	m->learned_wander = m->max_wander;
}
