/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path, in one pass: for each thread the chain of times, on this and other threads, that its last event had to wait
 * for. What is common to all chains is added up, so the memory depends on the number of threads and functions, and not on the
 * length of the trace. */
#ifndef STF_REPLAY_PATH_H
#define STF_REPLAY_PATH_H

#include <stddef.h>

#include "include/analysis.h"

/* Time that was spent on the path, after that of the node before it. A node with a node after it does not change. */
struct stf_path_node;

struct stf_paths {
	struct stf_path_node *first, *spare; /* all that are in use, and some that are not */
	size_t n, contract_at;               /* nodes in use, and how many may be */
};

/* Where the chain of a thread was at some time: after a node, and this much later. */
struct stf_path_point {
	struct stf_path_node *node;
	struct stf_path_share rest;
};

/* A chain without any time. NULL: no memory. The caller owns a hold. */
struct stf_path_node *stf_path_begin(struct stf_paths *p);
/* Adds time to the end of a chain. Returns 0 or -1: no memory. */
int stf_path_spend(struct stf_path_node *last, const struct stf_path_share *s);
/* Returns the chain as it is now, with a hold of the caller; *last is its end from now on. NULL: no memory. */
struct stf_path_node *stf_path_branch(struct stf_paths *p, struct stf_path_node **last);
/* *last goes on after that point, which keeps its hold. Returns 0 or -1: no memory. */
int stf_path_follow(struct stf_paths *p, struct stf_path_node **last, const struct stf_path_point *at);
/* The node, which others follow, is now one after that point. */
int stf_path_replace(struct stf_paths *p, struct stf_path_node *node, const struct stf_path_point *at);
void stf_path_drop(struct stf_paths *p, struct stf_path_node *node);
/* Adds the nodes together that only this chain has. */
int stf_path_contract(struct stf_paths *p, struct stf_path_node *last);
/* All time of a chain, the largest share first. NULL: no memory. The caller frees it. */
struct stf_path_share *stf_path_shares(const struct stf_path_node *last, size_t *n);
void stf_paths_free(struct stf_paths *p);

#endif
