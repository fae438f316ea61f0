/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound of a clock map as a few stretches of time with one bound each, for programs that write it to a file. */
#ifndef CALIB_MAP_STRETCH_H
#define CALIB_MAP_STRETCH_H

#include "calib/map/map.h"

struct cal_stretch {
	ltick_t from;   /* up to the next one's, or the end */
	double bound_s; /* cal_map_bound() is at most this in it */
};

enum { CAL_STRETCHES = 16 };

/* Divides from ... to (local ticks) into at most CAL_STRETCHES; returns their number. Neighbours with nearly the same bound are one. A
 * map in several parts is one stretch with the bound NAN, and so is one whose bound is infinite. */
size_t cal_map_stretches(const struct cal_map *m, ltick_t from, ltick_t to, struct cal_stretch *out);

/* All stamps, in no order, at which the map or its bound can have a corner. The stamps are of another clock, which `from` puts to local
 * ticks; from->n 0: they are local ticks. The caller frees *at. Returns 0 or -1: no memory. */
int cal_map_bends(const struct cal_map *m, const struct cal_pairs *from, int64_t **at, size_t *n);

#endif
