/* SPDX-License-Identifier: BSD-3-Clause */
/* What is handed on along a tree contains the truth of simulated clocks. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "calib/map/run.h"
#include "calib/map/sample.h"
#include "calib/session/link.h"
#include "calib/session/plan.h"
#include "calib/session/sync.h"
#include "calib/solve/solve.h"
#include "calib/tree/tie.h"
#include "lab/compare/link_sim.h"
#include "timers/sources/sim.h"
#include "timers/timer.h"
#include "tests/lib/check.h"

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(random_trees_are_always_inside_their_bound);
	RUN(what_is_known_at_once_allows_for_drift);
	RUN(a_tree_is_about_as_good_as_a_star);
	RUN(a_dead_rank_is_named_and_left_out);
	RUN(a_rank_that_sleeps_makes_bounds_wider_not_wrong);
	RUN(a_clock_that_steps_in_a_session_is_reported);
	return check_end();
}
