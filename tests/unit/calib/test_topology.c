/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans, graphs, and whole sessions as a tree over simulated clocks and links, where the truth is known. */
#include "config.h"
#include "lab/compare/link_sim.h"
#include "calib/map/online.h"
#include "calib/solve/solve.h"
#include "calib/session/sync.h"
#include "calib/tree/graph.h"
#include "calib/tree/net.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"

/* ---- plans ---- */

static int rounds_needed(int n)
{
	int bits = 0;

	while ((1 << bits) < n) {
		bits++;
	}
	return bits + 1; /* one more folds the cube */
}

/* Everybody can be reached, nobody is in two pairs of one round. */
static void check_plan(const struct cal_plan *p, int n)
{
	unsigned char reached[130] = { 1 };
	size_t i, k;
	int grown = 1;

	for (i = 0; i < p->pairs; i++) {
		const struct cal_pair *x = &p->pair[i];

		CHECK(x->a != x->b && x->a < n && x->b < n, "pair of %d and %d", x->a, x->b);
		for (k = 0; k < i; k++) {
			const struct cal_pair *y = &p->pair[k];

			CHECK(x->round != y->round || (x->a != y->a && x->a != y->b && x->b != y->a && x->b != y->b),
				"n %d: a rank is in two pairs of round %d", n, x->round);
			CHECK(x->a != y->a || x->b != y->b, "n %d: %d and %d talk twice", n, x->a, x->b);
		}
	}
	while (grown) {
		grown = 0;
		for (i = 0; i < p->pairs; i++) {
			const struct cal_pair *x = &p->pair[i];

			if (reached[x->a] != reached[x->b]) {
				reached[x->a] = reached[x->b] = 1;
				grown = 1;
			}
		}
	}
	for (i = 0; i < (size_t)n; i++) {
		CHECK(reached[i], "n %d: rank %zu is alone", n, i);
	}
}

static void plans_are_short_and_reach_everybody(void)
{
	int member[130], n, i;
	struct cal_plan p;

	for (i = 0; i < 130; i++) {
		member[i] = i;
	}
	for (n = 1; n < 130; n++) {
		CHECK(cal_plan_make(&p, CAL_SHAPE_TREE, member, n, NULL, NULL, NULL) == 0, "plan");
		check_plan(&p, n);
		CHECK(p.rounds <= rounds_needed(n), "n %d: %d rounds", n, p.rounds);
		cal_plan_free(&p);
		CHECK(cal_plan_make(&p, CAL_SHAPE_STAR, member, n, NULL, NULL, NULL) == 0, "plan");
		CHECK_INT(p.rounds, n - 1);
		cal_plan_free(&p);
		CHECK(cal_plan_make(&p, CAL_SHAPE_AUTO, member, n, NULL, NULL, NULL) == 0, "plan");
		CHECK_INT(p.shape, n <= 9 ? CAL_SHAPE_STAR : CAL_SHAPE_TREE);
		cal_plan_free(&p);
	}
	CHECK(cal_plan_make(&p, CAL_SHAPE_AUTO, member, 16, NULL, NULL, NULL) == 0, "plan");
	CHECK_INT(p.rounds, 5);
	cal_plan_free(&p);
}

/* On a node with few processing units no two pairs of a round have the same one, and who gets a unit waits for
 * the rank that had it before. */
static void crowded_nodes_take_turns(void)
{
	int member[64], node[64], units[64], round, i;
	struct cal_plan p;
	size_t k, m;

	for (round = 0; round < 100; round++) {
		int n = 2 + (int)(30 * check_uniform()), per = 1 + (int)(12 * check_uniform()),
		    has = 1 + (int)(5 * check_uniform());

		for (i = 0; i < n; i++) {
			member[i] = i;
			node[i] = i / per * per;
			units[i] = has;
		}
		CHECK(cal_plan_make(&p, CAL_SHAPE_TREE, member, n, node, units, NULL) == 0, "plan");
		check_plan(&p, n);
		for (k = 0; k < p.pairs; k++) {
			const struct cal_pair *x = &p.pair[k];

			CHECK(node[x->a] != node[x->b] || x->unit_a != x->unit_b, "a pair on one unit");
			CHECK(x->unit_a < (has > 2 ? has : 2) && x->unit_b < (has > 2 ? has : 2), "unit %d of %d",
				x->unit_a, has);
			CHECK(x->wait_a < 0 || node[x->wait_a] == node[x->a], "waits for another node's rank");
			for (m = 0; m < k; m++) {
				const struct cal_pair *y = &p.pair[m];

				CHECK(x->round != y->round || node[x->a] != node[y->a] || x->unit_a != y->unit_a,
					"two pairs on unit %d of node %d in round %d", x->unit_a, node[x->a], x->round);
			}
		}
		cal_plan_free(&p);
	}
	/* 16 on 2 units: a pair at a time, so the star has fewer turns */
	for (i = 0; i < 16; i++) {
		member[i] = i;
		node[i] = 0;
		units[i] = 2;
	}
	CHECK(cal_plan_make(&p, CAL_SHAPE_AUTO, member, 16, node, units, NULL) == 0, "plan");
	CHECK_INT(p.shape, CAL_SHAPE_STAR);
	cal_plan_free(&p);
	/* 40 pairs on 8 units: four at a time */
	for (i = 0; i < 16; i++) {
		units[i] = 8;
	}
	CHECK(cal_plan_make(&p, CAL_SHAPE_TREE, member, 16, node, units, NULL) == 0, "plan");
	CHECK(p.pairs == 40 && p.rounds <= 12, "%zu pairs in %d rounds", p.pairs, p.rounds);
	cal_plan_free(&p);
}

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

/* ---- whole runs ---- */

struct scene {
	int n;
	enum cal_shape shape;
	int sessions, brief;
	double apart_s, patience_s;
};

struct outcome {
	struct cal_link *link;
	struct cal_run run;
	struct cal_offset_estimate *tie;
	struct cal_sync_report report;
	int64_t from, to;
	double longest_s; /* session */
};

static void run_begin(struct outcome *o, int n)
{
	int i;

	o->run = (struct cal_run){ .ranks = (size_t)n,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.wanted = CAL_CUBIC,
		.method = CAL_SYNC_PAIRS };
	o->run.rank = calloc((size_t)n, sizeof(*o->run.rank));
	o->tie = calloc((size_t)n, sizeof(*o->tie));
	for (i = 0; i < n; i++) {
		struct cal_rank *r = &o->run.rank[i];

		r->rank = i;
		r->nominal_hz = cal_link_sim_clock(o->link, i)->hz;
		r->effective_tick_s = 1 / r->nominal_hz;
		cal_offset_estimate_begin(
			&o->tie[i], i == 0, r->nominal_hz, o->run.rank[0].nominal_hz, r->effective_tick_s, 500e-6);
	}
}

static void take_anchor(struct outcome *o)
{
	struct cal_rank *m = &o->run.rank[0];

	m->anchor[m->anchors].local = tmr_read(cal_link_sim_clock(o->link, 0));
	m->anchor[m->anchors].realtime_ns = m->anchor[m->anchors].monotonic_ns =
		cal_link_sim_time(o->link)->now_ps / 1000;
	m->anchors++;
}

/* A run of some sessions; -1 when one failed. */
static int measure(
	struct outcome *o, const struct scene *s, const char *clocks, const char *network, struct tkm_err *err)
{
	int *member = calloc((size_t)s->n, sizeof(*member)), k, i, rc;
	unsigned char *exchanges = malloc((size_t)s->n);
	double *hz = calloc((size_t)s->n, sizeof(*hz)), at;
	struct cal_plan plan = { .pairs = 0 };
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = CAL_SYNC_PAIRS };

	memset(o, 0, sizeof(*o));
	memset(exchanges, 1, (size_t)s->n);
	o->link = cal_link_sim(s->n, clocks, network, err);
	rc = o->link ? 0 : -1;
	if (rc == 0) {
		o->link->patience_s = s->patience_s;
		o->from = cal_link_sim_time(o->link)->now_ps;
		run_begin(o, s->n);
		for (i = 0; i < s->n; i++) {
			member[i] = i;
			hz[i] = o->run.rank[i].nominal_hz;
		}
		rc = cal_plan_make(&plan, s->shape, member, s->n, NULL, NULL, err);
	}
	opt.hz = hz;
	opt.tie = o->tie;
	opt.report = &o->report;
	for (k = 0; k < s->sessions && rc == 0; k++) {
		int last = k + 1 == s->sessions;

		if (k == 0 || last) {
			take_anchor(o);
		}
		at = cal_link_seconds(o->link);
		opt.brief = s->brief && k > 0;
		rc = cal_sync_ranks(o->link, 0, &plan, exchanges, &opt,
			k == 0         ? CAL_START
				: last ? CAL_END
				       : CAL_MIDDLE,
			o->run.rank, err);
		o->longest_s = fmax(o->longest_s, cal_link_seconds(o->link) - at);
		if (!last) {
			cal_link_sleep(o->link, s->apart_s);
		}
	}
	o->to = rc == 0 ? cal_link_sim_time(o->link)->now_ps : 0;
	cal_plan_free(&plan);
	free(member);
	free(exchanges);
	free(hz);
	return rc;
}

static void finish(struct outcome *o)
{
	cal_run_free(&o->run);
	cal_link_close(o->link);
	free(o->tie);
}

/* Truth against what each rank knows by itself: 1 if it is outside. */
static int tie_is_wrong(const struct outcome *o, int rank)
{
	const struct cal_point *p = &o->tie[rank].point;
	double fraction, truth;
	int64_t base = tmr_sim_base_at(cal_link_sim_clock(o->link, rank), p->local);

	truth = (double)ltick_sub(tmr_sim_truth(cal_link_sim_clock(o->link, 0), base, &fraction), p->master) + fraction;
	return truth < p->low || truth > p->high;
}

static int outside(const struct outcome *o, int rank, double *worst, double *widest)
{
	const struct cal_map *m0 = &o->run.rank[0].map, *m = &o->run.rank[rank].map;
	int i, n = 0;

	for (i = 0; i <= 50; i++) {
		int64_t at = o->from + (o->to - o->from) / 50 * i;
		double f0, f1, error, bound;
		ltick_t l0 = tmr_sim_truth(cal_link_sim_clock(o->link, 0), at, &f0);
		ltick_t l1 = tmr_sim_truth(cal_link_sim_clock(o->link, rank), at, &f1);

		error = fabs((double)gtick_sub(cal_map_at(m, l1), cal_map_at(m0, l0)) + f1 * cal_map_slope(m, l1) -
				f0 * cal_map_slope(m0, l0)) *
			o->run.period_s;
		bound = cal_map_bound(m, l1);
		n += error > bound;
		*worst = fmax(*worst, error);
		*widest = fmax(*widest, bound);
	}
	return n;
}

static void random_trees_are_always_inside_their_bound(void)
{
	int round, i;

	for (round = 0; round < 60 * check_times; round++) {
		struct scene s = { 2 + (int)(38 * check_uniform()), round % 3 ? CAL_SHAPE_TREE : CAL_SHAPE_STAR,
			2 + round % 3, round % 2, 0.2 + 5 * check_uniform(), 10 };
		char clocks[200], network[300];
		struct tkm_err err = { .text = "" };
		double worst = 0, widest = 0;
		struct outcome o;

		snprintf(clocks, sizeof(clocks),
			"offset={rank%%17}%.0fms,drift={rank%%13}%.3fppm,wobble=0.{rank%%9}ppm/%.1fs,tick=%.2fns",
			1e3 * check_uniform(), check_uniform(), 5 + 50 * check_uniform(), 0.5 + 20 * check_uniform());
		snprintf(network, sizeof(network),
			"delay=%.0fns,jitter=%.0fns,asym=%.0fns,leaf=%d,pod=2,hop=200ns,uneven=%.0fns,byte=0.1ns,slow="
			"0.1,slowness=%.0fns,"
			"outlier=8ms,outliers=%.4f,loss=%.4f,shuffle=%d,seed=%d",
			50 + 2000 * check_uniform(), 500 * check_uniform(), 3000 * check_uniform(), 1 + round % 7,
			500 * check_uniform(), 5000 * check_uniform(), 0.003 * check_uniform(), round % 4 ? 0 : 0.01,
			round % 2, round);
		CHECK(measure(&o, &s, clocks, network, &err) == 0, "%s", err.text);
		for (i = 1; i < s.n; i++) {
			CHECK(!o.tie[i].known || !tie_is_wrong(&o, i), "round %d: rank %d of %d is wrong about itself",
				round, i, s.n);
		}
		CHECK(cal_solve(&o.run, 0, &err) == 0, "round %d: %s", round, err.text);
		for (i = 1; i < s.n; i++) {
			CHECK(outside(&o, i, &worst, &widest) == 0,
				"round %d: rank %d of %d left its bound: %s over %s", round, i, s.n, clocks, network);
		}
		CHECK_INT(o.run.net.loops, 0);
		finish(&o);
	}
}

/* Short ways and fast clocks: what is believed of the rates is more than the ways themselves, and it is needed. */
static void what_is_known_at_once_allows_for_drift(void)
{
	int round, i;

	for (round = 0; round < 20 * check_times; round++) {
		struct scene s = { 33, CAL_SHAPE_TREE, 2, round % 2, 1, 10 };
		char network[160];
		struct tkm_err err = { .text = "" };
		struct outcome o;
		double worst = 0, widest = 0;

		snprintf(network, sizeof(network), "delay=40ns,jitter=2ns,slow=0.2,slowness=%.0fns,seed=%d",
			3000 * check_uniform(), round);
		CHECK(measure(&o, &s,
			      round % 3 ? "offset={rank}ms,drift=-{rank%5}00ppm,tick=1ns"
					: "offset={rank}ms,drift={rank%5}00ppm,tick=1ns",
			      network, &err) == 0,
			"%s", err.text);
		for (i = 1; i < s.n; i++) {
			CHECK(o.tie[i].known && !tie_is_wrong(&o, i), "round %d: rank %d is wrong about itself", round,
				i);
		}
		CHECK(cal_solve(&o.run, 0, &err) == 0, "round %d: %s", round, err.text);
		for (i = 1; i < s.n; i++) {
			CHECK(outside(&o, i, &worst, &widest) == 0, "round %d: rank %d left its bound", round, i);
		}
		finish(&o);
	}
}

/* 64 domains: bounds are sums of what was measured, not more. */
static void a_tree_is_about_as_good_as_a_star(void)
{
	static const char network[] = "delay=1us,jitter=50ns,leaf=16,pod=2,hop=100ns,uneven=20ns,seed=5";
	struct scene s = { 64, CAL_SHAPE_TREE, 2, 0, 10, 10 };
	struct tkm_err err = { .text = "" };
	double worst = 0, widest = 0;
	struct outcome o;
	int i, broken = 0;

	CHECK(measure(&o, &s, "offset={rank}ms,drift={rank}ppm,tick=1ns", network, &err) == 0, "%s", err.text);
	CHECK(cal_solve(&o.run, -1, &err) == 0, "%s", err.text);
	for (i = 1; i < s.n; i++) {
		broken += outside(&o, i, &worst, &widest);
	}
	CHECK_INT(broken, 0);
	CHECK_INT(o.run.net.sessions, 2);
	CHECK(o.run.net.deepest <= 4, "%d exchanges deep", o.run.net.deepest);
	CHECK(worst < 60e-9, "true error %g s", worst);
	CHECK(widest < 10e-6, "bound %g s", widest); /* 4 exchanges of 1.5 us, and what the wander allows in 10 s */
	CHECK(o.longest_s < 7 * 1e-3, "a session took %g s", o.longest_s);
	printf("# 64 domains as a tree: true error %.1f ns, bound %.1f ns, session %.2f ms\n", worst * 1e9,
		widest * 1e9, o.longest_s * 1e3);
	finish(&o);
}

/* The exchanges of a dead rank fail; it is named, and nobody else is worse off than by a wait. */
static void a_dead_rank_is_named_and_left_out(void)
{
	static const struct {
		enum cal_shape shape;
		int n;
		const char *network;
		int dead;
	} cases[] = { { CAL_SHAPE_TREE, 16, "delay=1us,jitter=50ns,dead=5,seed=1", 5 },
		{ CAL_SHAPE_TREE, 37, "delay=1us,jitter=50ns,dead=8,seed=2", 8 },
		{ CAL_SHAPE_STAR, 9, "delay=1us,jitter=50ns,dead=3,seed=3", 3 },
		{ CAL_SHAPE_TREE, 16, "delay=1us,jitter=50ns,dead=6@1ms,seed=4", 6 } };
	size_t c;
	int i;

	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct scene s = { cases[c].n, cases[c].shape, 2, 0, 5, 2 };
		struct tkm_err err = { .text = "" };
		double worst = 0, widest = 0;
		char name[16];
		struct outcome o;
		struct cal_rank *gone;

		CHECK(measure(&o, &s, "offset={rank}ms,drift={rank}ppm,tick=1ns", cases[c].network, &err) == 0, "%s",
			err.text);
		snprintf(name, sizeof(name), "rank %d ", cases[c].dead);
		CHECK(o.report.lost > 0 && strstr(o.report.first.text, name), "case %zu: %zu lost: '%s'", c,
			o.report.lost, o.report.first.text);
		CHECK(o.longest_s < 2 * s.patience_s * (s.shape == CAL_SHAPE_STAR ? 1.5 : 2),
			"case %zu: a session took %g s", c, o.longest_s);
		gone = &o.run.rank[cases[c].dead];
		CHECK(gone->sessions == 2 || s.shape == CAL_SHAPE_STAR, "%zu sessions", gone->sessions);
		gone->sync = CAL_SHARED; /* nothing is known of it: it leaves the run */
		CHECK(cal_solve(&o.run, -1, &err) == 0, "case %zu: %s", c, err.text);
		for (i = 1; i < s.n; i++) {
			CHECK(i == cases[c].dead || outside(&o, i, &worst, &widest) == 0,
				"case %zu: rank %d left its bound", c, i);
		}
		/* the wait tears the session apart: what is believed of the rates has to carry over 2 s of 5 */
		CHECK(widest < 10e-3, "case %zu: bound %g s", c, widest);
		finish(&o);
	}
}

/* A rank stands still for seconds in the middle of a session: its peers wait, or give it up, and nothing is wrong. */
static void a_rank_that_sleeps_makes_bounds_wider_not_wrong(void)
{
	/* clang-format off */
	static const char *const networks[] = {
		"delay=1us,jitter=50ns,stall=3@0.7ms/3s,seed=1", /* within the patience */
		"delay=1us,jitter=50ns,stall=3@0.7ms/30s,seed=2", /* beyond it */
		"delay=1us,jitter=50ns,stall=0@0.7ms/3s,seed=3", /* the master */
		"delay=1us,jitter=50ns,stall=2@0.3ms/8ms,stall=5@0.9ms/8ms,seed=4", /* preemptions */
	};
	/* clang-format on */
	size_t c;
	int i;

	for (c = 0; c < 2 * sizeof(networks) / sizeof(networks[0]); c++) {
		struct scene s = { 8, c % 2 ? CAL_SHAPE_TREE : CAL_SHAPE_STAR, 3, 0, 5, 10 };
		struct tkm_err err = { .text = "" };
		double worst = 0, widest = 0;
		struct outcome o;

		CHECK(measure(&o, &s, "offset={rank}ms,drift={rank}ppm,tick=1ns", networks[c / 2], &err) == 0, "%s",
			err.text);
		CHECK((o.report.lost > 0) == (c / 2 == 1), "case %zu: %zu exchanges lost: %s", c, o.report.lost,
			o.report.first.text);
		CHECK(cal_solve(&o.run, 0, &err) == 0, "case %zu: %s", c, err.text);
		for (i = 1; i < s.n; i++) {
			CHECK(!o.tie[i].known || !tie_is_wrong(&o, i), "case %zu: rank %d is wrong about itself", c, i);
			CHECK(outside(&o, i, &worst, &widest) == 0, "case %zu: rank %d left its bound", c, i);
		}
		printf("# %s, %s: bound %.1f us, longest session %.3g s\n", networks[c / 2], cal_shape_name(s.shape),
			widest * 1e6, o.longest_s);
		finish(&o);
	}
}

/* A clock is set in the middle of a session: its exchanges before and after contradict each other. */
static void a_clock_that_steps_in_a_session_is_reported(void)
{
	struct scene s = { 16, CAL_SHAPE_TREE, 2, 0, 5, 10 };
	struct tkm_err err = { .text = "" };
	struct outcome o;
	int i, named = 0;

	CHECK(measure(&o, &s, "offset={rank}ms,drift={rank}ppm,tick=1ns", "delay=1us,jitter=50ns,seed=7", &err) == 0,
		"%s", err.text);
	/* rank 6's clock was 100 us behind in its later exchanges of the first session */
	for (i = 0; i < (int)o.run.ranks; i++) {
		struct cal_rank *r = &o.run.rank[i];
		size_t e, k;

		for (e = 0; e < r->edges; e++) {
			struct cal_session *x = &r->edge[e];

			for (k = 0; k < x->n && x->at == 0 && ((i == 6 && x->peer == 2) || (i == 7 && x->peer == 6));
				k++) {
				struct cal_sample *p = &x->sample[k];

				if (i == 6) {
					p->send.v -= 100000;
					p->recv.v -= 100000;
				} else {
					p->master_in.v -= 100000;
					p->master_out.v -= 100000;
				}
			}
		}
	}
	CHECK(cal_solve(&o.run, -1, &err) == 0, "%s", err.text);
	CHECK(o.run.net.loops > 0, "nothing was found");
	for (i = 0; i < o.run.net.loop.n; i++) {
		named |= o.run.net.loop.rank[i] == 6;
	}
	CHECK(named, "rank 6 is not among the %d of the loop", o.run.net.loop.n);
	CHECK(o.run.net.gap_s > 50e-6 && o.run.net.gap_s < 101e-6, "gap %g s", o.run.net.gap_s);
	CHECK_INT(o.run.net.loop_session, 0);
	finish(&o);
}

/* A batch in which somebody is preempted is made again: the session's samples lie close together. */
static void hold_ups_are_left_out_of_a_burst(void)
{
	struct cal_link *l = cal_link_sim(
		2, "drift={rank}0ppm,tick=1ns", "delay=500ns,jitter=20ns,outlier=8ms,outliers=0.004,seed=9", NULL);
	const double hz[2] = { 1e9, 1e9 };
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = CAL_SYNC_PAIRS, .hz = hz };
	static const unsigned char exchanges[2] = { 0, 1 };
	int round, wide = 0;

	for (round = 0; round < 200; round++) {
		struct cal_session out[2] = { { .n = 0 } };

		CHECK(cal_sync_session(l, 0, exchanges, &opt, CAL_START, out, NULL) == 0, "session");
		wide += out[1].n == 0 || ltick_sub(out[1].sample[out[1].n - 1].recv, out[1].sample[0].send) > 4000000;
		cal_session_free(&out[1]);
	}
	CHECK(wide <= 2, "%d of 200 sessions were torn apart by preemptions", wide);
	cal_link_close(l);
}

/* Fewer samples certify a little less, never something else. */
static void thinning_keeps_what_says_most(void)
{
	struct cal_link *l =
		cal_link_sim(2, "offset={rank}ms,drift={rank}0ppm,tick=1ns", "delay=500ns,jitter=100ns,seed=3", NULL);
	const double hz[2] = { 1e9, 1e9 };
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = CAL_SYNC_PAIRS, .hz = hz };
	static const unsigned char exchanges[2] = { 0, 1 };
	int round;

	for (round = 0; round < 100; round++) {
		struct cal_session out[2] = { { .n = 0 } };
		struct cal_point all, few;

		CHECK(cal_sync_session(l, 0, exchanges, &opt, CAL_START, out, NULL) == 0, "session");
		CHECK(cal_condense(&out[1], 1, 1e-6, 1, 1, CAL_QUIET, &all, NULL) == 0, "condense");
		cal_session_thin(&out[1], 12, 1);
		CHECK(out[1].n <= 12 && out[1].n >= 6, "%zu samples", out[1].n);
		CHECK(cal_condense(&out[1], 1, 1e-6, 1, 1, CAL_QUIET, &few, NULL) == 0, "condense");
		CHECK_NEAR(few.high - few.low, all.high - all.low, 2);
		cal_session_free(&out[1]);
	}
	cal_link_close(l);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(plans_are_short_and_reach_everybody);
	RUN(crowded_nodes_take_turns);
	RUN(the_graph_gives_the_tightest_sums);
	RUN(the_tree_is_that_of_the_narrowest_edges);
	RUN(the_gap_of_a_loop);
	RUN(a_loop_that_does_not_close_is_found_and_widens);
	RUN(who_is_not_connected_stays_unknown);
	RUN(random_trees_are_always_inside_their_bound);
	RUN(what_is_known_at_once_allows_for_drift);
	RUN(a_tree_is_about_as_good_as_a_star);
	RUN(a_dead_rank_is_named_and_left_out);
	RUN(a_rank_that_sleeps_makes_bounds_wider_not_wrong);
	RUN(a_clock_that_steps_in_a_session_is_reported);
	RUN(hold_ups_are_left_out_of_a_burst);
	RUN(thinning_keeps_what_says_most);
	return check_end();
}
