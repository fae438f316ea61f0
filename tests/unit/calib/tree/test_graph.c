/* SPDX-License-Identifier: BSD-3-Clause */
/* The tightest sums of a graph of intervals, against an exhaustive search. */
#include "config.h"
#include "calib/tree/graph.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"

/* ---- graphs ---- */

enum { N = 9, EDGES = 40 };

struct problem {
	int n, edges;
	double truth[N];
	struct cal_edge edge[EDGES];
};

static void draw(struct problem *q)
{
	int i;

	q->n = 2 + (int)((N - 1) * check_uniform());
	q->n = q->n > N ? N : q->n;
	q->edges = q->n - 1 + (int)((EDGES - N) * check_uniform() * check_uniform());
	for (i = 0; i < q->n; i++) {
		q->truth[i] = i ? 1000 * (check_uniform() - 0.5) : 0;
	}
	for (i = 0; i < q->edges; i++) {
		int a = i < q->n - 1 ? i + 1 : (int)(q->n * check_uniform()),
		    b = (int)((i < q->n - 1 ? a : q->n) * check_uniform());
		double d = q->truth[a] - q->truth[b], low = d - 20 * check_uniform(), high = d + 20 * check_uniform();

		if (a == b) {
			b = (a + 1) % q->n;
			d = q->truth[a] - q->truth[b];
			low = d - 5;
			high = d + 3;
		}
		q->edge[i] = (struct cal_edge){ a, b, low, high, 0.5 * (low + high) };
	}
}

/* All shortest paths, the slow way (Floyd and Warshall). */
static void oracle(const struct problem *q, double most[N][N])
{
	int i, k, m;

	for (i = 0; i < q->n; i++) {
		for (k = 0; k < q->n; k++) {
			most[i][k] = i == k ? 0 : INFINITY;
		}
	}
	for (i = 0; i < q->edges; i++) {
		const struct cal_edge *e = &q->edge[i];

		most[e->b][e->a] = fmin(most[e->b][e->a], e->high);
		most[e->a][e->b] = fmin(most[e->a][e->b], -e->low);
	}
	for (m = 0; m < q->n; m++) {
		for (i = 0; i < q->n; i++) {
			for (k = 0; k < q->n; k++) {
				most[i][k] = fmin(most[i][k], most[i][m] + most[m][k]);
			}
		}
	}
}

/* At the least squares solution no single value can be moved to do better. */
static double squares(const struct problem *q, const double *v)
{
	double sum = 0;
	int i;

	for (i = 0; i < q->edges; i++) {
		const struct cal_edge *e = &q->edge[i];
		double w = e->high - e->low, d = (e->middle - (v[e->a] - v[e->b])) / w;

		sum += d * d;
	}
	return sum;
}

static void the_graph_gives_the_tightest_sums(void)
{
	int round, i, k, free_of_clipping;

	for (round = 0; round < 2000 * check_times; round++) {
		double most[N][N], v[N], best;
		struct cal_graph g;
		struct problem q;

		draw(&q);
		oracle(&q, most);
		CHECK(cal_graph_solve(&g, q.n, 0, q.edge, (size_t)q.edges, NULL) == 0, "solve");
		CHECK_INT(g.reached, q.n);
		CHECK_INT(g.loops, 0);
		free_of_clipping = 1;
		for (i = 0; i < q.n; i++) {
			CHECK_NEAR(g.high[i], most[0][i], 1e-6);
			CHECK_NEAR(g.low[i], -most[i][0], 1e-6);
			CHECK(g.low[i] <= q.truth[i] + 1e-9 && q.truth[i] <= g.high[i] + 1e-9, "the truth is outside");
			CHECK(g.low[i] <= g.value[i] && g.value[i] <= g.high[i], "the value is outside");
			free_of_clipping = free_of_clipping && g.low[i] < g.value[i] && g.value[i] < g.high[i];
			v[i] = g.value[i];
		}
		best = squares(&q, v);
		for (i = 1; i < q.n && free_of_clipping; i++) {
			for (k = -1; k <= 1; k += 2) {
				v[i] = g.value[i] + 0.01 * k;
				CHECK(squares(&q, v) >= best - 1e-9, "node %d can be moved to do better", i);
				v[i] = g.value[i];
			}
		}
		cal_graph_free(&g);
	}
}

static double width_between(const struct problem *q, int a, int b)
{
	double width = INFINITY;
	int i;

	for (i = 0; i < q->edges; i++) {
		const struct cal_edge *e = &q->edge[i];

		if ((e->a == a && e->b == b) || (e->a == b && e->b == a)) {
			width = fmin(width, e->high - e->low);
		}
	}
	return width;
}

static void the_tree_is_that_of_the_narrowest_edges(void)
{
	double width[N], sum;
	int round, i, k, at, hops, deepest;

	for (round = 0; round < 500; round++) {
		struct cal_graph g;
		struct problem q;

		draw(&q);
		for (i = 0; i < q.n; i++) {
			width[i] = i ? INFINITY : 0;
		}
		for (k = 0; k < q.n; k++) {
			for (i = 0; i < q.edges; i++) {
				const struct cal_edge *e = &q.edge[i];

				width[e->a] = fmin(width[e->a], width[e->b] + e->high - e->low);
				width[e->b] = fmin(width[e->b], width[e->a] + e->high - e->low);
			}
		}
		CHECK(cal_graph_solve(&g, q.n, 0, q.edge, (size_t)q.edges, NULL) == 0, "solve");
		for (i = deepest = 0; i < q.n; i++) {
			for (at = i, sum = hops = 0; at && hops <= q.n; at = g.parent[at], hops++) {
				sum += width_between(&q, at, g.parent[at]);
			}
			CHECK_NEAR(sum, width[i], 1e-6);
			CHECK_INT(g.depth[i], hops);
			deepest = hops > deepest ? hops : deepest;
		}
		CHECK_INT(g.deepest, deepest);
		cal_graph_free(&g);
	}
}

/* Two ways of 10 to 11 each, and one of 0 to 1 for both: by at least 19 it does not close. */
static void the_gap_of_a_loop(void)
{
	static const struct cal_edge edge[2][3] = { { { 1, 0, 10, 11, 10.5 }, { 2, 1, 10, 11, 10.5 },
							    { 2, 0, 0, 1, 0.5 } },
		{ { 0, 1, 10, 11, 10.5 }, { 2, 1, -11, -10, -10.5 }, { 0, 2, 0, 1, 0.5 } } };
	struct cal_graph g;
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(cal_graph_solve(&g, 3, 0, edge[i], 3, NULL) == 0, "solve");
		CHECK(g.loops >= 1 && g.loop.n == 3, "%zu loops, %d", g.loops, g.loop.n);
		CHECK_NEAR(fabs(g.loop.gap), 19, 1e-9);
		/* whichever is wrong */
		CHECK(i || (g.low[2] <= 0 && g.high[2] >= 22 && g.low[1] <= -11 && g.high[1] >= 11),
			"[%g, %g], [%g, %g]", g.low[1], g.high[1], g.low[2], g.high[2]);
		cal_graph_free(&g);
	}
}

/* The clock of one node jumps between its exchanges: some of them belong to one value, some to the other. Whichever
 * holds, it is inside, and so are all others; the loop that is reported has the node in it. */
static void a_loop_that_does_not_close_is_found_and_widens(void)
{
	int round, i, found = 0;

	for (round = 0; round < 1000 * check_times; round++) {
		int bad, named = 0;
		double jump = (check_uniform() < 0.5 ? -1 : 1) * (100 + 1e4 * check_uniform());
		struct cal_graph g;
		struct problem q;

		do {
			draw(&q);
		} while (q.n < 4);
		bad = 1 + (int)((q.n - 1) * check_uniform());
		for (i = 0; i < q.edges; i++) {
			struct cal_edge *e = &q.edge[i];
			double by = e->a == bad ? jump : e->b == bad ? -jump : 0;

			if (by != 0 && check_uniform() < 0.5) {
				e->low += by;
				e->high += by;
				e->middle += by;
			}
		}
		CHECK(cal_graph_solve(&g, q.n, 0, q.edge, (size_t)q.edges, NULL) == 0, "solve");
		for (i = 0; i < g.loop.n; i++) {
			named |= g.loop.rank[i] == bad;
		}
		CHECK(g.loops == 0 || named, "node %d jumped and is not in the loop", bad);
		if (g.loops) {
			found++;
			for (i = 0; i < q.n; i++) {
				CHECK(g.low[i] <= q.truth[i] + 1e-6 && q.truth[i] <= g.high[i] + 1e-6,
					"node %d of %d: %g is not in [%g, %g]", i, q.n, q.truth[i], g.low[i],
					g.high[i]);
			}
			CHECK(g.low[bad] <= q.truth[bad] + jump + 1e-6 && q.truth[bad] + jump <= g.high[bad] + 1e-6,
				"the other value of node %d is outside", bad);
		}
		cal_graph_free(&g);
	}
	CHECK(found > 200, "only %d of 1000 cases had a loop", found);
}

static void who_is_not_connected_stays_unknown(void)
{
	struct cal_edge e[] = { { 1, 0, -1, 1, 0 }, { 3, 2, 4, 6, 5 } };
	struct cal_graph g;

	CHECK(cal_graph_solve(&g, 4, 0, e, 2, NULL) == 0, "solve");
	CHECK_INT(g.reached, 2);
	CHECK(isnan(g.low[2]) && isnan(g.high[3]) && g.depth[2] < 0, "node 2 is known");
	CHECK_NEAR(g.value[1], 0, 1e-9);
	cal_graph_free(&g);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_graph_gives_the_tightest_sums);
	RUN(the_tree_is_that_of_the_narrowest_edges);
	RUN(the_gap_of_a_loop);
	RUN(a_loop_that_does_not_close_is_found_and_widens);
	RUN(who_is_not_connected_stays_unknown);
	return check_end();
}
