/* SPDX-License-Identifier: BSD-3-Clause */
/* Difference constraints: what is certain of every node is a shortest path (R. Bellman 1958; T. Cormen et al.,
 * Introduction to Algorithms, "Difference constraints and shortest paths"), a loop that does not close is a
 * negative cycle, and the likely value is the least squares solution (conjugate gradients, M. Hestenes and
 * E. Stiefel 1952). Everything is computed around the values that the tree gives, so that doubles only hold
 * small differences. */
#include "config.h"
#include "calib/tree/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct graph {
	struct cal_graph *out;
	const struct cal_edge *edge;
	size_t edges;
	size_t *first, *next_of; /* edges of node i: next_of[first[i] .. first[i + 1] - 1] */
	double *extra;           /* of a node: in a loop that does not close */
	double *width;           /* Dijkstra: of the path to the root */
	int *heap, *place, heaped;
	size_t *by;   /* edge by which a node's bound was last improved */
	double *work; /* 5 n for the conjugate gradients */
};

static const double tiny = 1e-9; /* relative: rounding is no contradiction */

/* ---- the tree of the narrowest paths: Dijkstra with a heap of nodes ---- */

static void swap_heap(struct graph *g, int i, int k)
{
	int node = g->heap[i];

	g->heap[i] = g->heap[k];
	g->heap[k] = node;
	g->place[g->heap[i]] = i;
	g->place[g->heap[k]] = k;
}

static void sift_up(struct graph *g, int i)
{
	while (i > 0 && g->width[g->heap[i]] < g->width[g->heap[(i - 1) / 2]]) {
		swap_heap(g, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static int take_nearest(struct graph *g)
{
	int node = g->heap[0], i = 0, k;

	swap_heap(g, 0, --g->heaped);
	for (;;) {
		k = 2 * i + 1;
		if (k + 1 < g->heaped && g->width[g->heap[k + 1]] < g->width[g->heap[k]]) {
			k++;
		}
		if (k >= g->heaped || g->width[g->heap[k]] >= g->width[g->heap[i]]) {
			break;
		}
		swap_heap(g, i, k);
		i = k;
	}
	g->place[node] = -2; /* done */
	return node;
}

static void relax_edge(struct graph *g, int from, const struct cal_edge *e)
{
	struct cal_graph *o = g->out;
	int to = e->a == from ? e->b : e->a;
	double width = g->width[from] + (e->high - e->low);

	if (g->place[to] == -2 || (g->place[to] >= 0 && width >= g->width[to])) {
		return;
	}
	g->width[to] = width;
	o->parent[to] = from;
	o->depth[to] = o->depth[from] + 1;
	o->value[to] = o->value[from] + (e->a == to ? e->middle : -e->middle);
	if (g->place[to] < 0) {
		g->place[to] = g->heaped;
		g->heap[g->heaped++] = to;
	}
	sift_up(g, g->place[to]);
}

static void grow_tree(struct graph *g)
{
	struct cal_graph *o = g->out;
	size_t i;
	int node;

	for (node = 0; node < o->n; node++) {
		o->value[node] = NAN;
		o->parent[node] = o->depth[node] = g->place[node] = -1;
	}
	o->value[o->root] = 0;
	o->depth[o->root] = 0;
	g->width[o->root] = 0;
	g->heap[0] = o->root;
	g->place[o->root] = 0;
	g->heaped = 1;
	while (g->heaped > 0) {
		node = take_nearest(g);
		o->reached++;
		o->deepest = o->depth[node] > o->deepest ? o->depth[node] : o->deepest;
		for (i = g->first[node]; i < g->first[node + 1]; i++) {
			relax_edge(g, node, &g->edge[g->next_of[i]]);
		}
	}
}

/* ---- what is certain ---- */

/* By how much at most the value of `to` exceeds that of `from`, both counted from the tree's values. */
static double most(const struct graph *g, const struct cal_edge *e, int from)
{
	const double *v = g->out->value;
	double tree = v[e->a] - v[e->b], extra = g->extra[e->a] + g->extra[e->b];

	return (from == e->b ? e->high - tree : tree - e->low) + extra;
}

/* Follows the edges that improved bounds back from a node; a node met twice is on a cycle. Writes the cycle's
 * nodes and returns their number, or 0. mark[] is 0 for nodes not yet visited. */
static int cycle_from(const struct graph *g, int node, int *mark, int stamp, int *cycle)
{
	int n = 0, start, at = node;

	while (g->by[at] != (size_t)-1 && mark[at] == 0) {
		const struct cal_edge *e = &g->edge[g->by[at]];

		mark[at] = stamp;
		at = e->a == at ? e->b : e->a;
	}
	if (mark[at] != stamp || g->by[at] == (size_t)-1) {
		return 0;
	}
	start = at;
	do {
		const struct cal_edge *e = &g->edge[g->by[at]];

		cycle[n++] = at;
		at = e->a == at ? e->b : e->a;
	} while (at != start && n < g->out->n);
	return n;
}

static int find_cycle(const struct graph *g, int *cycle)
{
	int *mark = g->heap, n = 0, node;

	memset(mark, 0, (size_t)g->out->n * sizeof(*mark));
	for (node = 0; node < g->out->n && n == 0; node++) {
		if (mark[node] == 0) {
			n = cycle_from(g, node, mark, node + 1, cycle);
		}
	}
	return n;
}

/* Shortest paths from the root; sign 1: upper bounds, -1: lower ones, as distances below the tree's values.
 * Returns 0, or the number of nodes in cycle[]: a loop that does not close. */
static int bound(struct graph *g, int sign, double *far, int *cycle)
{
	int changed = 1, pass, way, n = 0, node;
	size_t i;

	for (node = 0; node < g->out->n; node++) {
		far[node] = INFINITY;
		g->by[node] = (size_t)-1;
	}
	far[g->out->root] = 0;
	for (pass = 0; changed && n == 0; pass++) {
		changed = 0;
		for (i = 0; i < g->edges; i++) {
			const struct cal_edge *e = &g->edge[i];

			for (way = 0; way < 2; way++) {
				int from = way ? e->a : e->b, to = way ? e->b : e->a;
				double d = far[from] + most(g, e, sign > 0 ? from : to);

				if (d < far[to] - tiny * (1 + fabs(d))) {
					far[to] = d;
					g->by[to] = i;
					changed = 1;
				}
			}
		}
		if (changed && (pass > 1 || far[g->out->root] < 0)) {
			n = find_cycle(g, cycle);
		}
	}
	return n;
}

static int compare_edge_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The loop does not close by `gap`. With one clock in it wrong, that one is off by at most the gap and all that
 * the loop's intervals leave open; which one it is, is unknown, so everything about all of them is widened. */
static void widen_edge(struct graph *g, int sign, int *cycle, int n)
{
	struct cal_graph *o = g->out;
	double gap = 0, open = 0;
	int i;

	for (i = 0; i < n; i++) {
		const struct cal_edge *e = &g->edge[g->by[cycle[i]]];
		int from = e->a == cycle[i] ? e->b : e->a;

		gap -= most(g, e, sign > 0 ? from : cycle[i]);
		open += e->high - e->low;
	}
	if (o->loops++ == 0) {
		o->loop.gap = gap;
		o->loop.n = n;
		qsort(cycle, (size_t)n, sizeof(*cycle), compare_edge_numbers);
		memcpy(o->loop.rank, cycle, (size_t)(n < CAL_LOOP_RANKS ? n : CAL_LOOP_RANKS) * sizeof(*cycle));
	}
	for (i = 0; i < n; i++) {
		g->extra[cycle[i]] += fabs(gap) + open;
	}
}

static int edge_bounds(struct graph *g, int *cycle, struct tkm_err *err)
{
	struct cal_graph *o = g->out;
	double *far[2] = { o->low, o->high };
	int side, n, node;

	for (side = 0; side < 2; side++) {
		while ((n = bound(g, side ? 1 : -1, far[side], cycle)) > 0) {
			if (o->loops > g->edges) {
				return tkm_fail(err, TKM_ERR_DATA,
					"the exchanges of this session contradict each other everywhere");
			}
			widen_edge(g, side ? 1 : -1, cycle, n);
			side = 0; /* what was certain before is no longer */
		}
	}
	for (node = 0; node < o->n; node++) {
		o->low[node] = o->value[node] - o->low[node];
		o->high[node] = o->value[node] + o->high[node];
	}
	return 0;
}

/* ---- what is likely ---- */

static double edge_weight(const struct graph *g, const struct cal_edge *e)
{
	double w = e->high - e->low + 2 * (g->extra[e->a] + g->extra[e->b]);

	return w > 1e-6 ? 1 / (w * w) : 1e12;
}

/* What an edge measured beyond the tree's values. */
static double residual(const struct graph *g, const struct cal_edge *e)
{
	return e->middle - (g->out->value[e->a] - g->out->value[e->b]);
}

static int is_connected(const struct graph *g, const struct cal_edge *e)
{
	return g->out->depth[e->a] >= 0 && g->out->depth[e->b] >= 0;
}

/* y = A x, where A belongs to the normal equations; the root stays where it is. */
static void apply_edge(const struct graph *g, const double *x, double *y)
{
	size_t i;

	memset(y, 0, (size_t)g->out->n * sizeof(*y));
	for (i = 0; i < g->edges; i++) {
		const struct cal_edge *e = &g->edge[i];

		if (is_connected(g, e)) {
			double d = edge_weight(g, e) * (x[e->a] - x[e->b]);

			y[e->a] += d;
			y[e->b] -= d;
		}
	}
	y[g->out->root] = 0;
}

static double dot_product(const double *x, const double *y, int n)
{
	double sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		sum += x[i] * y[i];
	}
	return sum;
}

/* Corrections to the tree's values into x. The diagonal scales the steps. */
static void least_squares(struct graph *g, double *x)
{
	int n = g->out->n, i, step;
	double *r = g->work, *p = r + n, *q = p + n, *diagonal = q + n, *z = diagonal + n, rho, before, first;
	size_t k;

	memset(g->work, 0, 5 * (size_t)n * sizeof(*g->work));
	memset(x, 0, (size_t)n * sizeof(*x));
	for (k = 0; k < g->edges; k++) {
		const struct cal_edge *e = &g->edge[k];

		if (is_connected(g, e)) {
			double w = edge_weight(g, e);

			r[e->a] += w * residual(g, e);
			r[e->b] -= w * residual(g, e);
			diagonal[e->a] += w;
			diagonal[e->b] += w;
		}
	}
	r[g->out->root] = 0;
	for (i = 0; i < n; i++) {
		p[i] = z[i] = diagonal[i] > 0 ? r[i] / diagonal[i] : 0;
	}
	first = rho = dot_product(r, z, n);
	for (step = 0; step < 300 && rho > 1e-16 * first && rho > 0; step++) {
		double along;

		apply_edge(g, p, q);
		along = rho / dot_product(p, q, n);
		for (i = 0; i < n; i++) {
			x[i] += along * p[i];
			r[i] -= along * q[i];
			z[i] = diagonal[i] > 0 ? r[i] / diagonal[i] : 0;
		}
		before = rho;
		rho = dot_product(r, z, n);
		for (i = 0; i < n; i++) {
			p[i] = z[i] + rho / before * p[i];
		}
	}
}

static void adjust(struct graph *g)
{
	struct cal_graph *o = g->out;
	double *x = g->width, sum = 0;
	size_t k, n = 0;
	int i;

	least_squares(g, x);
	for (k = 0; k < g->edges; k++) {
		const struct cal_edge *e = &g->edge[k];

		if (is_connected(g, e)) {
			double left = residual(g, e) - (x[e->a] - x[e->b]);

			sum += left * left;
			o->worst = fmax(o->worst, fabs(left));
			n++;
		}
	}
	o->rms = n ? sqrt(sum / (double)n) : 0;
	for (i = 0; i < o->n; i++) {
		if (o->depth[i] >= 0) {
			o->value[i] = fmin(fmax(o->value[i] + x[i], o->low[i]), o->high[i]);
		} else {
			o->low[i] = o->high[i] = NAN;
		}
	}
}

/* ---- memory ---- */

static int list_edges(struct graph *g)
{
	size_t n = (size_t)g->out->n, i;

	g->first = calloc(n + 2, sizeof(*g->first));
	g->next_of = calloc(2 * g->edges + 1, sizeof(*g->next_of));
	if (!g->first || !g->next_of) {
		return -1;
	}
	for (i = 0; i < g->edges; i++) {
		g->first[g->edge[i].a + 2]++;
		g->first[g->edge[i].b + 2]++;
	}
	for (i = 2; i < n + 2; i++) {
		g->first[i] += g->first[i - 1];
	}
	for (i = 0; i < g->edges; i++) {
		g->next_of[g->first[g->edge[i].a + 1]++] = i;
		g->next_of[g->first[g->edge[i].b + 1]++] = i;
	}
	return 0;
}

int cal_graph_solve(
	struct cal_graph *o, int n, int root, const struct cal_edge *edge, size_t edges, struct tkm_err *err)
{
	struct graph g = { .out = o, .edge = edge, .edges = edges };
	size_t size = (size_t)n + 1;
	int *cycle = calloc(size, sizeof(*cycle)), rc = -1;

	*o = (struct cal_graph){ .n = n, .root = root };
	o->low = calloc(size, sizeof(*o->low));
	o->high = calloc(size, sizeof(*o->high));
	o->value = calloc(size, sizeof(*o->value));
	o->parent = calloc(size, sizeof(*o->parent));
	o->depth = calloc(size, sizeof(*o->depth));
	g.extra = calloc(size, sizeof(*g.extra));
	g.width = calloc(size, sizeof(*g.width));
	g.heap = calloc(size, sizeof(*g.heap));
	g.place = calloc(size, sizeof(*g.place));
	g.by = calloc(size, sizeof(*g.by));
	g.work = calloc(5 * size, sizeof(*g.work));
	if (!cycle || !o->low || !o->high || !o->value || !o->parent || !o->depth || !g.extra || !g.width || !g.heap ||
		!g.place || !g.by || !g.work || list_edges(&g) < 0) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a graph of %d ranks and %zu exchanges", n, edges);
	} else {
		grow_tree(&g);
		rc = edge_bounds(&g, cycle, err);
	}
	if (rc == 0) {
		adjust(&g);
	} else {
		cal_graph_free(o);
	}
	free(cycle);
	free(g.first);
	free(g.next_of);
	free(g.extra);
	free(g.width);
	free(g.heap);
	free(g.place);
	free(g.by);
	free(g.work);
	return rc;
}

void cal_graph_free(struct cal_graph *o)
{
	free(o->low);
	free(o->high);
	free(o->value);
	free(o->parent);
	free(o->depth);
	memset(o, 0, sizeof(*o));
}
