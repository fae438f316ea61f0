/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts a clock's rate after the last session from its rate so far: map->learned_*. doc/calibration.md, "Learned
 * drift". libc only. */
#ifndef CALIB_LEARN_H
#define CALIB_LEARN_H

#include "calib/map/map.h"

/* Fewer nodes teach nothing. */
enum { CAL_LEARN_NODES = 8 };

/* From the newest nodes of m, whose clock has hz ticks a second. Nothing is learned where a clock stepped or can step, from few
 * nodes, and where the assumed wander is less. */
void cal_learn(struct cal_map *m, double hz);

/* The same for the map of a run that is over, where each node must confirm what the ones before it say: after one that does not,
 * nothing is learned. */
void cal_learn_tested(struct cal_map *m, double hz);

/* What an earlier run found of the rate, global ticks per local tick, where this one has not learned anything yet: it counts for
 * an hour after the newest node. */
void cal_learn_earlier(struct cal_map *m, double low, double high, double hz);

/* Tests whether a new node is outside of what was learned. */
int cal_learn_refuted(const struct cal_map *m, const struct cal_node *n);

#endif
