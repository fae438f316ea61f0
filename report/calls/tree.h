/* SPDX-License-Identifier: BSD-3-Clause */
/* Who calls whom: the tree of calls of all threads together, and the places
 * that call. */
#ifndef REPORT_CALLS_TREE_H
#define REPORT_CALLS_TREE_H

#include "base/table.h"
#include "report/data/trace.h"

enum { VTR_NODES = 20000, VTR_TREE_DEPTH = 100 };

struct vtr_node {
	uint32_t parent, function; /* number of the node, id of the function; node 0
                                is above all */
	uint32_t depth;
	uint64_t calls;
	double inclusive, children; /* time-stamp units */
};

/* A place that calls a function. */
struct vtr_site {
	uint32_t function, caller, scl; /* ids; 0: none */
	uint64_t calls;
	double inclusive, longest; /* time-stamp units */
	uint32_t willy;            /* of the longest call */
	uint64_t at;               /* and its begin */
};

struct vtr_tree_frame {
	uint32_t node;
	uint64_t enter;
	struct vtr_site *site;
};

struct vtr_tree_stack {
	struct vtr_tree_frame *frame;
	size_t depth, room;
	uint64_t last;
};

struct vtr_tree {
	const struct vtr_trace *t;
	struct vtr_node *node;
	size_t n, room;
	struct tkm_table by_call, sites, stacks;
	uint64_t left_out; /* calls too deep, or beyond the nodes */
};

/* Returns 0 or -1: no memory. */
int vtr_tree_begin(struct vtr_tree *tree, const struct vtr_trace *t);
/* Takes a record of a call. Returns 0 or -1: no memory. */
int vtr_tree_add(struct vtr_tree *tree, const struct stf_record *r);
/* Ends open calls with the last record of their thread. */
void vtr_tree_end(struct vtr_tree *tree);
void vtr_tree_free(struct vtr_tree *tree);

/* The numbers of the nodes as one reads a tree: each after its caller, those
 * with the most time first. The caller frees it; NULL: no memory. */
uint32_t *vtr_tree_order(const struct vtr_tree *tree);
/* All sites, the most time first; *n of them. The caller frees the array. */
const struct vtr_site **vtr_tree_sites(const struct vtr_tree *tree, size_t *n);

#endif
