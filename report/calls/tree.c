/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up calls by their callers. */
#include "report/calls/tree.h"
#include "config.h"

#include <stdlib.h>

#include "base/grow.h"

int vtr_tree_begin(struct vtr_tree *tree, const struct vtr_trace *t)
{
	*tree = (struct vtr_tree){ .t = t };
	if (TKM_GROW(tree->node, tree->room, 1) < 0) {
		return -1;
	}
	tree->node[tree->n++] = (struct vtr_node){ .depth = 0 };
	return 0;
}

void vtr_tree_free(struct vtr_tree *tree)
{
	struct vtr_tree_stack *s = NULL;

	while ((s = tkm_table_next(&tree->stacks, s))) {
		free(s->frame);
	}
	tkm_table_free(&tree->stacks);
	tkm_table_free(&tree->by_call);
	tkm_table_free(&tree->sites);
	free(tree->node);
}

/* The node of a function that is called in `parent`; 0: there is no room for
 * it. */
static uint32_t find_node(struct vtr_tree *tree, uint32_t parent, uint32_t function)
{
	const uint32_t key[2] = { parent, function };
	uint32_t *number = tkm_table_find(&tree->by_call, key, sizeof(key));

	if (number) {
		return *number;
	}
	if (tree->n >= VTR_NODES || TKM_GROW(tree->node, tree->room, tree->n + 1) < 0 ||
		!(number = tkm_table_put(&tree->by_call, key, sizeof(key), sizeof(*number)))) {
		return 0;
	}
	*number = (uint32_t)tree->n;
	tree->node[tree->n++] =
		(struct vtr_node){ .parent = parent, .function = function, .depth = tree->node[parent].depth + 1 };
	return *number;
}

static struct vtr_site *find_site(struct vtr_tree *tree, uint32_t function, uint32_t caller, uint32_t scl)
{
	const uint32_t key[3] = { function, caller, scl };
	struct vtr_site *s = tkm_table_find(&tree->sites, key, sizeof(key));

	if (!s && tkm_table_count(&tree->sites) < VTR_NODES) {
		s = tkm_table_put(&tree->sites, key, sizeof(key), sizeof(*s));
		if (s) {
			s->function = function;
			s->caller = caller;
			s->scl = scl;
		}
	}
	return s;
}

static int enter_in_tree(struct vtr_tree *tree, uint32_t willy, uint64_t time, uint32_t function, uint32_t scl)
{
	struct vtr_tree_stack *s = tkm_table_put(&tree->stacks, &willy, sizeof(willy), sizeof(*s));
	struct vtr_tree_frame f = { .enter = time };
	uint32_t parent = s && s->depth ? s->frame[s->depth - 1].node : 0;

	if (!s || TKM_GROW(s->frame, s->room, s->depth + 1) < 0) {
		return -1;
	}
	if (s->depth < VTR_TREE_DEPTH && (!s->depth || parent)) {
		f.node = find_node(tree, parent, function);
		f.site = find_site(tree, function, tree->node[parent].function, scl);
	}
	tree->left_out += !f.node;
	s->frame[s->depth++] = f;
	s->last = time;
	return 0;
}

static void leave_in_tree(struct vtr_tree *tree, uint32_t willy, struct vtr_tree_stack *s, uint64_t time)
{
	const struct vtr_tree_frame *f = &s->frame[--s->depth];
	double length = time > f->enter ? (double)(time - f->enter) : 0;
	struct vtr_node *n = &tree->node[f->node];

	s->last = time;
	if (!f->node) {
		return;
	}
	n->calls++;
	n->inclusive += length;
	tree->node[n->parent].children += length;
	if (f->site) {
		f->site->calls++;
		f->site->inclusive += length;
		if (length >= f->site->longest) {
			f->site->longest = length;
			f->site->willy = willy;
			f->site->at = f->enter;
		}
	}
}

int vtr_tree_add(struct vtr_tree *tree, const struct stf_record *r)
{
	struct stf_enter_function_1 in;
	struct stf_function_history_1 h;
	struct vtr_tree_stack *s;
	const struct stf_value *v;
	uint32_t willy, i;
	int rc = 0;

	switch (r->layout->class_id) {
	case STF_ID_enter_function:
		return stf_get_enter_function_1(r, &in) == 0
			? enter_in_tree(tree, in.willy, r->time, in.function, in.scl)
			: 0;
	case STF_ID_leave_function:
		v = stf_value(r, "willy");
		willy = v ? (uint32_t)v->u : 0;
		s = tkm_table_find(&tree->stacks, &willy, sizeof(willy));
		if (v && s && s->depth) {
			leave_in_tree(tree, willy, s, r->time);
		}
		return 0;
	case STF_ID_function_history:
		for (i = 0; stf_get_function_history_1(r, &h) == 0 && i < h.size_1_2 && rc == 0; i++) {
			rc = enter_in_tree(tree, h.willy, r->time, h.function_stack[i], 0);
		}
		return rc;
	default:
		return 0;
	}
}

void vtr_tree_end(struct vtr_tree *tree)
{
	struct vtr_tree_stack *s = NULL;

	while ((s = tkm_table_next(&tree->stacks, s))) {
		uint32_t willy;

		memcpy(&willy, tkm_table_key(s), sizeof(willy));
		while (s->depth) {
			leave_in_tree(tree, willy, s, s->last);
		}
	}
}

/* ---- in order ---- */

struct listed {
	const struct vtr_node *node;
	uint32_t number, parent;
	double inclusive;
};

static int by_parent_and_time(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->parent != y->parent) {
		return x->parent < y->parent ? -1 : 1;
	}
	return x->inclusive != y->inclusive ? (x->inclusive < y->inclusive ? 1 : -1)
					    : (x->number > y->number) - (x->number < y->number);
}

uint32_t *vtr_tree_order(const struct vtr_tree *tree)
{
	struct listed *all = calloc(tree->n, sizeof(*all));
	uint32_t *order = calloc(tree->n + 1, sizeof(*order)), *next = calloc(tree->n + 1, sizeof(*next)), at = 0;
	size_t i, n = 0;

	if (!all || !order || !next) {
		free(order);
		order = NULL;
		goto out;
	}
	for (i = 1; i < tree->n; i++) {
		all[i - 1] =
			(struct listed){ &tree->node[i], (uint32_t)i, tree->node[i].parent, tree->node[i].inclusive };
	}
	qsort(all, tree->n - 1, sizeof(*all), by_parent_and_time);
	for (i = tree->n - 1; i-- > 0;) {
		next[all[i].parent] = (uint32_t)i; /* the first child of each */
	}
	/* down to the first child, else to the next one of the same parent, or of a
   * parent's */
	uint32_t *cursor = calloc(tree->n + 1, sizeof(*cursor));

	memcpy(cursor ? cursor : next, next, (tree->n + 1) * sizeof(*next));
	while (cursor && n < tree->n - 1) {
		uint32_t k = cursor[at];

		if (k < tree->n - 1 && all[k].parent == at) {
			cursor[at] = k + 1;
			at = all[k].number;
			order[n++] = at;
		} else {
			at = tree->node[at].parent;
		}
	}
	free(cursor);
out:
	free(all);
	free(next);
	return order;
}

static int by_site_time(const void *a, const void *b)
{
	const struct vtr_site *x = *(const struct vtr_site *const *)a, *y = *(const struct vtr_site *const *)b;

	return x->inclusive < y->inclusive ? 1 : x->inclusive > y->inclusive ? -1 : 0;
}

const struct vtr_site **vtr_tree_sites(const struct vtr_tree *tree, size_t *n)
{
	const struct vtr_site **all = calloc(tkm_table_count(&tree->sites) + 1, sizeof(*all)), *s = NULL;

	*n = 0;
	while (all && (s = tkm_table_next(&tree->sites, s))) {
		all[(*n)++] = s;
	}
	if (all) {
		qsort(all, *n, sizeof(*all), by_site_time);
	}
	return all;
}
