/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock map of one process: local ticks to global ticks, and how far off that can be. Own code on
 * libc alone, because it also runs inside other people's programs. */
#ifndef CALIB_MAP_H
#define CALIB_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ticks.h"

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
	gtick_t global;   /* condensed measurement */
	gtick_t low, high;
	int used;         /* 0: a check, the map does not know of it */
};

struct cal_map {
	size_t pieces;
	struct cal_piece *piece;  /* ascending, without gaps */
	size_t nodes;
	struct cal_node *node;    /* ascending */
	double period_s;          /* seconds per global tick */
	double max_drift;         /* assumed: no clock is off its nominal rate by more */
	double extra_s;           /* the map is that of another process, whose clock is the same to within this */
	double max_wander;        /* assumed: the rate against the master's stays within +- this of a constant */
};

/* Global time of a local stamp. Before the first and after the last piece the map goes on with the
 * slope that it has there. Strictly increasing as long as a local tick is at least 4 global ones. */
gtick_t cal_map_at(const struct cal_map *m, ltick_t local);

/* The largest error that cal_map_at() can have against the master's clock at that stamp, in seconds,
 * given max_drift and max_wander. extra_s alone for a map without nodes (the master's own, or a clock
 * that is shared with it). doc/calibration.md derives it. */
double cal_map_bound(const struct cal_map *m, ltick_t local);

/* Global ticks per local tick at that stamp. */
double cal_map_slope(const struct cal_map *m, ltick_t local);

/* A straight map through (local, global) with `slope` global ticks per local tick: one piece as long
 * as 64 bits carry. Returns 0, or -1: slope not positive, no memory. */
int cal_map_line(struct cal_map *m, ltick_t local, gtick_t global, double slope, struct tkm_err *err);

/* A change between two neighbouring nodes that no believable rate explains: a clock was set, or stood. */
struct cal_step {
	ltick_t from, to; /* it happened in between */
	double size_s;    /* positive: the master's clock jumped ahead of this one */
};

/* Looks at the certain intervals of all nodes, used or not: with `rate` the median rate of the pairs of
 * neighbours, a pair whose intervals cannot be joined at rate +- 2 max_wander holds a step. Writes up to
 * `room` of them, in order, and returns how many there are. Needs 4 nodes, else there is nothing to compare
 * with and 0 is returned; -1 when memory runs out. */
int cal_map_steps(const struct cal_map *m, struct cal_step *step, int room);

enum cal_spline {
	CAL_SPLINE_CONSTRAINED, /* C. J. C. Kruger, Constrained Cubic Spline Interpolation for Chemical
	                         * Engineering Applications: interior slope 0 where the neighbouring secants
	                         * differ in sign, else 2 / (1/s_left + 1/s_right); ends 1.5 s - 0.5 d */
	CAL_SPLINE_STEFFEN,     /* M. Steffen, A simple method for monotonic interpolation in one dimension,
	                         * A&A 239 (1990) */
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
 * to rounding (seeds/003 section 3.6). */
double cal_global_period(double min_period_s);

#endif
