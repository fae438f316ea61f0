/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking up stamps in a clock map, and the bounds of the results; see calib/map/map.h. */
#include "config.h"
#include "calib/map/map.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int64_t clamp_to_range(__int128 v)
{
	return v > TICKS_FARTHEST ? TICKS_FARTHEST : v < -TICKS_FARTHEST ? -TICKS_FARTHEST : (int64_t)v;
}

/* a * b / c to nearest, c > 0, not beyond TICKS_FARTHEST; the product does not fit 64 bits. */
static int64_t mul_div(int64_t a, int64_t b, int64_t c)
{
	double near = (double)a * ((double)b / (double)c);
	int64_t q, rest;

	/* The division of 128 bits costs several times as much as all this: where floating point is right to one or two,
	 * the remainder, of which the low half is all there is, says what is right. */
	if (near >= 0 && near < 0x1p50 && c < INT64_MAX / 8) {
		q = (int64_t)near;
		rest = (int64_t)((uint64_t)a * (uint64_t)b + (uint64_t)(c / 2) - (uint64_t)q * (uint64_t)c);
		for (; rest < 0; rest += c) {
			q--;
		}
		for (; rest >= c; rest -= c) {
			q++;
		}
		return q;
	}
	__int128 p = (__int128)a * b;

	return clamp_to_range((p >= 0 ? p + c / 2 : p - c / 2) / c);
}

/* The k-th part; a map without parts is one. */
static struct cal_part map_part(const struct cal_map *m, size_t k)
{
	return m->parts ? m->part[k] : (struct cal_part){ 0, m->nodes, 0, m->pieces };
}

static size_t last_part(const struct cal_map *m)
{
	return m->parts ? m->parts - 1 : 0;
}

/* The piece of the part that holds `local`, else the nearest. */
static const struct cal_piece *piece_of(const struct cal_map *m, size_t part, ltick_t local)
{
	struct cal_part p = map_part(m, part);
	size_t low = p.piece, high = p.piece + p.pieces;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (ltick_sub(local, m->piece[mid].local) >= 0) {
			low = mid;
		} else {
			high = mid;
		}
	}
	return &m->piece[low];
}

static gtick_t at_in(const struct cal_map *m, size_t part, ltick_t local)
{
	const struct cal_piece *p = piece_of(m, part, local);
	int64_t l = ltick_sub(local, p->local);
	gtick_t g = gtick(clamp_to_range((__int128)p->global.v + mul_div(l, p->rise, p->length)));
	double u;

	if (l < 0) {
		return gtick(ticks_away(g.v, (double)l * p->bend_begin));
	}
	if (l > p->length) {
		return gtick(ticks_away(g.v, (double)(l - p->length) * p->bend_end));
	}
	if (p->bend_begin == 0 && p->bend_end == 0) {
		return g; /* most pieces are straight lines: saves a division */
	}
	u = (double)l / (double)p->length;
	return gtick(ticks_away(g.v, (double)p->length * u * (1 - u) * ((1 - u) * p->bend_begin - u * p->bend_end)));
}

/* Half the sum without overflow. */
static int64_t node_middle(ltick_t a, ltick_t b)
{
	return a.v + ltick_sub(b, a) / 2;
}

/* Which of the parts lo .. hi a stamp belongs to, if nothing but its value is known: steps that were passed
 * lie before it. */
static size_t choose_part(const struct cal_map *m, size_t lo, size_t hi, ltick_t local)
{
	while (lo < hi && local.v > node_middle(m->step[lo].from, m->step[lo].to)) {
		lo++;
	}
	return lo;
}

gtick_t cal_map_session_at(const struct cal_map *m, ltick_t local)
{
	return at_in(m, choose_part(m, 0, last_part(m), local), local);
}

gtick_t cal_map_at(const struct cal_map *m, ltick_t local)
{
	return cal_map_session_at(m, m->pairs.n ? cal_pairs_at(&m->pairs, local, NULL, NULL, NULL) : local);
}

void cal_map_span(const struct cal_map *m, ltick_t local, struct cal_span *s)
{
	const struct cal_piece *p;

	*s = (struct cal_span){ .from = 1 };
	if (last_part(m) > 0 || m->pairs.n) {
		return; /* where it is split, a stamp's part has to be chosen */
	}
	p = piece_of(m, 0, local);
	/* the last tick belongs to the next piece, if there is one */
	if (ltick_sub(local, p->local) < 0 || ltick_sub(local, p->local) >= p->length || p->bend_begin != 0 ||
		p->bend_end != 0 || p->length > INT64_MAX / 4) {
		return;
	}
	*s = (struct cal_span){ .from = p->local.v,
		.to = p->local.v + (p->length - 1),
		.global = p->global.v,
		.rise = (uint64_t)p->rise,
		.length = (uint64_t)p->length,
		.half = (uint64_t)(p->length / 2),
		.whole = (uint64_t)(p->rise / p->length),
		.part = (uint64_t)(((unsigned __int128)(uint64_t)(p->rise % p->length) << 64) / (uint64_t)p->length),
		/* too small by one at most */
		.half_part =
			((uint64_t)1 << 63) - (p->length % 2 ? ((uint64_t)1 << 63) / (uint64_t)p->length + 1 : 0) };
}

double cal_map_session_slope(const struct cal_map *m, ltick_t local)
{
	const struct cal_piece *p = piece_of(m, choose_part(m, 0, last_part(m), local), local);
	int64_t l = ltick_sub(local, p->local);
	double s = (double)p->rise / (double)p->length, u;

	if (l <= 0) {
		return s + p->bend_begin;
	}
	if (l >= p->length) {
		return s + p->bend_end;
	}
	u = (double)l / (double)p->length;
	return s + (1 - u) * (1 - 3 * u) * p->bend_begin - u * (2 - 3 * u) * p->bend_end;
}

double cal_map_slope(const struct cal_map *m, ltick_t local)
{
	if (m->pairs.n == 0) {
		return cal_map_session_slope(m, local);
	}
	return cal_map_session_slope(m, cal_pairs_at(&m->pairs, local, NULL, NULL, NULL)) /
		cal_pairs_slope(&m->pairs, local);
}

/* ---- the bound ---- */

/* The first node of the part after `local`, or the part's end. */
static size_t node_after(const struct cal_map *m, struct cal_part p, ltick_t local)
{
	size_t low = p.node, high = p.node + p.nodes;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ltick_sub(m->node[mid].local, local) <= 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* The used node of the part at or before `local` and the one after it; either may be NULL. */
static void map_neighbours(const struct cal_map *m, size_t part, ltick_t local, const struct cal_node **before,
	const struct cal_node **after)
{
	struct cal_part p = map_part(m, part);
	size_t low = node_after(m, p, local), i;

	*before = *after = NULL;
	for (i = low; i > p.node && !*before; i--) {
		*before = m->node[i - 1].used ? &m->node[i - 1] : NULL;
	}
	for (i = low; i < p.node + p.nodes && !*after; i++) {
		*after = m->node[i].used ? &m->node[i] : NULL;
	}
}

/* From low to high, in global ticks, relative to some reference. */
struct band {
	double low, high;
};

/* The rates that are possible: those that the run has shown, else those that the assumed drift allows around the map's
 * own slope. */
static struct band rates(const struct cal_map *m, size_t part)
{
	struct band r = { m->rate_low, m->rate_high };

	if (!(r.high > 0)) {
		const struct cal_piece *p = &m->piece[map_part(m, part).piece];
		double slope = (double)p->rise / (double)p->length;

		r = (struct band){ slope * (1 - 2 * m->max_drift), slope * (1 + 2 * m->max_drift) };
	}
	return r;
}

/* Where the master's clock is for certain at `local`, as the distance from `at`, because it was within the
 * node's interval at the node and no rate outside r is possible. Distances are large and nearly cancel, so
 * what rounding may lose is added. */
static struct band cone(const struct cal_node *n, ltick_t local, gtick_t at, struct band r)
{
	double x = (double)ltick_sub(local, n->local), lost = fabs(x) * r.high * 0x1p-51;

	return (struct band){ (double)gtick_sub(cal_node_low(n), at) + x * (x >= 0 ? r.low : r.high) - lost,
		(double)gtick_sub(cal_node_high(n), at) + x * (x >= 0 ? r.high : r.low) + lost };
}

/* From the reference to the farther end. */
static double farthest(struct band b)
{
	return fmax(fmax(b.high, -b.low), 0);
}

/* The same from node n at a stamp after the last one: the learned rates for as long as they count after the last, then those of r. */
static struct band learned_cone(const struct cal_map *m, const struct cal_node *n, const struct cal_node *last,
	ltick_t local, gtick_t at, struct band r)
{
	struct band l = { m->learned_low, m->learned_high }, near;
	int64_t beyond = ltick_sub(local, last->local) - m->learned_for;

	beyond = beyond > 0 ? beyond : 0;
	near = cone(n, ltick_add(local, -beyond), at, l);
	return (struct band){ near.low + (double)beyond * r.low, near.high + (double)beyond * r.high };
}

/* After the last node. The learned rate also holds for the last quarter of learned_for. So the band is the intersection of the
 * cones of all nodes in that quarter. */
static struct band after_last(
	const struct cal_map *m, size_t part, const struct cal_node *last, ltick_t local, gtick_t at)
{
	const struct cal_node *first = &m->node[map_part(m, part).node], *n;
	struct band r = rates(m, part), a, b;

	if (!(m->learned_high > 0) || ltick_sub(local, last->local) <= 0) {
		return cone(last, local, at, r);
	}
	a = learned_cone(m, last, last, local, at, r);
	for (n = last; n > first && ltick_sub(last->local, n[-1].local) <= m->learned_for / 4; n--) {
		b = learned_cone(m, n - 1, last, local, at, r);
		b = (struct band){ fmax(a.low, b.low), fmin(a.high, b.high) };
		if (b.low > b.high) {
			break;
		}
		a = b;
	}
	return a;
}

/* Between two nodes of a clock that cannot step: doc/calibration.md. */
static double bound_between(
	const struct cal_map *m, size_t part, ltick_t local, const struct cal_node *a, const struct cal_node *b)
{
	gtick_t at_a = at_in(m, part, a->local), at_b = at_in(m, part, b->local);
	double u = (double)ltick_sub(local, a->local) / (double)ltick_sub(b->local, a->local);
	double apart = (double)gtick_sub(at_b, at_a), chord;
	double left = farthest(
		(struct band){ (double)gtick_sub(cal_node_low(a), at_a), (double)gtick_sub(cal_node_high(a), at_a) });
	double right = farthest(
		(struct band){ (double)gtick_sub(cal_node_low(b), at_b), (double)gtick_sub(cal_node_high(b), at_b) });

	/* where the map leaves its own chord, it may be wrong by as much */
	chord = (double)gtick_sub(at_in(m, part, local), at_a) - u * apart;
	return (1 - u) * left + u * right + cal_map_bow(m, u, apart + left + right) + fabs(chord);
}

/* The same as distances from `at`, if the stamp is from that part. */
static struct band certain_in(const struct cal_map *m, size_t part, ltick_t local, gtick_t at)
{
	const struct cal_node *before, *after;
	struct band a = { -INFINITY, INFINITY }, b;
	double off;

	map_neighbours(m, part, local, &before, &after);
	if (!before && !after) {
		return a; /* nothing but checks */
	}
	if (before && after && !m->may_step && ltick_sub(local, before->local) != 0) {
		off = (double)gtick_sub(at_in(m, part, local), at);
		a.high = bound_between(m, part, local, before, after);
		return (struct band){ off - a.high, off + a.high };
	}
	if (before) {
		a = after ? cone(before, local, at, rates(m, part)) : after_last(m, part, before, local, at);
	}
	if (after && (!before || ltick_sub(local, before->local) != 0)) {
		b = cone(after, local, at, rates(m, part));
		a = before ? (struct band){ fmin(a.low, b.low), fmax(a.high, b.high) } : b;
	}
	return a;
}

/* For how many local ticks at most the clock ran between the nodes around a step. One of the two clocks
 * was set, so the other one tells the time that passed. */
static double gap_of(const struct cal_map *m, const struct cal_step *s, double slowest)
{
	double masters = (double)gtick_sub(s->to_global, s->from_global) + s->within_s / m->period_s;

	return fmax(masters / slowest, (double)ltick_sub(s->to, s->from));
}

/* Tests whether the stamp can be from that part. Not if the clock had to be read after the first node of the next part,
 * or before the last of the one before. */
static int part_is_possible(const struct cal_map *m, size_t part, ltick_t local)
{
	double slowest = rates(m, part).low;
	const struct cal_step *before = part > 0 ? &m->step[part - 1] : NULL;
	const struct cal_step *after = part < last_part(m) ? &m->step[part] : NULL;

	return !(before && (double)ltick_sub(before->to, local) > gap_of(m, before, slowest)) &&
		!(after && (double)ltick_sub(local, after->from) > gap_of(m, after, slowest));
}

/* The bound of a stamp put at `at`, which is from one of the parts lo .. hi, most likely from `chosen`. */
static double bound_of_stamp(const struct cal_map *m, size_t lo, size_t hi, size_t chosen, ltick_t local, gtick_t at)
{
	double bound = 0;
	size_t k;

	if (m->nodes == 0) {
		return m->extra_s;
	}
	for (k = lo; k <= hi; k++) {
		if (k == chosen || part_is_possible(m, k, local)) {
			bound = fmax(bound, farthest(certain_in(m, k, local, at)));
		}
	}
	return bound * m->period_s + m->extra_s;
}

double cal_map_session_bound(const struct cal_map *m, ltick_t local)
{
	size_t chosen = choose_part(m, 0, last_part(m), local);

	return bound_of_stamp(m, 0, last_part(m), chosen, local, at_in(m, chosen, local));
}

/* The bound of a stamp for which the reference showed `at`, to within so many of its ticks and one of rounding. Where it
 * really was, the error of the map differs by what two rates within max_drift can make of the distance. */
static double bound_with_pairs(const struct cal_map *m, ltick_t at, double within)
{
	double s_per_tick = cal_map_session_slope(m, at) * m->period_s;

	return cal_map_session_bound(m, at) + (within + 1) * s_per_tick * (1 + 5 * m->max_drift);
}

double cal_map_bound(const struct cal_map *m, ltick_t local)
{
	double within;
	ltick_t at;

	if (m->pairs.n == 0) {
		return cal_map_session_bound(m, local);
	}
	at = cal_pairs_at(&m->pairs, local, NULL, &within, NULL);
	return bound_with_pairs(m, at, within);
}

/* A cone from what the session itself has shown. */
static struct band cone_of_session(const struct cal_node *n, ltick_t local, gtick_t at, struct band r)
{
	struct cal_node alone = *n;

	alone.above = alone.below = 0;
	return cone(&alone, local, at, r);
}

/* With nothing but the nominal rates: from the nearest nodes of the part, used or not. */
static struct band proven_in(const struct cal_map *m, size_t part, ltick_t local, gtick_t at)
{
	struct cal_part p = map_part(m, part);
	struct band r = { m->nominal * (1 - 2 * m->max_drift), m->nominal * (1 + 2 * m->max_drift) }, b, c;
	size_t low = node_after(m, p, local);

	if (low == p.node) {
		return cone_of_session(&m->node[low], local, at, r);
	}
	b = cone_of_session(&m->node[low - 1], local, at, r);
	if (low == p.node + p.nodes) {
		return b;
	}
	c = cone_of_session(&m->node[low], local, at, r);
	if (m->may_step || fmax(b.low, c.low) > fmin(b.high, c.high)) {
		return (struct band){ fmin(b.low, c.low), fmax(b.high, c.high) };
	}
	return (struct band){ fmax(b.low, c.low), fmin(b.high, c.high) };
}

double cal_map_proven(const struct cal_map *m, ltick_t local)
{
	double bound = 0, within = 0;
	ltick_t session = m->pairs.n ? cal_pairs_at(&m->pairs, local, NULL, NULL, &within) : local;
	size_t chosen = choose_part(m, 0, last_part(m), session), k;
	gtick_t at = at_in(m, chosen, session);

	for (k = 0; k <= last_part(m) && m->nodes; k++) {
		if (k == chosen || part_is_possible(m, k, session)) {
			bound = m->nominal > 0 ? fmax(bound, farthest(proven_in(m, k, session, at))) : INFINITY;
		}
	}
	if (m->pairs.n) {
		within = (within + 1) * cal_map_session_slope(m, session) * (1 + 5 * m->max_drift);
	}
	return (bound + within) * m->period_s + m->extra_s;
}

/* ---- stamps in their order ---- */

void cal_walk_begin(struct cal_walk *w, const struct cal_map *m)
{
	*w = (struct cal_walk){ .map = m, .last_part = last_part(m) };
}

/* The first pair that was taken when so many sessions were over. */
static size_t first_pair(const struct cal_pairs *p, int over)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->pair[mid].over < over) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* The stamps that follow are from before session `next` was over (INT_MAX: nothing is known). */
static void taken_before(struct cal_walk *w, int next)
{
	const struct cal_pairs *p = &w->map->pairs;
	size_t k = first_pair(p, next);

	w->place.have_to = k < p->n;
	w->place.to = k < p->n ? p->pair[k].after : ltick(0);
}

/* They are from after session `over` was over. */
static void taken_after(struct cal_walk *w, int over)
{
	const struct cal_pairs *p = &w->map->pairs;
	size_t k = first_pair(p, over);

	if (k > 0 && (!w->place.have_from || ltick_sub(p->pair[k - 1].before, w->place.from) > 0)) {
		w->place.have_from = 1;
		w->place.from = p->pair[k - 1].before;
	}
}

/* Stamps in their order: none is from before the one before it. */
static gtick_t walk_pairs(struct cal_walk *w, ltick_t local, double *bound_s)
{
	double within, proven;
	ltick_t at = cal_pairs_at(&w->map->pairs, local, &w->place, &within, &proven);
	ltick_t from = ltick(ticks_away(at.v, -ceil(fmin(proven, 0x1p60))));

	if (bound_s) {
		*bound_s = bound_with_pairs(w->map, at, within);
	}
	if (!w->place.have_from || ltick_sub(from, w->place.from) > 0) {
		w->place.have_from = 1;
		w->place.from = from;
	}
	return cal_map_session_at(w->map, at);
}

void cal_walk_node(struct cal_walk *w, size_t node)
{
	size_t k = w->part;

	if (w->map->pairs.n) {
		taken_after(w, w->map->node[node].session);
		taken_before(w, node + 1 < w->map->nodes ? w->map->node[node + 1].session : INT_MAX);
		return;
	}
	while (k < last_part(w->map) && w->map->part[k + 1].node <= node) {
		k++;
	}
	w->begun = w->begun && k == w->part; /* else the last stamp was of another part */
	w->part = w->last_part = k;
	w->in_gap = k < last_part(w->map) && node + 1 >= w->map->part[k].node + w->map->part[k].nodes;
	w->last_part += (size_t)w->in_gap;
}

/* Between the last session before a step and the first after it, a clock that has not stepped yet shows at
 * least what it showed at the first, one that has at most what it will show at the second. */
static void narrow_gap(struct cal_walk *w, ltick_t local)
{
	const struct cal_step *s = &w->map->step[w->part];
	int before = ltick_sub(local, s->from) >= 0, after = ltick_sub(local, s->to) <= 0;

	if (after && !before) {
		w->part = w->last_part;
	}
}

gtick_t cal_walk_at(struct cal_walk *w, ltick_t local, double *bound_s)
{
	size_t chosen, last;
	gtick_t at;

	if (w->map->pairs.n) {
		return walk_pairs(w, local, bound_s);
	}
	if (w->begun && ltick_sub(local, w->last) < 0 && w->part < w->last_part) {
		w->part++; /* the clock went back: the step is after this stamp */
	}
	if (w->in_gap && w->part < w->last_part) {
		narrow_gap(w, local);
	}
	last = w->last_part;
	if (w->in_gap && w->part < last && ltick_sub(local, w->map->step[w->part].to) > 0) {
		last = w->part; /* not yet */
	}
	chosen = choose_part(w->map, w->part, last, local);
	at = at_in(w->map, chosen, local);
	if (bound_s) {
		*bound_s = bound_of_stamp(w->map, w->part, last, chosen, local, at);
	}
	w->last = local;
	w->begun = 1;
	return at;
}

/* Has the clock gone back from w->last to `local` by the step that ends the walk's part? Threads that read a counter of several
 * CPUs go back too, by less than can be told from the session. */
static int went_back(const struct cal_walk *w, ltick_t local)
{
	const struct cal_map *m = w->map;
	const struct cal_step *s = &m->step[w->part];
	double back_s = (double)ltick_sub(w->last, local) * rates(m, w->part).high * m->period_s;

	return w->begun && s->size_s < 0 && back_s > fmin(-0.5 * s->size_s, s->within_s) &&
		part_is_possible(m, w->part, w->last) && part_is_possible(m, w->part + 1, local);
}

/* Do the sessions that were over say that a stamp is of the next part, or that it is not? 0: they do not say. */
static int sessions_say(const struct cal_walk *w, size_t part)
{
	const struct cal_map *m = w->map;
	const struct cal_part *p = &m->part[part];
	int before = p->nodes ? m->node[p->node + p->nodes - 1].session : 0,
	    after = p[1].nodes ? m->node[p[1].node].session : 0;

	if (w->over <= 0) {
		return 0;
	}
	return after > 0 && w->over >= after ? 1 : before > 0 && w->over < before ? -1 : 0;
}

gtick_t cal_walk_next(struct cal_walk *w, ltick_t local, double *bound_s)
{
	const struct cal_map *m = w->map;
	size_t last = last_part(m), low, high;
	gtick_t at;

	if (m->pairs.n) {
		if (w->over > 0) {
			/* the stamp may be older than its record, and the count of sessions may be one too high */
			taken_before(w, w->over + 2);
		}
		return walk_pairs(w, local, bound_s);
	}
	while (w->part < last) {
		const struct cal_step *s = &m->step[w->part];
		int say = sessions_say(w, w->part);

		/* a stamp may be older than its record */
		if (say > 0 && part_is_possible(m, w->part + 1, local)) {
			w->part++;
			w->begun = 0;
			continue;
		}
		/* the clock was set back: stays in the part until the step is seen, or until no other part is
		 * possible */
		if (say < 0 || s->size_s < 0 ? !went_back(w, local) && part_is_possible(m, w->part, local)
					     : local.v <= node_middle(s->from, s->to)) {
			break;
		}
		w->part++;
		w->begun = 0;
	}
	at = at_in(m, w->part, local);
	if (bound_s) {
		low = w->part > 0 && sessions_say(w, w->part - 1) <= 0 ? w->part - 1 : w->part;
		high = w->part < last && sessions_say(w, w->part) >= 0 ? w->part + 1 : w->part;
		*bound_s = bound_of_stamp(m, low, high, w->part, local, at);
	}
	w->last = local;
	w->begun = 1;
	return at;
}

int cal_map_line(struct cal_map *m, ltick_t local, gtick_t global, double slope, struct tkm_err *err)
{
	struct cal_piece *p;
	int64_t length = (int64_t)1 << 60;

	if (!(slope > 0) || !isfinite(slope)) {
		return tkm_fail(err, TKM_ERR_DATA, "clock map: a slope of %g cannot be", slope);
	}
	while (length > 1 && (double)length * slope >= 0x1p61) {
		length /= 2;
	}
	p = malloc(sizeof(*p));
	if (!p) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	*p = (struct cal_piece){ local, global, length, llrint((double)length * slope), 0, 0 };
	free(m->piece);
	m->piece = p;
	m->pieces = 1;
	return 0;
}

int cal_map_append(struct cal_map *m, const struct cal_map *more, struct tkm_err *err)
{
	size_t room = m->pieces;

	if (TKM_GROW(m->piece, room, m->pieces + more->pieces) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock map: out of memory");
	}
	memcpy(m->piece + m->pieces, more->piece, more->pieces * sizeof(*m->piece));
	m->pieces += more->pieces;
	return 0;
}

/* Room for one more, so that an empty array is not NULL. */
static void *copy_map_array(const void *p, size_t n, size_t size)
{
	void *to = malloc((n + 1) * size);

	if (to && n) {
		memcpy(to, p, n * size);
	}
	return to;
}

int cal_map_copy(struct cal_map *to, const struct cal_map *from)
{
	*to = *from;
	to->piece = copy_map_array(from->piece, from->pieces, sizeof(*to->piece));
	to->node = copy_map_array(from->node, from->nodes, sizeof(*to->node));
	to->part = copy_map_array(from->part, from->parts, sizeof(*to->part));
	to->step = copy_map_array(from->step, from->steps, sizeof(*to->step));
	to->pairs = (struct cal_pairs){ .n = 0 };
	if (cal_pairs_copy(&to->pairs, &from->pairs) < 0 || !to->piece || !to->node || !to->part || !to->step) {
		cal_map_free(to);
		return -1;
	}
	return 0;
}

void cal_map_free(struct cal_map *m)
{
	free(m->piece);
	free(m->node);
	free(m->part);
	free(m->step);
	cal_pairs_free(&m->pairs);
	memset(m, 0, sizeof(*m));
}

double cal_global_period(double min_period_s)
{
	/* 1/1, 5/10, 2/10, divided by a power of ten that is exact: so 2 / 1e10 is what 0.2 ns reads as, 2e-10 */
	static const struct {
		double n, of;
	} steps[] = { { 1, 1 }, { 5, 10 }, { 2, 10 } };
	double limit = min_period_s / 4, decade = 1e9;
	int i;

	for (;;) {
		for (i = 0; i < 3; i++) {
			if (steps[i].n / (steps[i].of * decade) <= limit * (1 + 1e-12)) {
				return steps[i].n / (steps[i].of * decade);
			}
		}
		decade *= 10;
	}
}
