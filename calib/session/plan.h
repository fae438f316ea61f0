/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks exchange messages in a session. In a star each rank is one exchange away from the master, but the master
 * exchanges messages with all ranks, one after another. Above a few ranks each exchanges messages with about log2 n
 * others instead, in that many rounds of pairs at the same time: along the edges of a folded hypercube (A. El-Amawy, S.
 * Latifi, Properties and Performance of Folded Hypercubes, IEEE TPDS 2(1), 1991), which has about half the diameter of
 * a hypercube for one round more. What follows for each of them is in calib/tree/. Libc only. */
#ifndef CALIB_PLAN_H
#define CALIB_PLAN_H

#include <stddef.h>

#include "base/err.h"

enum cal_shape {
	CAL_SHAPE_AUTO, /* a star if it takes few turns, else a tree */
	CAL_SHAPE_STAR,
	CAL_SHAPE_TREE,
	CAL_SHAPES,
};

/* "auto", "star", "tree" */
const char *cal_shape_name(enum cal_shape shape);

/* One exchange: a has the child's part and keeps the samples, b the master's. */
struct cal_pair {
	int a, b;           /* ranks */
	int round;          /* pairs of one round may exchange at the same time */
	int unit_a, unit_b; /* which of its node's processing units each of the two takes */
	int wait_a, wait_b; /* rank of the same node that had this unit before; -1: none */
	int next_a, next_b; /* rank of the same node that has it afterwards; -1: none */
};

struct cal_plan {
	enum cal_shape shape;
	int rounds;
	size_t pairs;
	struct cal_pair *pair; /* in the order in which every rank works them off */
};

/* The plan for the ranks member[0 .. members - 1], the master first; every process makes the same one out of the
 * same arguments. node[r] is the node of rank r, by any number, and units[r] how many processing units that node
 * has; both NULL: every rank has a node to itself. CAL_SHAPE_AUTO takes the star for up to 8 children, and where
 * many ranks share few processing units, so that pairs could not exchange at the same time anyway. Returns 0, or -1
 * when memory runs out. Freed by cal_plan_free(). */
int cal_plan_make(struct cal_plan *p, enum cal_shape shape, const int *member, int members, const int *node,
	const int *units, struct tkm_err *err);
void cal_plan_free(struct cal_plan *p);

#endif
