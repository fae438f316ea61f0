/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds steps, where no possible drift explains the change between two sessions, and how far the rate wandered
 * otherwise. doc/calibration.md, "Steps". Ticks of a pair are differences, and rates differences from a base rate, so
 * that doubles carry them. */
#include "config.h"
#include "calib/map/map.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

/* How a pair came to be a step. */
enum why {
	NO_STEP,
	CERTAIN, /* the clock went back, was torn in a session, or ran faster than max_drift allows */
	BEYOND,  /* no rate within max_wander of one constant joins it with its neighbours */
	SUDDEN,  /* max_wander allows it, but nothing else of the run comes near */
};

/* Of a pair that is SUDDEN: the others must be three more than two for each such, and their number times its size
 * over the largest of theirs, at least the product; that is no less than the ratio. From swings by as much as
 * max_wander, seen by too few sessions to be followed: doc/calibration.md, "Steps". */
enum { WITNESSES = 2, MORE_WITNESSES = 3 };
static const double least_product = 60, least_ratio = 4;

/* Two neighbouring nodes. Rates in global per local tick, less the base. */
struct pair {
	size_t a, b;        /* nodes */
	double length;      /* local ticks; 0 or less: the clock went back */
	double rise;        /* of the measured points, less base x length, global ticks */
	double least, most; /* that rise for certain */
	double at;          /* middle, local ticks after the first node */
	enum why step;
};

struct finder {
	struct cal_map *m;
	size_t n;
	struct pair *pair;
	double base, nominal;
	double bend;      /* by how much the rate can curve, per local tick squared; INFINITY: within +-wander */
	double scale;     /* of what most of the run shows of that */
	double wander;    /* max_wander as a rate, or what the run shows */
	double usual;     /* half width that a tenth of the nodes do not exceed, global ticks */
	double *work;     /* a number for each node */
	double low, high; /* the rate that the run had all along, +- max_wander, less the base */
};

static double node_half_width(const struct cal_node *n)
{
	return 0.5 * (double)gtick_sub(n->high, n->low);
}

/* Is the measured point outside what is certain? A mean over exchanges that were held up can be. */
static int is_outside(const struct cal_node *n)
{
	return gtick_sub(n->global, n->low) < 0 || gtick_sub(n->global, n->high) > 0;
}

static gtick_t point_of_node(const struct cal_node *n)
{
	return is_outside(n) ? gtick_add(n->low, gtick_sub(n->high, n->low) / 2) : n->global;
}

static void make_node_pairs(struct finder *f)
{
	const struct cal_map *m = f->m;
	size_t i;

	for (i = 1; i < m->nodes; i++) {
		const struct cal_node *a = &m->node[i - 1], *b = &m->node[i];
		struct pair *p = &f->pair[f->n++];

		*p = (struct pair){ .a = i - 1, .b = i, .length = (double)ltick_sub(b->local, a->local) };
		p->at = (double)ltick_sub(a->local, m->node[0].local) + 0.5 * p->length;
		/* a clock that went back or stood, or a session that it tore in two */
		if (!(p->length > 0) || gtick_sub(b->global, a->global) <= 0 ||
			(a->session && a->session == b->session)) {
			p->step = CERTAIN;
		}
	}
}

static void find_usual(struct finder *f)
{
	size_t i;

	for (i = 0; i < f->m->nodes; i++) {
		f->work[i] = node_half_width(&f->m->node[i]);
	}
	tkm_sort(f->work, i);
	f->usual = i ? tkm_quantile(f->work, i, 0.1) : 0;
}

/* Is the mean rate of the pair certainly off the nominal one by more than two clocks can be? */
static int certainly_beyond(const struct finder *f, const struct pair *p)
{
	const struct cal_node *a = &f->m->node[p->a], *b = &f->m->node[p->b];
	double expected = f->nominal * p->length, limit = 2 * f->m->max_drift * expected;

	return (double)gtick_sub(b->low, a->high) - expected > limit ||
		(double)gtick_sub(b->high, a->low) - expected < -limit;
}

static void choose_base(struct finder *f)
{
	double *work = f->work;
	size_t k, n = 0, near = 0, beyond = 0;

	for (k = 0; k < f->n; k++) {
		const struct pair *p = &f->pair[k];

		if (!p->step) {
			work[n] = (double)gtick_sub(f->m->node[p->b].global, f->m->node[p->a].global) / p->length;
			near += f->nominal > 0 && fabs(work[n] / f->nominal - 1) <= 2 * f->m->max_drift;
			beyond += f->nominal > 0 && certainly_beyond(f, p);
			n++;
		}
	}
	f->base = n ? tkm_median(work, n) : 1;
	if (f->nominal > 0 && (n < 2 || near > 0 || beyond == 0)) {
		f->base = f->nominal; /* else the clock never keeps to what was assumed */
	}
	for (k = 0; k < f->n; k++) {
		struct pair *p = &f->pair[k];
		const struct cal_node *a = &f->m->node[p->a], *b = &f->m->node[p->b];

		p->rise = (double)gtick_sub(point_of_node(b), point_of_node(a)) - f->base * p->length;
		p->least = (double)gtick_sub(b->low, a->high) - f->base * p->length;
		p->most = (double)gtick_sub(b->high, a->low) - f->base * p->length;
	}
}

/* Beyond what two clocks can be off their nominal rates: a step, if not all of the run is so. */
static void mark_beyond_drift(struct finder *f)
{
	size_t k;

	if (f->base != f->nominal) {
		return;
	}
	for (k = 0; k < f->n; k++) {
		struct pair *p = &f->pair[k];
		double limit = 2 * f->m->max_drift * f->base * p->length;

		if (p->least > limit || p->most < -limit) {
			p->step = CERTAIN;
		}
	}
}

static double rate(const struct pair *p)
{
	return p->rise / p->length;
}

/* Up to two neighbours that are no steps, on one side of pair k. */
static int find_neighbours(const struct finder *f, size_t k, int direction, const struct pair *found[2])
{
	int n = 0;
	size_t i = k;

	while (n < 2 && (direction > 0 ? i + 1 < f->n : i > 0)) {
		i = direction > 0 ? i + 1 : i - 1;
		if (!f->pair[i].step) {
			found[n++] = &f->pair[i];
		}
	}
	return n;
}

/* A pair and two others that say what its rate should be, on a straight line through theirs. */
struct guess {
	double size;      /* by how much its rise differs from that, global ticks */
	double noise;     /* what the points can be off by */
	double tolerance; /* what is believable: noise, and what the rate can do meanwhile */
	double lever;     /* how much of `size` one unit of f->bend can make */
};

/* How much each node counts in a sum of rises. */
struct parts_of {
	int n;
	size_t node[6];
	double count[6];
};

static void count_node(struct parts_of *c, size_t node, double times)
{
	int i = 0;

	while (i < c->n && c->node[i] != node) {
		i++;
	}
	if (i == c->n) {
		c->node[c->n] = node;
		c->count[c->n++] = 0;
	}
	c->count[i] += times;
}

static void count_pair(struct parts_of *c, const struct pair *p, double times)
{
	count_node(c, p->a, -times);
	count_node(c, p->b, times);
}

/* How far off the sum can be: four times what is likely, but no more than what is certain. A point whose
 * scatter is small against its half width can still be off by a tenth of it, because paths change; and by all that the
 * half width has more than twice the usual, because where a busy machine holds messages up, it does so on one of the two ways. */
static double off_by(const struct finder *f, const struct parts_of *c)
{
	double squares = 0, most = 0, held_up = 0;
	int i;

	for (i = 0; i < c->n; i++) {
		const struct cal_node *n = &f->m->node[c->node[i]];
		double half = node_half_width(n), likely = fmax(n->sigma, 0.1 * half);

		if (!(n->sigma > 0) || !isfinite(n->sigma) || is_outside(n)) {
			likely = 0.5 * half;
		}

		squares += c->count[i] * c->count[i] * likely * likely;
		most += fabs(c->count[i]) * half;
		held_up += fabs(c->count[i]) * fmax(half - 2 * f->usual, 0);
	}
	return fmin(4 * sqrt(squares) + held_up, most);
}

/* x and y are on both sides of the pair, or both on one. */
static struct guess guess(const struct finder *f, const struct pair *p, const struct pair *x, const struct pair *y)
{
	double w = f->wander, weight = (p->at - y->at) / (x->at - y->at);
	struct guess g = { .lever = 0.5 * fabs((p->at - x->at) * (p->at - y->at)) * p->length };
	double bent = g.lever > 0 ? f->bend * g.lever : 0;
	struct parts_of c = { .n = 0 };

	if (bent >= 2 * w * p->length) {
		/* too far apart to follow: within +-w of one constant all the same */
		weight = fmin(fmax(weight, 0), 1);
		bent = 2 * w * p->length;
	}
	g.size = p->rise - (weight * rate(x) + (1 - weight) * rate(y)) * p->length;
	count_pair(&c, p, 1);
	count_pair(&c, x, -weight * p->length / x->length);
	count_pair(&c, y, -(1 - weight) * p->length / y->length);
	g.noise = off_by(f, &c);
	g.tolerance = g.noise + bent;
	if ((x->at < p->at) != (y->at < p->at)) {
		/* a rate that changed for good is no step */
		g.tolerance = fmax(g.tolerance, 0.75 * fabs(rate(x) - rate(y)) * p->length);
	}
	return g;
}

/* What the nearest two on each side say, any two of them together; g has 6 places. Returns how many there are. */
static int guesses(const struct finder *f, size_t k, struct guess *g)
{
	const struct pair *near[4];
	int n = find_neighbours(f, k, -1, near), i, j, found = 0;

	n += find_neighbours(f, k, 1, near + n);
	for (i = 0; i < n; i++) {
		for (j = i + 1; j < n; j++) {
			g[found++] = guess(f, &f->pair[k], near[i], near[j]);
		}
	}
	return found;
}

/* A short pair knows no rate, so of the guesses the one that knows best. 0: there is none. */
static int best_guess(const struct finder *f, size_t k, struct guess *best)
{
	struct guess g[6];
	int n = guesses(f, k, g), i;

	for (i = 0; i < n; i++) {
		if (i == 0 || g[i].tolerance < best->tolerance) {
			*best = g[i];
		}
	}
	return n > 0;
}

/* By how many times what is believable the pair's rise differs from what its neighbours say. */
static double excursion(const struct finder *f, size_t k)
{
	struct guess g;

	return best_guess(f, k, &g) ? fabs(g.size) / g.tolerance : 0;
}

/* What most of the run shows of a rate that curves. A step spoils its neighbours, in a short run more than half of all
 * pairs, so it is a low quantile that counts, several times over. */
static void find_bend(struct finder *f)
{
	struct guess g;
	size_t k, n = 0;

	if (isinf(f->scale)) {
		f->bend = INFINITY;
		return;
	}
	for (k = 0; k < f->n; k++) {
		if (!f->pair[k].step && best_guess(f, k, &g) && g.lever > 0) {
			f->work[n++] = fabs(g.size) / g.lever;
		}
	}
	tkm_sort(f->work, n);
	f->bend = n ? f->scale * tkm_quantile(f->work, n, 0.3) : 0;
}

static size_t count_pairs_left_out(const struct finder *f, enum why why)
{
	size_t k, n = 0;

	for (k = 0; k < f->n; k++) {
		n += f->pair[k].step == why;
	}
	return n;
}

/* The largest first, because a step spoils the expectation of its neighbours. Returns how many are new. */
static size_t mark_largest(struct finder *f, enum why why)
{
	size_t k, worst, found = 0;
	double most, one;

	do {
		find_bend(f);
		most = 1;
		worst = f->n;
		for (k = 0; k < f->n; k++) {
			one = f->pair[k].step ? 0 : excursion(f, k);
			if (one > most) {
				most = one;
				worst = k;
			}
		}
		if (worst < f->n) {
			f->pair[worst].step = why;
			found++;
		}
	} while (worst < f->n && 2 * found <= f->n); /* if there are more, they are not steps */
	return found;
}

/* What was marked because of a neighbour that then turned out to be the step. Returns how many. */
static size_t unmark(struct finder *f, enum why why)
{
	size_t k, n = 0;

	for (k = 0; k < f->n; k++) {
		if (f->pair[k].step == why && excursion(f, k) <= 1) {
			f->pair[k].step = NO_STEP;
			n++;
		}
	}
	return n;
}

static void unmark_all(struct finder *f, enum why why)
{
	size_t k;

	for (k = 0; k < f->n; k++) {
		f->pair[k].step = f->pair[k].step == why ? NO_STEP : f->pair[k].step;
	}
}

static void mark_steps(struct finder *f, enum why why)
{
	int round = 0;

	while (mark_largest(f, why) > 0 && unmark(f, why) > 0 && round++ < 5) {
	}
}

/* The rate that all pairs without a step allow, and longer base lines of them. */
static void rate_of_all(struct finder *f, double *low, double *high)
{
	size_t k, i;

	*low = -INFINITY;
	*high = INFINITY;
	for (k = 0; k < f->n; k++) {
		const struct pair *p = &f->pair[k];
		double length = 0, least = 0, most = 0;

		if (p->step) {
			continue;
		}
		*low = fmax(*low, p->least / p->length);
		*high = fmin(*high, p->most / p->length);
		if (k > 0 && !f->pair[k - 1].step) {
			continue;
		}
		/* from the first to the last node of the stretch, too: a longer base line */
		for (i = k; i < f->n && !f->pair[i].step; i++) {
			length += f->pair[i].length;
		}
		least = (double)gtick_sub(f->m->node[f->pair[i - 1].b].low, f->m->node[p->a].high) - f->base * length;
		most = (double)gtick_sub(f->m->node[f->pair[i - 1].b].high, f->m->node[p->a].low) - f->base * length;
		*low = fmax(*low, least / length);
		*high = fmin(*high, most / length);
	}
}

/* However fast it swings, the rate stays within max_wander of a constant. A run of which all else strays farther is
 * believed, three times over; and if a third of the pairs do not fit, it is the assumption that does not (of three,
 * the two that agree may both hold a step of one size). */
static void mark_beyond_wander(struct finder *f)
{
	double low, high;

	f->scale = INFINITY;
	mark_steps(f, BEYOND);
	f->bend = INFINITY;
	do {
		rate_of_all(f, &low, &high);
		f->wander = f->m->max_wander * f->base;
		f->wander = 0.5 * (low - high) > f->wander ? 1.5 * (low - high) : f->wander;
	} while (unmark(f, BEYOND) > 0);
	f->wander = f->m->max_wander * f->base;
	if (3 * count_pairs_left_out(f, BEYOND) + count_pairs_left_out(f, CERTAIN) >= f->n) {
		unmark_all(f, BEYOND);
	}
}

/* The most that the rate is seen to curve where no step is marked, three times over. Half of the noise is taken off:
 * pairs that are short see nothing else. */
static void find_bend_of_rest(struct finder *f)
{
	struct guess g[6];
	double most = 0;
	size_t k;
	int n, i;

	for (k = 0; k < f->n; k++) {
		n = f->pair[k].step ? 0 : guesses(f, k, g);
		for (i = 0; i < n; i++) {
			most = g[i].lever > 0 ? fmax(most, (fabs(g[i].size) - 0.5 * g[i].noise) / g[i].lever) : most;
		}
	}
	f->bend = 3 * most;
}

/* A low quantile says little of a clock that swings: some of its pairs are where the rate goes straight, and then those
 * where it turns look sudden. So what was marked stays so only if nothing else of the run curves nearly as much. */
static void confirm(struct finder *f)
{
	do {
		find_bend_of_rest(f);
	} while (unmark(f, SUDDEN) > 0);
}

/* Of a swing that is quicker than the sessions follow, each pair shows what it likes, and a few of them agree by
 * chance. Are there too many others for that, and do the marked ones stand out from them all? */
static int stand_out(const struct finder *f)
{
	double least = INFINITY, most = 0;
	size_t k, sudden = 0, others = 0;
	struct guess g;

	for (k = 0; k < f->n; k++) {
		if (f->pair[k].step == SUDDEN && best_guess(f, k, &g)) {
			least = fmin(least, fabs(g.size));
			sudden++;
		} else if (!f->pair[k].step && best_guess(f, k, &g)) {
			most = fmax(most, fabs(g.size));
			others++;
		}
	}
	return others >= WITNESSES * sudden + MORE_WITNESSES &&
		least >= fmax(least_product / (double)others, least_ratio) * most;
}

/* What max_wander allows, but not so suddenly: those that stand out, at whatever scale of the run's own curving. */
static void mark_sudden(struct finder *f)
{
	for (f->scale = 4; f->scale < 1e9; f->scale *= 2) {
		mark_steps(f, SUDDEN);
		confirm(f);
		if (count_pairs_left_out(f, SUDDEN) == 0 || stand_out(f)) {
			return;
		}
		unmark_all(f, SUDDEN);
	}
}

/* Where steps may hide that are too small to be seen: what is left if any quarter of the pairs, and at least one,
 * is not believed. Whichever they are, the largest limit of the others is not below the one taken. */
static void rate_of_most(struct finder *f, double *low, double *high)
{
	size_t k, n = 0, hidden;

	for (k = 0; k < f->n; k++) {
		n += !f->pair[k].step;
	}
	hidden = n == 3 ? 2 : 1 + f->n / 4; /* of three, two that hold steps can look like the rate */
	*low = -INFINITY;
	*high = INFINITY;
	if (hidden >= n) {
		return;
	}
	for (k = n = 0; k < f->n; k++) {
		if (!f->pair[k].step) {
			f->work[n++] = f->pair[k].least / f->pair[k].length;
		}
	}
	tkm_sort(f->work, n);
	*low = f->work[n - 1 - hidden];
	for (k = n = 0; k < f->n; k++) {
		if (!f->pair[k].step) {
			f->work[n++] = f->pair[k].most / f->pair[k].length;
		}
	}
	tkm_sort(f->work, n);
	*high = f->work[hidden];
}

/* Wander had to be raised: if it was true after all and steps are in the way, any one pair may be the one without. */
static void rate_of_any(struct finder *f, double w)
{
	size_t k;

	for (k = 0; k < f->n; k++) {
		const struct pair *p = &f->pair[k];

		if (!p->step) {
			f->low = fmin(f->low, p->least / p->length - w);
			f->high = fmax(f->high, p->most / p->length + w);
		}
	}
}

/* The rate that the run had all along, +- wander; wander grows if there is none. */
static void find_rate(struct finder *f)
{
	double assumed = f->m->max_wander * f->base, w = assumed, low, high;

	rate_of_all(f, &low, &high);
	if (low - high > 2 * w) {
		w = 0.5 * (low - high);
		f->m->max_wander = w / f->base;
		f->m->may_step = 1; /* one assumption is broken: believe less of the others */
	}
	if (f->m->may_step) {
		rate_of_most(f, &low, &high);
	}
	f->low = low - w;
	f->high = high + w;
	if (w > assumed) {
		rate_of_any(f, assumed);
	}
	if (f->base == f->nominal) {
		double limit = 2 * f->m->max_drift * f->base;

		if (fmax(f->low, -limit) <= fmin(f->high, limit)) {
			f->low = fmax(f->low, -limit);
			f->high = fmin(f->high, limit);
		}
	}
	f->m->rate_low = isfinite(f->low) ? f->base + f->low - w : 0;
	f->m->rate_high = isfinite(f->high) ? f->base + f->high + w : 0;
}

/* Its size, for certain by the intervals and the rate; where that leaves room, what the neighbours' rates say is likelier
 * than the middle. */
static void describe_step(const struct finder *f, size_t k, struct cal_step *s)
{
	const struct cal_map *m = f->m;
	const struct pair *p = &f->pair[k];
	const struct cal_node *a = &m->node[p->a], *b = &m->node[p->b];
	double r0 = (m->rate_low - f->base) * p->length, r1 = (m->rate_high - f->base) * p->length;
	double least = p->least - fmax(r0, r1), most = p->most - fmin(r0, r1), size = 0.5 * (least + most);
	int certain = least > 0 || most < 0 || !(p->length > 0);
	struct guess g;

	if (!certain && best_guess(f, k, &g)) {
		size = fmin(fmax(g.size, least), most);
	}
	*s = (struct cal_step){ a->local, b->local, a->global, b->global, -size * m->period_s,
		fmax(most - size, size - least) * m->period_s, certain };
}

/* Parts and steps out of the marked pairs. */
static int split_at_marks(struct finder *f, struct tkm_err *err)
{
	struct cal_map *m = f->m;
	size_t k, steps = 0;

	for (k = 0; k < f->n; k++) {
		steps += f->pair[k].step != NO_STEP;
	}
	free(m->part);
	free(m->step);
	m->part = calloc(steps + 1, sizeof(*m->part));
	m->step = calloc(steps + 1, sizeof(*m->step));
	m->parts = 1;
	m->steps = 0;
	if (!m->part || !m->step) {
		m->parts = 0;
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory for %zu steps", steps);
	}
	for (k = 0; k < f->n; k++) {
		const struct pair *p = &f->pair[k];

		if (p->step) {
			describe_step(f, k, &m->step[m->steps++]);
			m->node[p->a].used = m->node[p->b].used = 1;
			m->part[m->parts - 1].nodes = p->b - m->part[m->parts - 1].node;
			m->part[m->parts++].node = p->b;
		}
	}
	m->part[m->parts - 1].nodes = m->nodes - m->part[m->parts - 1].node;
	return 0;
}

int cal_map_split(struct cal_map *m, double nominal, struct tkm_err *err)
{
	struct finder f = { .m = m,
		.nominal = nominal,
		.pair = calloc(m->nodes + 1, sizeof(*f.pair)),
		.work = malloc((m->nodes + 1) * sizeof(*f.work)) };
	int rc = -1;

	m->nominal = nominal > 0 ? nominal : 0;
	if (!f.pair || !f.work) {
		tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
		goto out;
	}
	make_node_pairs(&f);
	find_usual(&f);
	choose_base(&f);
	mark_beyond_drift(&f);
	f.wander = m->max_wander * f.base;
	mark_beyond_wander(&f);
	mark_sudden(&f);
	find_rate(&f);
	rc = split_at_marks(&f, err);
out:
	free(f.work);
	free(f.pair);
	return rc;
}

void cal_map_leave_out_same_tick(struct cal_map *m, double slope)
{
	struct cal_node *b = &m->node[m->nodes - 1], *a = b - 1, *stays, *goes;
	int64_t passed;

	if (m->nodes < 2) {
		return;
	}
	passed = ltick_sub(b->local, a->local);
	if (passed < 0 || (passed > 0 && gtick_sub(b->global, a->global) > 0)) {
		return;
	}
	passed = llrint((double)passed * slope);
	if (gtick_sub(b->high, a->low) < passed || gtick_sub(b->low, a->high) > passed) {
		return;
	}
	stays = b->used && !a->used ? b : a;
	goes = stays == b ? a : b;
	if (m->may_step) {
		int64_t to = stays == b ? passed : -passed;

		stays->low.v = goes->low.v + to < stays->low.v ? goes->low.v + to : stays->low.v;
		stays->high.v = goes->high.v + to > stays->high.v ? goes->high.v + to : stays->high.v;
	}
	*a = *stays;
	m->nodes--;
}
