/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path, in one pass. The chains of all threads are a tree: a node counts who holds it, the nodes after it among them. A
 * node that only one node follows is added to it. So there are fewer than twice as many nodes as ends of chains, and of those nodes
 * that became alone meanwhile. */
#include "config.h"
#include "stf/replay/path.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_NODES = 4096, LEAST_ROOM = 4, MOST_SPARE_ROOM = 64 };

struct stf_path_node {
	struct stf_path_node *before, *next, *previous; /* before: on the path; the others: in the list */
	size_t holds;
	struct stf_path_share *share; /* a hash table; ticks 0: not in use */
	size_t n, room;               /* room: a power of two, or 0 */
};

/* ---- shares of one node ---- */

static size_t place_of_share(const struct stf_path_node *node, const struct stf_path_share *s)
{
	uint64_t h = ((uint64_t)s->function << 32 | s->willy) * UINT64_C(0x9e3779b97f4a7c15) + s->scl;
	size_t i = (size_t)(h >> 32 ^ h) & (node->room - 1);

	while (node->share[i].ticks &&
		(node->share[i].function != s->function || node->share[i].willy != s->willy ||
			node->share[i].scl != s->scl)) {
		i = (i + 1) & (node->room - 1);
	}
	return i;
}

static int grow_path_node(struct stf_path_node *node)
{
	struct stf_path_node old = *node;
	size_t i;

	node->room = old.room ? 2 * old.room : LEAST_ROOM;
	node->share = calloc(node->room, sizeof(*node->share));
	if (!node->share) {
		node->room = old.room;
		node->share = old.share;
		return -1;
	}
	for (i = 0; i < old.room; i++) {
		if (old.share[i].ticks) {
			node->share[place_of_share(node, &old.share[i])] = old.share[i];
		}
	}
	free(old.share);
	return 0;
}

int stf_path_spend(struct stf_path_node *last, const struct stf_path_share *s)
{
	size_t i;

	if (!s->ticks) {
		return 0;
	}
	if (4 * (last->n + 1) > 3 * last->room && grow_path_node(last) < 0) {
		return -1;
	}
	i = place_of_share(last, s);
	if (last->share[i].ticks) {
		last->share[i].ticks += s->ticks;
	} else {
		last->share[i] = *s;
		last->n++;
	}
	return 0;
}

static int add_path_shares(struct stf_path_node *to, const struct stf_path_node *from)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < from->room && rc == 0; i++) {
		rc = stf_path_spend(to, &from->share[i]);
	}
	return rc;
}

static void clear_path_shares(struct stf_path_node *node)
{
	if (node->room > MOST_SPARE_ROOM) {
		free(node->share);
		node->share = NULL;
		node->room = 0;
	} else if (node->n) {
		memset(node->share, 0, node->room * sizeof(*node->share));
	}
	node->n = 0;
}

/* ---- the tree ---- */

static struct stf_path_node *take_path_node(struct stf_paths *p, struct stf_path_node *before)
{
	struct stf_path_node *node = p->spare;

	if (node) {
		p->spare = node->next;
	} else {
		node = calloc(1, sizeof(*node));
	}
	if (!node) {
		return NULL;
	}
	node->before = before;
	node->holds = 1;
	node->previous = NULL;
	node->next = p->first;
	if (p->first) {
		p->first->previous = node;
	}
	p->first = node;
	p->n++;
	return node;
}

static void return_path_node(struct stf_paths *p, struct stf_path_node *node)
{
	*(node->previous ? &node->previous->next : &p->first) = node->next;
	if (node->next) {
		node->next->previous = node->previous;
	}
	clear_path_shares(node);
	node->next = p->spare;
	p->spare = node;
	p->n--;
}

struct stf_path_node *stf_path_begin(struct stf_paths *p)
{
	return take_path_node(p, NULL);
}

void stf_path_drop(struct stf_paths *p, struct stf_path_node *node)
{
	while (node && !--node->holds) {
		struct stf_path_node *before = node->before;

		return_path_node(p, node);
		node = before;
	}
}

int stf_path_contract(struct stf_paths *p, struct stf_path_node *last)
{
	struct stf_path_node *before;

	while ((before = last->before) && before->holds == 1) {
		if (before->n > last->n) {
			struct stf_path_share *share = last->share;
			size_t n = last->n, room = last->room;

			last->share = before->share;
			last->n = before->n;
			last->room = before->room;
			before->share = share;
			before->n = n;
			before->room = room;
		}
		if (add_path_shares(last, before) < 0) {
			return -1;
		}
		last->before = before->before;
		return_path_node(p, before);
	}
	return 0;
}

/* Adds nodes together once there are twice as many as after the last time. */
static int contract_all_paths(struct stf_paths *p)
{
	struct stf_path_node *node;
	int rc = 0;

	if (p->n < p->contract_at || p->n < FEW_NODES) {
		return 0;
	}
	/* a node that is added to the one after it leaves the list; that one does not */
	for (node = p->first; node && rc == 0; node = node->next) {
		rc = stf_path_contract(p, node);
	}
	p->contract_at = 2 * p->n;
	return rc;
}

struct stf_path_node *stf_path_branch(struct stf_paths *p, struct stf_path_node **last)
{
	struct stf_path_node *node = *last;

	if (!node->n && node->before) { /* nothing was spent since it was branched off */
		node->before->holds++;
		return node->before;
	}
	if (contract_all_paths(p) < 0 || !(*last = take_path_node(p, node))) {
		*last = node;
		return NULL;
	}
	node->holds++; /* of the caller, beside that of the new end */
	return node;
}

int stf_path_follow(struct stf_paths *p, struct stf_path_node **last, const struct stf_path_point *at)
{
	struct stf_path_node *new = take_path_node(p, at->node);

	if (!new) {
		return -1;
	}
	at->node->holds++;
	stf_path_drop(p, *last);
	*last = new;
	return stf_path_spend(new, &at->rest);
}

int stf_path_replace(struct stf_paths *p, struct stf_path_node *node, const struct stf_path_point *at)
{
	struct stf_path_node *before = node->before;

	at->node->holds++;
	node->before = at->node;
	clear_path_shares(node);
	stf_path_drop(p, before);
	return stf_path_spend(node, &at->rest);
}

void stf_paths_free(struct stf_paths *p)
{
	struct stf_path_node *node;

	while ((node = p->first ? p->first : p->spare)) {
		*(p->first ? &p->first : &p->spare) = node->next;
		free(node->share);
		free(node);
	}
}

/* ---- the result ---- */

static int compare_path_shares(const void *a, const void *b)
{
	const struct stf_path_share *x = a, *y = b;

	if (x->ticks != y->ticks) {
		return x->ticks < y->ticks ? 1 : -1;
	}
	if (x->willy != y->willy) {
		return x->willy < y->willy ? -1 : 1;
	}
	return x->function != y->function ? (x->function > y->function) - (x->function < y->function)
					  : (x->scl > y->scl) - (x->scl < y->scl);
}

struct stf_path_share *stf_path_shares(const struct stf_path_node *last, size_t *n)
{
	struct stf_path_node all = { 0 };
	size_t i;
	int rc = 0;

	for (; last && rc == 0; last = last->before) {
		rc = add_path_shares(&all, last);
	}
	if (rc < 0 || (!all.room && grow_path_node(&all) < 0)) {
		free(all.share);
		return NULL;
	}
	for (i = *n = 0; i < all.room; i++) {
		if (all.share[i].ticks) {
			all.share[(*n)++] = all.share[i];
		}
	}
	qsort(all.share, *n, sizeof(*all.share), compare_path_shares);
	return all.share;
}
