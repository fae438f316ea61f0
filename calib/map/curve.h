/* SPDX-License-Identifier: BSD-3-Clause */
/* The curve of a clock map through its nodes. */
#ifndef CALIB_CURVE_H
#define CALIB_CURVE_H

#include "calib/map/map.h"

/* Gives every part of a map (cal_map_split) its pieces: one node, a line with the most likely rate of the run;
 * two, or with `straight` any number, a straight line (least squares through more); else a spline. Nodes
 * that are too close together for their scatter are left out of it, but no used node's certain interval
 * is left by the curve, and a cubic keeps to what max_wander allows between the nodes, bent less if need be.
 * nominal: global per local tick. Returns 0 or -1. */
int cal_curve(struct cal_map *m, int straight, enum cal_spline kind, double nominal, struct tkm_err *err);

#endif
