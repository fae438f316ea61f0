/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the scatter from points on a curve. Points that are close together compared with their scatter are smoothed;
 * points that are far apart are hardly changed. libc only. */
#ifndef CALIB_SMOOTH_H
#define CALIB_SMOOTH_H

#include <stddef.h>

struct cal_smooth_point {
	double x, y, sigma; /* x ascending; sigma > 0: how far y is likely to be off */
};

/* value[i] is the likeliest value of the curve at p[i].x, if its slope, near 0, walks at random, by at most about `most` from one point
 * to the next; by how much, is found in the points. Returns 0, or -1: no memory. */
int cal_smooth(const struct cal_smooth_point *p, size_t n, double most, double *value);

/* What to expect of the mean slope from the last point on, over up to `ahead_x`: *slope, and how far it can be off by what the points show,
 * with a margin. Returns 0, or -1: fewer than three points, no memory. */
int cal_foresee(const struct cal_smooth_point *p, size_t n, double most, double ahead_x, double *slope, double *within);

#endif
