/* SPDX-License-Identifier: BSD-3-Clause */
/* What a free clock will do next, from what it did so far. The assumption about wander, 1 ppm, is what a quartz may do in
 * bad conditions; most change by a tenth or a hundredth of it in a minute. So the rates of the last sessions, with a
 * margin, say what to expect for as long again as they were looked at. That is an estimate: no message proves it. Each
 * session tests it, and one that is outside ends it for the run. doc/calibration.md, "Learned drift". */
#include "config.h"
#include "calib/map/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rate is expected to stay within so many times what it was seen to change by, and what that is uncertain by. */
static const double margin = 8;

/* Stretches of the run whose rates are compared; the sessions of so many seconds, and at least two in each. Quicker swings
 * average out, in the stretches as in what comes. */
enum { STRETCHES = 4, FEWEST_NODES = 2 * STRETCHES };
static const double window_s = 120;

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

/* Half of what a point leaves uncertain in most cases; a point whose scatter is small can still be off by a tenth of what is
 * certain of it, because paths change. */
static double likely(const struct cal_node *n)
{
	double half = 0.5 * (double)gtick_sub(n->high, n->low);

	return n->sigma > 0 && isfinite(n->sigma) ? fmin(half, fmax(2 * n->sigma, 0.1 * half)) : half;
}

/* The node nearest to that instant, from `from` on. */
static size_t nearest(const struct cal_map *m, size_t from, double at)
{
	size_t k = from;

	while (k + 1 < m->nodes &&
		fabs((double)ltick_sub(m->node[k + 1].local, m->node[0].local) - at) <=
			fabs((double)ltick_sub(m->node[k].local, m->node[0].local) - at)) {
		k++;
	}
	return k;
}

/* By how much the rate was seen to change, at the most, and what that is uncertain by; relative. */
static double seen_to_change(const struct cal_map *m, double length)
{
	const struct cal_node *first = &m->node[0], *last = &m->node[m->nodes - 1];
	double mean = (double)gtick_sub(last->global, first->global) / length, most = 0;
	size_t a = 0, b;
	int i;

	for (i = 0; i < STRETCHES; i++, a = b) {
		double x, rate;

		b = nearest(m, a + 1, length * (i + 1) / STRETCHES);
		x = (double)ltick_sub(m->node[b].local, m->node[a].local);
		if (b <= a || !(x > 0.5 * length / STRETCHES)) {
			return INFINITY; /* a long pause */
		}
		rate = (double)gtick_sub(m->node[b].global, m->node[a].global) / x;
		most = fmax(most, fabs(rate - mean) + (likely(&m->node[a]) + likely(&m->node[b])) / x);
	}
	return most / mean;
}

/* The newest of the first n nodes, as a map without steps. Returns 0 or -1. */
static int newest(const struct cal_map *m, size_t n, double hz, struct cal_map *to)
{
	size_t first = n - FEWEST_NODES;

	while (first > 0 && (double)ltick_sub(m->node[n - 1].local, m->node[first - 1].local) <= window_s * hz) {
		first--;
	}
	*to = (struct cal_map){ .period_s = m->period_s, .max_drift = m->max_drift, .nodes = n - first };
	to->node = malloc(to->nodes * sizeof(*to->node));
	if (!to->node) {
		return -1;
	}
	memcpy(to->node, m->node + first, to->nodes * sizeof(*to->node));
	return 0;
}

static void learn_from(struct cal_map *m, size_t n, double hz)
{
	struct cal_map all;
	double length, wander;

	m->learned_low = m->learned_high = m->learned_wander = 0;
	m->learned_for = 0;
	if (n < FEWEST_NODES || newest(m, n, hz, &all) < 0) {
		return;
	}
	length = (double)ltick_sub(all.node[all.nodes - 1].local, all.node[0].local);
	wander = margin * seen_to_change(&all, length);
	all.max_wander = wander;
	/* the rates that these sessions leave for certain, if that wander were true; if they contradict it, it is not */
	if (wander < m->max_wander && cal_map_split(&all, m->nominal, NULL) == 0 && all.steps == 0 &&
		!(all.max_wander > wander) && all.rate_low > 0) {
		m->learned_low = fmax(all.rate_low, m->rate_low);
		m->learned_high = fmin(all.rate_high, m->rate_high);
		m->learned_for = (int64_t)length;
		m->learned_wander = wander;
	}
	if (!(m->learned_high > m->learned_low)) {
		m->learned_low = m->learned_high = m->learned_wander = 0;
		m->learned_for = 0;
	}
	cal_map_free(&all);
}

void cal_learn(struct cal_map *m, double hz)
{
	learn_from(m, m->may_step || m->steps ? 0 : m->nodes, hz);
}

void cal_learn_tested(struct cal_map *m, double hz)
{
	size_t n, last = m->may_step || m->steps || m->parts > 1 ? 0 : m->nodes;

	for (n = FEWEST_NODES; n < last; n++) {
		learn_from(m, n, hz);
		if (refuted(m, &m->node[n - 1], &m->node[n])) {
			last = 0;
		}
	}
	learn_from(m, last, hz);
}

void cal_learn_earlier(struct cal_map *m, double low, double high, double hz)
{
	const double counts_s = 3600;

	low = fmax(low, m->rate_low);
	high = m->rate_high > 0 ? fmin(high, m->rate_high) : high;
	if (m->learned_high > 0 || m->may_step || m->steps || m->nodes == 0 || !(low < high)) {
		return;
	}
	m->learned_low = low;
	m->learned_high = high;
	m->learned_for = (int64_t)(counts_s * hz);
	m->learned_wander = m->max_wander;
}
