/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks talk with each other in a synchronisation, and what follows for each of them about the master's
 * clock. A star is exact to one exchange, but its master talks to all, one after another. Above a few ranks each
 * talks with about log2 n others instead, in that many rounds of pairs at the same time: along the edges of a
 * folded hypercube (A. El-Amawy, S. Latifi, Properties and Performance of Folded Hypercubes, IEEE TPDS 2(1),
 * 1991), which has about half the diameter of a hypercube for one round more. What is certain about a rank is
 * the tightest sum of certain intervals over all paths to the master, and loops are checked: doc/calibration.md.
 * Libc only. */
#ifndef CALIB_TOPOLOGY_H
#define CALIB_TOPOLOGY_H

#include <stddef.h>

#include "calib/sample.h"

struct cal_run;

enum cal_shape {
	CAL_SHAPE_AUTO, /* the star as long as it takes few turns */
	CAL_SHAPE_STAR,
	CAL_SHAPE_TREE,
	CAL_SHAPES,
};

/* "auto", "star", "tree" */
const char *cal_shape_name(enum cal_shape shape);

/* One exchange: a has the child's part and keeps the samples, b the master's. */
struct cal_pair {
	int a, b;           /* ranks */
	int round;          /* pairs of one round may talk at the same time */
	int unit_a, unit_b; /* which of its node's processing units each of the two takes */
	int wait_a, wait_b; /* rank of the same node that had this unit before; -1: nobody else */
	int next_a, next_b; /* rank of the same node that has it afterwards; -1: nobody else */
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
 * many ranks share few processing units, so that pairs could not talk at the same time anyway. Returns 0, or -1
 * when memory runs out. Freed by cal_plan_free(). */
int cal_plan_make(struct cal_plan *p, enum cal_shape shape, const int *member, int members, const int *node, const int *units,
	struct tkm_err *err);
void cal_plan_free(struct cal_plan *p);

/* ---- what follows ---- */

/* Known of two unknowns: value of a minus value of b lies in [low, high], likely near middle. */
struct cal_edge {
	int a, b;
	double low, high, middle;
};

enum { CAL_LOOP_RANKS = 40 };

/* A loop of exchanges that contradict each other: at least one clock in it stepped in the session, or was set, or
 * is off by more than is believed possible. */
struct cal_loop {
	int n;                    /* ranks in it */
	int rank[CAL_LOOP_RANKS]; /* the first of them, in order */
	double gap;               /* by so much it does not close, in units of the edges */
};

struct cal_graph {
	int n, root;
	/* of each node; NAN where no path leads to it */
	double *low, *high; /* certain, given the edges */
	double *value;      /* least squares, inside [low, high] */
	int *parent, *depth; /* in the tree of the narrowest edges; -1: root, or not reached */
	int reached, deepest;
	size_t loops;       /* found not to close; the first of them: */
	struct cal_loop loop;
	double rms, worst;  /* residuals of the least squares: edges do not agree better than this */
};

/* Solves the graph for root = 0. Edges of loops that do not close, and all others of the nodes in them, are
 * widened until the loop closes with any one of its clocks wrong. Returns 0 and *g, to be freed with
 * cal_graph_free(), or -1: no memory, or more contradictions than edges. */
int cal_graph_solve(struct cal_graph *g, int n, int root, const struct cal_edge *edge, size_t edges, struct tkm_err *err);
void cal_graph_free(struct cal_graph *g);

/* What a rank knows by itself about the master's clock: in a tree every pair hands it on, from those that know to
 * those that do not yet. The sums along one path, where cal_net_solve() has all of them; but it is there at once. */
struct cal_tie {
	int known;              /* 0: `point` is not */
	int hops;               /* exchanges between this rank and the master */
	double hz;              /* nominal ticks per second of this rank's timer, and of the master's */
	double master_hz;
	double tick;            /* effective tick in ticks of the timer */
	double max_drift;
	double slope, error;    /* master ticks per local tick, and by what share that can be off; error 0 for the
	                         * master, not below 2 max_drift: nothing but the two frequencies is known */
	struct cal_point point; /* the master's clock by this rank's */
};

/* Before the first session: nothing is known. r's timer has hz, effective_tick_s (NAN: one tick). For the master
 * itself master is 1. */
void cal_tie_begin(struct cal_tie *t, int master, double hz, double master_hz, double effective_tick_s, double max_drift);

/* Before each further session: the point is forgotten, and what is known of the rate stays. */
void cal_tie_renew(struct cal_tie *t);

/* An exchange s with a rank whose tie is `of`: *t becomes known, or known better, if that is narrower. */
void cal_tie_extend(struct cal_tie *t, const struct cal_tie *of, const struct cal_session *s);

/* What the trees of a run looked like, the worst of all its sessions. */
struct cal_net {
	size_t sessions;          /* that were trees; 0: the rest is void */
	size_t edges;
	int deepest;              /* exchanges between a rank and the master */
	double rms_s, worst_s;    /* how well the edges agree: residuals of the least squares */
	size_t loops;             /* that did not close */
	size_t loop_session;      /* of the first of them, with its ranks */
	struct cal_loop loop;
	double gap_s;
};

/* Fills in the given points of all sessions of a run that was synchronised in a tree (struct cal_rank's edges):
 * first with what is believed of the clocks' rates, then with what the sessions themselves say about them. Does
 * nothing for a run without edges. run->net says what was found. Returns 0 or -1. */
int cal_net_solve(struct cal_run *run, struct tkm_err *err);

#endif
