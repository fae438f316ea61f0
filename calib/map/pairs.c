/* SPDX-License-Identifier: BSD-3-Clause */
/* A steered clock and a free one beside it; see calib/map/pairs.h. */
#include "config.h"
#include "calib/map/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const double cal_pair_every_s = 0.04, cal_pair_event_s = 0.1;

/* Number of readings for a pair; the narrowest is kept. */
enum { TRIES = 5 };

int cal_pairs_add(struct cal_pairs *p, const struct cal_reading *pair, struct tkm_err *err)
{
	if (TKM_GROW(p->pair, p->room, p->n + 1) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu readings of the clock", p->n + 1);
	}
	p->pair[p->n++] = *pair;
	return 0;
}

int cal_pairs_take(
	struct cal_pairs *p, struct tmr_timer *local, struct tmr_timer *reference, int over, struct tkm_err *err)
{
	struct cal_reading best = { .over = over }, one = { .over = over };
	int i;

	for (i = 0; i < TRIES; i++) {
		one.before = tmr_read_ordered(reference);
		one.local = tmr_read_ordered(local);
		one.after = tmr_read_ordered(reference);
		if (i == 0 || ltick_sub(one.after, one.before) < ltick_sub(best.after, best.before)) {
			best = one;
		}
	}
	return tmr_check_fault(local, err) < 0 ? -1 : cal_pairs_add(p, &best, err);
}

int cal_pairs_due(const struct cal_pairs *p, ltick_t now)
{
	return p->n == 0 || (double)ltick_sub(now, p->pair[p->n - 1].before) >= cal_pair_every_s * p->reference_hz;
}

/* Reference ticks per local tick. */
static double ratio(const struct cal_pairs *p)
{
	return p->reference_hz / p->hz;
}

/* A reading that shows pair i's stamp was taken when the reference showed middle +- half: of two readings that show the same stamp
 * one may be later by an effective tick than the other, and the reference's own reading may lag by one of its ticks. */
static double pair_half_width(const struct cal_pairs *p, size_t i)
{
	return 0.5 *
		((double)ltick_sub(p->pair[i].after, p->pair[i].before) +
			(2 * p->tick_s + p->reference_tick_s) * p->reference_hz) +
		1;
}

static double middle_after(const struct cal_pairs *p, size_t i)
{
	return 0.5 * ((double)ltick_sub(p->pair[i].after, p->pair[i].before) + p->reference_tick_s * p->reference_hz);
}

/* From pair i to pair i + 1, in reference ticks. */
struct interval {
	double length; /* by the reference */
	double rise;   /* of the steered clock, less that */
	double noise;  /* of the rise */
};

static struct interval interval(const struct cal_pairs *p, size_t i)
{
	const struct cal_reading *a = &p->pair[i], *b = &p->pair[i + 1];
	struct interval v = { .length = (double)ltick_sub(b->before, a->before) + middle_after(p, i + 1) -
			middle_after(p, i) };

	v.rise = (double)ltick_sub(b->local, a->local) * ratio(p) - v.length;
	v.noise = pair_half_width(p, i) + pair_half_width(p, i + 1);
	return v;
}

static double larger_ticks(double a, double b)
{
	return a > b ? a : b;
}

/* However it is steered within +-limit, between two pairs it cannot leave the straight line by more; if it may be set, once. */
static double cones(const struct cal_pairs *p, size_t i, const struct interval *v, double limit)
{
	return larger_ticks(pair_half_width(p, i), pair_half_width(p, i + 1)) +
		(p->may_step ? limit * v->length + fabs(v->rise) : 0.5 * limit * v->length);
}

/* Do two neighbouring intervals together last no longer than the clock is left alone? Then one of them holds no event. */
static int short_enough(const struct cal_pairs *p, size_t i)
{
	return (double)ltick_sub(p->pair[i + 2].after, p->pair[i].before) <= cal_pair_event_s * p->reference_hz;
}

static int is_set(const struct cal_pairs *p, size_t i)
{
	return p->pair[i].step == CAL_PAIR_SET;
}

/* The rates of both neighbours, as rises over the length of this interval; 0 if they do not say what the rate was before
 * and after one event in it. Beside an interval in which the clock was set there is no other event. */
static int pair_neighbours(
	const struct cal_pairs *p, size_t i, const struct interval *v, double rise[2], double noise[2])
{
	size_t k;

	if (i == 0 || i + 2 >= p->n || !short_enough(p, i - 1) || !short_enough(p, i)) {
		return 0;
	}
	for (k = 0; k < 2; k++) {
		struct interval n = interval(p, k ? i + 1 : i - 1);

		rise[k] = n.rise / n.length * v->length;
		noise[k] = n.noise / n.length * v->length;
		if (is_set(p, i - 1) || is_set(p, i + 1)) {
			rise[k] = v->rise;
			noise[k] = 0;
		}
	}
	return 1;
}

/* If there was one event in the interval, or none, the clock went on before it as in the interval before and after it
 * as in the one after: it was on one of these two lines. */
static double lines(
	const struct cal_pairs *p, size_t i, const struct interval *v, const double rise[2], const double noise[2])
{
	return larger_ticks(pair_half_width(p, i), pair_half_width(p, i + 1)) +
		larger_ticks(fabs(rise[0] - v->rise) + noise[0], fabs(rise[1] - v->rise) + noise[1]);
}

/* Is the rise between those of the neighbours, as it must be if the clock is not set? */
static int explained(const struct interval *v, const double rise[2], const double noise[2])
{
	double low = fmin(rise[0] - noise[0], rise[1] - noise[1]), high = fmax(rise[0] + noise[0], rise[1] + noise[1]);

	return v->rise >= low - v->noise && v->rise <= high + v->noise;
}

/* A pair on the same tick of a coarse clock, or of a coarse reference, as the one before it says nothing new, and would look like a clock
 * that stood. */
static void leave_out_same_tick(struct cal_pairs *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->n; i++) {
		struct interval v = { 0 };
		int64_t moved = 0;

		p->pair[n] = p->pair[i];
		if (n > 0) {
			v = interval(p, n - 1);
			moved = ltick_sub(p->pair[n].local, p->pair[n - 1].local);
		}
		n += n == 0 || moved < 0 || (moved > 0 && v.length > 0) || fabs(v.rise) > v.noise;
	}
	p->n = n;
}

/* Tests for a change that is larger than any slew of the kernel: the clock was certainly set. */
static void mark_beyond_limit(struct cal_pairs *p)
{
	size_t i;

	for (i = 0; i + 1 < p->n; i++) {
		struct interval v = interval(p, i);

		p->pair[i].step = ltick_sub(p->pair[i + 1].local, p->pair[i].local) <= 0 || !(v.length > 0) ||
				fabs(v.rise) - v.noise > p->slew_limit * v.length
			? CAL_PAIR_SET
			: CAL_PAIR_GOES_ON;
	}
}

/* What one event explains, or none, is no step. Where a clock that is not set shows one, or another clock shows two in a
 * row (look_beside_steps()), or is slewed too fast where no step explains it, the assumptions are wrong. */
static void mark_unexplained(struct cal_pairs *p)
{
	double rise[2], noise[2];
	size_t i;

	p->contradictions = 0;
	for (i = 0; i + 1 < p->n; i++) {
		struct interval v = interval(p, i);
		int known = pair_neighbours(p, i, &v, rise, noise),
		    odd = known && !is_set(p, i) && !explained(&v, rise, noise),
		    fast = fabs(v.rise) - v.noise > p->max_slew * v.length;

		if (p->may_step ? fast && known && !odd && !is_set(p, i) : odd || is_set(p, i) || fast) {
			p->contradictions++;
		} else if (odd) {
			p->pair[i].step = CAL_PAIR_SET;
		} else if (p->may_step && !known && !is_set(p, i)) {
			p->pair[i].step = CAL_PAIR_UNKNOWN;
		}
	}
}

/* Do the two intervals, which hold no event, show one rate? */
static int have_same_rate(const struct cal_pairs *p, size_t i, size_t k)
{
	struct interval a = interval(p, i), b = interval(p, k);

	return fabs(a.rise - b.rise / b.length * a.length) <= a.noise + b.noise / b.length * a.length;
}

/* Beside an interval in which the clock was set nothing happens, if the assumption is right. */
static void look_beside_steps(struct cal_pairs *p)
{
	size_t i;

	for (i = 2; i + 3 < p->n && p->may_step; i++) {
		if (!is_set(p, i)) {
			continue;
		}
		if (short_enough(p, i - 1) &&
			(is_set(p, i - 1) ||
				(short_enough(p, i - 2) && !is_set(p, i - 2) && !have_same_rate(p, i - 1, i - 2)))) {
			p->contradictions++;
		}
		if (short_enough(p, i) && i + 4 < p->n && !is_set(p, i + 1) && short_enough(p, i + 1) &&
			!is_set(p, i + 2) && !have_same_rate(p, i + 1, i + 2)) {
			p->contradictions++;
		}
	}
}

/* Between two of the readings in between it can leave the line by what it can be steered, and no step is missed there: it is read
 * more often than it is set. */
static void use_readings_between(struct cal_pairs *p, size_t i)
{
	struct cal_reading *a = &p->pair[i], *b = a + 1;
	double ends = larger_ticks(pair_half_width(p, i), pair_half_width(p, i + 1));

	if (!is_set(p, i) && (!p->may_step || b->longest <= cal_pair_event_s * p->reference_hz)) {
		a->step = CAL_PAIR_GOES_ON;
		a->within = fmin(a->within, larger_ticks(ends, b->off) + 0.5 * p->max_slew * b->longest);
	}
}

static int find_branches(struct cal_pairs *p, struct tkm_err *err)
{
	size_t i;

	free(p->branch);
	p->branches = 0;
	p->branch = malloc((p->n + 1) * sizeof(*p->branch));
	if (!p->branch) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu readings of the clock", p->n);
	}
	p->branch[p->branches++] = 0;
	for (i = 0; i + 1 < p->n; i++) {
		if (p->pair[i].step != CAL_PAIR_GOES_ON) {
			p->branch[p->branches++] = i + 1;
		}
	}
	return 0;
}

int cal_pairs_judge(struct cal_pairs *p, struct tkm_err *err)
{
	double rise[2], noise[2];
	size_t i;

	leave_out_same_tick(p);
	mark_beyond_limit(p);
	mark_unexplained(p);
	look_beside_steps(p);
	for (i = 0; i + 1 < p->n; i++) {
		struct cal_reading *a = &p->pair[i];
		struct interval v = interval(p, i);

		a->proven = cones(p, i, &v, p->slew_limit);
		a->within = cones(p, i, &v, p->contradictions ? p->slew_limit : p->max_slew);
		if (p->contradictions == 0 && pair_neighbours(p, i, &v, rise, noise)) {
			a->within = fmin(a->within, lines(p, i, &v, rise, noise));
		}
		if (a[1].longest > 0 && p->contradictions == 0) {
			use_readings_between(p, i);
		}
	}
	return find_branches(p, err);
}

/* ---- looking up ---- */

/* Pairs first .. last have no step between them. */
struct branch {
	size_t first, last;
};

static struct branch branch_of(const struct cal_pairs *p, size_t b)
{
	return (struct branch){ p->branch[b], (b + 1 < p->branches ? p->branch[b + 1] : p->n) - 1 };
}

/* The pair of the branch at or before the stamp; the first one if there is none. */
static size_t find_pair(const struct cal_pairs *p, struct branch b, ltick_t local)
{
	size_t low = b.first, high = b.last + 1;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (ltick_sub(p->pair[mid].local, local) <= 0) {
			low = mid;
		} else {
			high = mid;
		}
	}
	return low;
}

/* A stamp on a branch. */
struct place {
	ltick_t at;
	double within, proven;
};

/* A clock that was set back a little shows the stamps next to a pair twice. */
static void widen_next_to_pair(const struct cal_pairs *p, struct branch b, size_t i, ltick_t local, struct place *s)
{
	const struct cal_reading *a = &p->pair[i];
	double left = (double)ltick_sub(local, a->local) * ratio(p),
	       right = (double)ltick_sub(a[1].local, local) * ratio(p);

	if (p->may_step && i > b.first) {
		s->within = fmax(s->within, left <= a[-1].within ? 1.1 * a[-1].within : 0);
		s->proven = fmax(s->proven, left <= a[-1].proven ? 1.1 * a[-1].proven : 0);
	}
	if (p->may_step && i + 1 < b.last) {
		s->within = fmax(s->within, right <= a[1].within ? 1.1 * a[1].within : 0);
		s->proven = fmax(s->proven, right <= a[1].proven ? 1.1 * a[1].proven : 0);
	}
}

static struct place place_on(const struct cal_pairs *p, struct branch b, ltick_t local)
{
	size_t i = find_pair(p, b, local);
	const struct cal_reading *a = &p->pair[i];
	double away = (double)ltick_sub(local, a->local) * ratio(p),
	       assumed = p->contradictions ? p->slew_limit : p->max_slew;
	struct place s;
	double from = middle_after(p, i);

	if (i < b.last && away >= 0) {
		struct interval v = interval(p, i);
		double u = (double)ltick_sub(local, a->local) / (double)ltick_sub(a[1].local, a->local);

		s.at = ltick(ticks_away(a->before.v, from + u * v.length));
		s.within = a->within;
		s.proven = a->proven;
		widen_next_to_pair(p, b, i, local, &s);
		return s;
	}
	/* before the first pair or after the last one: at the nominal rate */
	s.at = ltick(ticks_away(a->before.v, from + away));
	s.within = pair_half_width(p, i) + (assumed)*fabs(away) * 1.2;
	s.proven = pair_half_width(p, i) + (p->slew_limit) * fabs(away) * 1.2;
	return s;
}

/* For how many local ticks at most the clock ran between the two pairs around a step, by the reference. */
static double gap(const struct cal_pairs *p, size_t before)
{
	return (double)ltick_sub(p->pair[before + 1].after, p->pair[before].before) / ratio(p) * (1 + p->slew_limit) +
		2;
}

/* Tests whether the stamp can be from that branch. */
static int branch_is_possible(const struct cal_pairs *p, size_t k, ltick_t local, const struct cal_stamp_place *where)
{
	struct branch b = branch_of(p, k);
	struct place s;

	if ((k > 0 && (double)ltick_sub(p->pair[b.first].local, local) > gap(p, b.first - 1)) ||
		(k + 1 < p->branches && (double)ltick_sub(local, p->pair[b.last].local) > gap(p, b.last))) {
		return 0;
	}
	if (!where || (!where->have_from && !where->have_to)) {
		return 1;
	}
	s = place_on(p, b, local);
	return !(where->have_from && (double)ltick_sub(where->from, s.at) > s.proven) &&
		!(where->have_to && (double)ltick_sub(s.at, where->to) > s.proven);
}

/* The first possible branch whose end is not nearer to the next one's beginning. */
static size_t choose_branch(const struct cal_pairs *p, ltick_t local, const struct cal_stamp_place *where)
{
	size_t k, chosen = p->branches;

	for (k = 0; k < p->branches; k++) {
		struct branch b = branch_of(p, k);

		if (!branch_is_possible(p, k, local, where)) {
			continue;
		}
		chosen = k;
		if (k + 1 < p->branches) {
			ltick_t from = p->pair[b.last].local, to = p->pair[b.last + 1].local;

			if (ltick_sub(local, from) <= ltick_sub(to, from) / 2) {
				break;
			}
		}
	}
	/* no branch fits, as for a stamp of another clock: returns the last one */
	return chosen < p->branches ? chosen : p->branches - 1;
}

ltick_t cal_pairs_at(
	const struct cal_pairs *p, ltick_t local, const struct cal_stamp_place *where, double *within, double *proven)
{
	size_t chosen = p->branches > 1 ? choose_branch(p, local, where) : 0, k;
	struct place s = place_on(p, branch_of(p, chosen), local);

	for (k = 0; k < p->branches && p->branches > 1; k++) {
		if (k != chosen && branch_is_possible(p, k, local, where)) {
			struct place other = place_on(p, branch_of(p, k), local);
			double apart = fabs((double)ltick_sub(other.at, s.at));

			s.within = fmax(s.within, apart + other.within);
			s.proven = fmax(s.proven, apart + other.proven);
		}
	}
	if (within) {
		*within = s.within;
	}
	if (proven) {
		*proven = s.proven;
	}
	return s.at;
}

double cal_pairs_slope(const struct cal_pairs *p, ltick_t local)
{
	struct branch b = branch_of(p, p->branches > 1 ? choose_branch(p, local, NULL) : 0);
	size_t i = find_pair(p, b, local);
	const struct cal_reading *a = &p->pair[i];

	if (i == b.last || ltick_sub(local, a->local) < 0) {
		return 1 / ratio(p);
	}
	return (double)ltick_sub(a[1].local, a->local) / interval(p, i).length;
}

ltick_t cal_pairs_local(const struct cal_pairs *p, ltick_t reference)
{
	size_t low = 0, high = p->n;
	double away;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (ltick_sub(p->pair[mid].before, reference) <= 0) {
			low = mid;
		} else {
			high = mid;
		}
	}
	away = (double)ltick_sub(reference, p->pair[low].before) - middle_after(p, low);
	if (low + 1 < p->n && !p->pair[low].step && away >= 0) {
		return ltick(ticks_away(p->pair[low].local.v,
			away / interval(p, low).length *
				(double)ltick_sub(p->pair[low + 1].local, p->pair[low].local)));
	}
	return ltick(ticks_away(p->pair[low].local.v, away / ratio(p)));
}

int cal_pairs_copy(struct cal_pairs *to, const struct cal_pairs *from)
{
	*to = *from;
	if (from->n == 0) {
		to->pair = NULL;
		to->branch = NULL;
		to->branches = to->room = 0;
		return 0;
	}
	to->room = from->n;
	to->pair = malloc(from->n * sizeof(*to->pair));
	to->branch = malloc((from->branches + 1) * sizeof(*to->branch));
	if (!to->pair || !to->branch) {
		cal_pairs_free(to);
		return -1;
	}
	memcpy(to->pair, from->pair, from->n * sizeof(*to->pair));
	if (from->branches) {
		memcpy(to->branch, from->branch, from->branches * sizeof(*to->branch));
	}
	return 0;
}

void cal_pairs_free(struct cal_pairs *p)
{
	free(p->pair);
	free(p->branch);
	memset(p, 0, sizeof(*p));
}
