/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sessions of a run say about each other. A session at a busy moment is certain of little by itself, but the clocks
 * cannot have run away from where the sessions before and after it found them. doc/calibration-proofs.md, "A poor session". */
#include "config.h"
#include "calib/map/map.h"

#include <math.h>

/* Used nodes on each side that are looked at in pairs: one of them is a good one. */
enum { BESIDE = 4 };

/* A limit of c, relative to its own interval: what rounding may have lost is taken off. */
static void raise_by(struct cal_node *c, double above, double below, double lost)
{
	above = floor(above - lost) - 1;
	below = floor(below - lost) - 1;
	if (above > (double)c->above && above < 0x1p60) {
		c->above = (int64_t)above;
	}
	if (below > (double)c->below && below < 0x1p60) {
		c->below = (int64_t)below;
	}
}

/* The clocks went from a to c at rates that the run leaves possible. */
static void narrow_by_rate(const struct cal_map *m, const struct cal_node *a, struct cal_node *c)
{
	double x = (double)ltick_sub(c->local, a->local);
	double least = x * (x >= 0 ? m->rate_low : m->rate_high), most = x * (x >= 0 ? m->rate_high : m->rate_low);

	raise_by(c, (double)gtick_sub(cal_node_low(a), c->low) + least,
		(double)gtick_sub(c->high, cal_node_high(a)) - most, fabs(x) * m->rate_high * 0x1p-50);
}

/* They went from a past c to b, and left the straight line by what their wander allows. */
static void narrow_between(
	const struct cal_map *m, const struct cal_node *a, struct cal_node *c, const struct cal_node *b)
{
	double u = (double)ltick_sub(c->local, a->local) / (double)ltick_sub(b->local, a->local), v = 1 - u;
	double apart = (double)gtick_sub(cal_node_high(b), cal_node_low(a)), bow = cal_map_bow(m, u, apart);
	double low = v * (double)gtick_sub(cal_node_low(a), c->low) + u * (double)gtick_sub(cal_node_low(b), c->low);
	double high =
		v * (double)gtick_sub(c->high, cal_node_high(a)) + u * (double)gtick_sub(c->high, cal_node_high(b));

	raise_by(c, low - bow, high - bow, apart * 0x1p-50);
}

/* The used nodes of a part one after the other, forward or back. */
static void narrow_along(struct cal_map *m, const struct cal_part *p, int back)
{
	struct cal_node *last = NULL;
	size_t i;

	for (i = 0; i < p->nodes; i++) {
		struct cal_node *n = &m->node[p->node + (back ? p->nodes - 1 - i : i)];

		if (n->used && last) {
			narrow_by_rate(m, last, n);
		}
		last = n->used ? n : last;
	}
}

/* Up to BESIDE used nodes of the part before node k, or after it. */
static int nodes_beside(
	const struct cal_map *m, const struct cal_part *p, size_t k, int step, const struct cal_node **to)
{
	size_t end = step < 0 ? p->node : p->node + p->nodes - 1;
	int n = 0;

	while (k != end && n < BESIDE) {
		k = step < 0 ? k - 1 : k + 1;
		if (m->node[k].used) {
			to[n++] = &m->node[k];
		}
	}
	return n;
}

static void narrow_in_the_middle(struct cal_map *m, const struct cal_part *p)
{
	const struct cal_node *before[BESIDE], *after[BESIDE];
	size_t k;
	int i, j, nb, na;

	for (k = p->node; k < p->node + p->nodes; k++) {
		nb = m->node[k].used ? nodes_beside(m, p, k, -1, before) : 0;
		na = nb ? nodes_beside(m, p, k, 1, after) : 0;
		for (i = 0; i < nb; i++) {
			for (j = 0; j < na; j++) {
				narrow_between(m, before[i], &m->node[k], after[j]);
			}
		}
	}
}

/* Sessions that leave no place for one of them contradict what is assumed: then each counts as it is. */
static int contradict_each_other(const struct cal_map *m, const struct cal_part *p)
{
	size_t k;

	for (k = p->node; k < p->node + p->nodes; k++) {
		if (gtick_sub(cal_node_high(&m->node[k]), cal_node_low(&m->node[k])) < 0) {
			return 1;
		}
	}
	return 0;
}

static void take_as_measured(struct cal_map *m)
{
	size_t k;

	for (k = 0; k < m->nodes; k++) {
		m->node[k].above = m->node[k].below = 0;
	}
}

void cal_map_narrow(struct cal_map *m)
{
	struct cal_part whole = { 0, m->nodes, 0, m->pieces };
	size_t parts = m->parts ? m->parts : 1, i;
	int round;

	take_as_measured(m);
	for (i = 0; i < parts && m->nodes && !m->may_step; i++) {
		const struct cal_part *p = m->parts ? &m->part[i] : &whole;

		for (round = 0; round < 2; round++) {
			if (m->rate_high > 0) {
				narrow_along(m, p, 0);
				narrow_along(m, p, 1);
			}
			narrow_in_the_middle(m, p);
		}
		if (contradict_each_other(m, p)) {
			take_as_measured(m);
			return;
		}
	}
}
