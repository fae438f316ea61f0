/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock map of one process: local ticks to global ticks, and how far off the result can be. This code needs only
 * libc, because it also runs inside users' programs. */
#ifndef CALIB_MAP_H
#define CALIB_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/pairs.h"

/* From local tick `local` on, for `length` ticks, the global time rises from `global` by `rise`, on a
 * straight line plus a cubic that is 0 at both ends:
 *   G = global + rise * l / length + length * u (1-u) ((1-u) bend_begin - u bend_end),  u = l / length
 * where l is the distance from `local`. bend_* are the slopes at the ends minus the straight slope, in
 * global per local tick. The straight part is computed in integers, so that it is exact at any
 * distance; the cubic is small, so that a double carries it. */
struct cal_piece {
	ltick_t local;
	gtick_t global;
	int64_t length, rise; /* > 0 */
	double bend_begin, bend_end;
};

/* A session as the map sees it: at local tick `local` the master's clock (in global ticks) was certain
 * to lie from low to high, and the map says something in between or near. */
struct cal_node {
	ltick_t local;
	gtick_t global; /* condensed measurement */
	gtick_t low, high;
	int used;     /* 0: a check, which the map does not use */
	int session;  /* 1 + the index of the session, 0: not known; two nodes of one: a clock stepped during it */
	double sigma; /* likely error of `global`, in global ticks; 0: not known. Not in the .clk file */
	/* What the other nodes prove beyond that, from cal_map_narrow(): not below low + above, nor above high - below. Not in the
	 * .clk file, from which it follows. */
	int64_t above, below;
};

static inline gtick_t cal_node_low(const struct cal_node *n)
{
	return gtick_add(n->low, n->above);
}

static inline gtick_t cal_node_high(const struct cal_node *n)
{
	return gtick_add(n->high, -n->below);
}

/* A stretch of the run without a step: its first node and piece in the map, and how many it has. */
struct cal_part {
	size_t node, nodes, piece, pieces;
};

/* A change between two neighbouring nodes that no possible drift explains: a clock was set, or stood still. */
struct cal_step {
	ltick_t from, to;               /* it happened in between; `to` may be the smaller: a clock went back */
	gtick_t from_global, to_global; /* the same on the corrected axis */
	double size_s;                  /* positive: this clock jumped ahead of the master's */
	double within_s;                /* and it is certainly within size_s +- within_s, given max_wander */
	int certain; /* 0: max_wander would allow it, but it stands out from the run, and size_s is what its
	                   * neighbours say (doc/calibration.md) */
};

struct cal_map {
	size_t pieces;
	struct cal_piece *piece; /* ascending and without gaps within a part */
	size_t nodes;
	struct cal_node *node; /* in the order of the run; ascending within a part */
	size_t parts;
	struct cal_part *part; /* in the order of the run; 0 parts: all is one */
	size_t steps;
	struct cal_step *step;      /* step[k] lies between part[k] and part[k + 1] */
	double period_s;            /* seconds per global tick */
	double max_drift;           /* assumed: no clock is off its nominal rate by more */
	double extra_s;             /* the map is that of another process, whose clock is the same to within this */
	double max_wander;          /* assumed: the rate against the master's stays within +- this of a constant;
	                           * larger than what was assumed when the nodes say so (cal_map_split) */
	double rate_low, rate_high; /* certain: global ticks per local tick, at any instant; 0: not known */
	/* The rate that the run itself has shown, with a margin (calib/map/online.h). It is an estimate, which the next
	 * session tests. It is valid for learned_for local ticks after the last node; then the assumed rates count. 0:
	 * nothing was learned. */
	double learned_low, learned_high, learned_wander;
	int64_t learned_for;
	double nominal; /* global ticks per local tick as the two frequencies say; 0: not known */
	int may_step;   /* somebody may set one of the two clocks: between any two nodes the bound allows
	                           * for one step */
	struct cal_pairs
		pairs; /* of a steered clock: nodes, pieces and steps are then those of the free clock beside it, the
	                           * reference, and `local` of the calls below is put through the pairs first. n = 0: none */
};

/* Global time of a local stamp. Before the first and after the last piece the map goes on with the
 * slope that it has there. Within a part strictly increasing as long as a local tick is at least 4 global
 * ones. Where the map is split, a stamp from between the two nodes around the step belongs to the nearer
 * one; the bound says that it may be the other. */
gtick_t cal_map_at(const struct cal_map *m, ltick_t local);

/* A stretch on which the map is a straight line, for code that looks up many stamps near each other. */
struct cal_span {
	int64_t from, to; /* local ticks, both included; to < from: none, cal_map_at() has to be asked */
	int64_t global;   /* at `from` */
	uint64_t rise, length, half;
	uint64_t whole, part; /* of rise / length: the integer, and the rest in units of 2^-64, cut */
	uint64_t half_part;   /* half / length in these units, too small by one at most */
};

/* The stretch that `local` is on. */
void cal_map_span(const struct cal_map *m, ltick_t local, struct cal_span *s);

/* The same as cal_span_after() for a quotient q that may be too small by one: the remainder decides. */
static inline int64_t cal_span_exactly(const struct cal_span *s, uint64_t l, uint64_t q)
{
	uint64_t rest = l * s->rise + s->half - q * s->length;

	return s->global + (int64_t)(q + (rest >= s->length));
}

/* Exactly what cal_map_at() says l ticks after s->from, up to s->to. `part` and `half_part` are cut, so the sum is too small by at most l + 1
 * units of 2^-64: the integer is right unless so many more would carry into it. */
static inline int64_t cal_span_after(const struct cal_span *s, uint64_t l)
{
	unsigned __int128 sum = (unsigned __int128)l * s->part + s->half_part;
	uint64_t q = l * s->whole + (uint64_t)(sum >> 64);

	return __builtin_expect((uint64_t)sum > UINT64_MAX - l - 1, 0) ? cal_span_exactly(s, l, q)
								       : s->global + (int64_t)q;
}

static inline int64_t cal_span_at(const struct cal_span *s, int64_t local)
{
	return cal_span_after(s, (uint64_t)local - (uint64_t)s->from);
}

/* The largest error that cal_map_at() can have against the master's clock at that stamp, in seconds,
 * given max_drift and max_wander, and whichever part the stamp is from. extra_s alone for a map without
 * nodes (the master's own, or a clock that is shared with it). doc/calibration.md derives it. */
double cal_map_bound(const struct cal_map *m, ltick_t local);

/* By how much a clock that rises by `apart` between two instants leaves the straight line there at most, after the part u of the local
 * time: doc/calibration-proofs.md. In global ticks, as `apart` is. */
static inline double cal_map_bow(const struct cal_map *m, double u, double apart)
{
	double w = m->max_wander < 1 ? m->max_wander : 1, near = u < 0.5 ? u : 1 - u;

	return near > 0 ? 2 * m->max_wander * near * (1 - near) * apart / (1 - w + 2 * w * near) : 0;
}

/* The bound that messages alone prove: the same without any assumption about wander, with max_drift as the only limit
 * of the two rates, and of a steered clock with the kernel's own limit. Never less than cal_map_bound() where its
 * assumptions hold and nothing was learned. INFINITY: the nominal rates are not known. */
double cal_map_proven(const struct cal_map *m, ltick_t local);

/* The stamps of one thread in the order in which they were taken. A clock that was set back shows the same
 * stamps twice; the order, and the sessions in between, tell which is which. */
struct cal_walk {
	const struct cal_map *map;
	size_t part, last_part; /* the next stamp is from one of these */
	ltick_t last;
	int begun, in_gap;
	int over; /* for cal_walk_next(): so many sessions were over when the stamp was recorded; 0: not known */
	struct cal_stamp_place place; /* of a map with pairs: when the next stamp can have been taken */
};

void cal_walk_begin(struct cal_walk *w, const struct cal_map *m);

/* The stamps that follow were taken after the session of that node, and before that of the next; none in a
 * session. Nodes come in ascending order. */
void cal_walk_node(struct cal_walk *w, size_t node);

/* Global time and bound of the next stamp; bound_s may be NULL. */
gtick_t cal_walk_at(struct cal_walk *w, ltick_t local, double *bound_s);

/* Global time and bound of the next stamp, where the sessions between the stamps are unknown.
 * - A clock that was set back: the step is where the stamps go back, unless there is no stamp for that long.
 * - A clock that was set ahead: the step is where the map's nodes leave no other place, else in the middle.
 * - Between two nodes around a step the bound allows for both sides.
 * With w->over set for each stamp, and nodes that know their sessions, a stamp stays on its side of each session. */
gtick_t cal_walk_next(struct cal_walk *w, ltick_t local, double *bound_s);

/* The same for what the sessions measure: of a map with pairs the free clock beside this one, else as cal_map_at() and
 * cal_map_bound(). `local` of nodes, pieces and steps is such a stamp. */
gtick_t cal_map_session_at(const struct cal_map *m, ltick_t local);
double cal_map_session_bound(const struct cal_map *m, ltick_t local);
double cal_map_session_slope(const struct cal_map *m, ltick_t local);

/* Global ticks per local tick at that stamp. */
double cal_map_slope(const struct cal_map *m, ltick_t local);

/* A straight map through (local, global) with `slope` global ticks per local tick: one piece as long
 * as 64 bits carry. Returns 0, or -1: slope not positive, no memory. */
int cal_map_line(struct cal_map *m, ltick_t local, gtick_t global, double slope, struct tkm_err *err);

/* Looks at the nodes, used or not, for steps; splits the map there (nodes next to a step become used), and
 * finds rate_low and rate_high, and max_wander if it must be larger for the nodes to fit together. nominal:
 * global ticks per local tick as the two frequencies say; 0: not known. Fills in part[].node and .nodes, not
 * the pieces. In calib/map/steps.c. Returns 0, or -1 when memory runs out. */
int cal_map_split(struct cal_map *m, double nominal, struct tkm_err *err);

/* Finds for each used node what the other used nodes of its part prove of it, given max_wander and the certain rate. Nothing of a
 * clock that may step, nor where the nodes contradict each other. In calib/map/narrow.c. */
void cal_map_narrow(struct cal_map *m);

/* Call it after each appended node. Two nodes on one tick of a coarse clock look like a stopped clock. If they do not contradict each
 * other, it keeps the used one, else the earlier. Of a clock that may be set, the node that stays covers both intervals. slope:
 * global per local tick. In calib/map/steps.c. */
void cal_map_leave_out_same_tick(struct cal_map *m, double slope);

/* Appends the pieces of another map, which keeps its own. Returns 0, or -1 when memory runs out. */
int cal_map_append(struct cal_map *m, const struct cal_map *more, struct tkm_err *err);

enum cal_spline {
	CAL_SPLINE_CONSTRAINED, /* C. J. C. Kruger, Constrained Cubic Spline Interpolation for Chemical
	                         * Engineering Applications: interior slope 0 where the neighbouring secants
	                         * differ in sign, else 2 / (1/s_left + 1/s_right); ends 1.5 s - 0.5 d. Never goes back */
	CAL_SPLINE_CUBIC,       /* twice continuously differentiable, not-a-knot at both ends: C. de Boor, A
	                         * Practical Guide to Splines; 3 points give the parabola */
};

/* A spline through n >= 2 points (local and global strictly ascending). Returns 0, or -1: not ascending,
 * no memory; or a cubic that would let time go back between two points. */
int cal_map_spline(struct cal_map *m, enum cal_spline kind, const ltick_t *local, const gtick_t *global, size_t n,
	struct tkm_err *err);

/* Deep copy of everything. Returns 0 or -1 when memory runs out (*to is then empty). */
int cal_map_copy(struct cal_map *to, const struct cal_map *from);
void cal_map_free(struct cal_map *m);

/* The global period for clocks of which the finest has min_period_s: the largest 1, 2 or 5 times a
 * power of ten that is at most 1 ns and a quarter of it, so that offsets and corrections are not lost
 * to rounding (Intel Trace Collector guide, section 3.6). */
double cal_global_period(double min_period_s);

#endif
