/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes certain intervals of n unknowns from certain intervals of differences of pairs: the tightest sum of certain
 * intervals over all paths to the root, and loops are checked. doc/calibration.md, "Trees". Libc only. */
#ifndef CALIB_GRAPH_H
#define CALIB_GRAPH_H

#include <stddef.h>

#include "calib/map/run.h"

/* Known of two unknowns: value of a minus value of b lies in [low, high], likely near middle. */
struct cal_edge {
	int a, b;
	double low, high, middle;
};

struct cal_graph {
	int n, root;
	/* of each node; NAN where no path leads to it */
	double *low, *high;  /* certain, given the edges */
	double *value;       /* least squares, inside [low, high] */
	int *parent, *depth; /* in the tree of the narrowest edges; -1: root, or not reached */
	int reached, deepest;
	size_t loops; /* found not to close; the first of them: */
	struct cal_loop loop;
	double rms, worst; /* residuals of the least squares: edges do not agree better than this */
};

/* Solves the graph for root = 0. Edges of loops that do not close, and all others of the nodes in them, are
 * widened until the loop closes with any one of its clocks wrong. Returns 0 and *g, to be freed with
 * cal_graph_free(), or -1: no memory, or more contradictions than edges. */
int cal_graph_solve(
	struct cal_graph *g, int n, int root, const struct cal_edge *edge, size_t edges, struct tkm_err *err);
void cal_graph_free(struct cal_graph *g);

#endif
