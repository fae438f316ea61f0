/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole calibrations over simulated clocks and links, where the truth is known: the
 * error is compared with a limit, and the printed bound must cover it everywhere. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/file/clk.h"
#include "calib/map/map.h"
#include "calib/map/run.h"
#include "calib/session/link.h"
#include "calib/solve/solve.h"
#include "lab/compare/link_sim.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/unit/calib/scenario.h"

static double between(double low, double high)
{
	return low + (high - low) * check_uniform();
}

static const char quiet[] = "delay=100ns,jitter=20ns,read=14ns";

/* clang-format off */
static const struct scenario scenarios[] = {
	{ "offset only", 3, "offset={rank}ms,tick=7.3ns", "delay=100ns,jitter=20ns,read=14ns,seed=1", 10, 0, -1, 15e-9, 180e-9, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "50 ppm, start and end", 3, "offset={rank}s,drift={rank}5ppm,tick=7.3ns", "delay=100ns,jitter=20ns,seed=2", 10, 0, -1,
		25e-9, 180e-9, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, a line", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=3", 60, 0, -1, 0, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, spline each 10 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=4", 60,
		10, 0, 700e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, spline each 5 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=5", 60, 5,
		0, 150e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "heavy jitter", 3, "drift={rank}0ppm,tick=1ns", "delay=1us,jitter=5us,dist=exponential,seed=6", 10, 0, -1, 3e-6, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "uniform jitter", 2, "drift=-30ppm,tick=10ns", "delay=500ns,jitter=200ns,dist=uniform,seed=7", 10, 0, -1, 100e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "normal jitter", 2, "drift=3ppm,tick=10ns", "delay=500ns,jitter=200ns,dist=normal,seed=8", 10, 0, -1, 100e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "asymmetry", 2, "tick=1ns", "delay=1us,jitter=50ns,asym=800ns,seed=9", 10, 0, -1, 450e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "large asymmetry", 2, "tick=1ns,drift=20ppm", "delay=1us,jitter=50ns,asym=50us,seed=10", 10, 0, -1, 26e-6, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "loss and preemption", 3, "drift={rank}5ppm,tick=10ns", "delay=1us,jitter=100ns,outlier=8ms,outliers=0.02,loss=0.05,seed=11",
		10, 0, -1, 1e-6, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "noise", 2, "drift=12ppm,tick=1ns,noise=5ns,seed={rank}", "delay=100ns,jitter=20ns,seed=12", 10, 0, -1, 25e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "coarse clock", 2, "drift={rank}2ppm,tick=1us", "delay=2us,jitter=300ns,seed=13", 10, 0, -1, 700e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "two grids", 4, "drift={rank}ppm,tick={rank}3ns", "delay=300ns,jitter=50ns,seed=14", 5, 0, -1, 40e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, cubic each 10 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=4", 60,
		10, 0, 400e-9, 0, CAL_CUBIC, CAL_SYNC_ITC },
	{ "wobble, cubic each 5 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=5", 60, 5,
		0, 40e-9, 0, CAL_CUBIC, CAL_SYNC_ITC },
};
/* clang-format on */

/* Global time that a rank's map gives to what its clock shows at a true time. */
static double global_at(
	const struct cal_link *l, const struct cal_run *run, int rank, int64_t true_ps, ltick_t *local, gtick_t *whole)
{
	const struct cal_map *m = &run->rank[rank].map;
	double fraction;

	*local = tmr_sim_truth(cal_link_sim_clock(l, rank), true_ps, &fraction);
	*whole = cal_map_at(m, *local);
	return fraction * cal_map_slope(m, *local);
}

/* Largest true error of a rank against the master over the run, and how often the bound was broken. */
static double worst_error(
	const struct cal_link *l, const struct cal_run *run, int rank, int64_t begin_ps, int64_t end_ps, int *broken)
{
	double worst = 0;
	int i;

	*broken = 0;
	for (i = 0; i <= 400; i++) {
		int64_t at = begin_ps + (int64_t)((double)(end_ps - begin_ps) * i / 400);
		ltick_t local0, local1;
		gtick_t g0, g1;
		double f0 = global_at(l, run, 0, at, &local0, &g0), f1 = global_at(l, run, rank, at, &local1, &g1);
		double error = fabs((double)gtick_sub(g1, g0) + f1 - f0) * run->period_s;

		worst = fmax(worst, error);
		*broken += error > cal_map_bound(&run->rank[rank].map, local1);
	}
	return worst;
}

static void scenarios_stay_inside_limit_and_bound(void)
{
	size_t i;

	/* each by both methods */
	for (i = 0; i < 2 * (sizeof(scenarios) / sizeof(scenarios[0])); i++) {
		struct scenario one = scenarios[i / 2];
		const struct scenario *sc = &one;
		struct tkm_err err = { 0 };
		struct cal_link *l = cal_link_sim(sc->ranks, sc->clocks, sc->network, &err);
		struct cal_run run;
		int64_t begin;
		int r, broken;

		one.method = i % 2 ? CAL_SYNC_PAIRS : CAL_SYNC_ITC;
		CHECK(l != NULL, "%s: %s", sc->name, err.text);
		if (!l) {
			continue;
		}
		begin = cal_link_sim_time(l)->now_ps;
		CHECK(calibrate(l, sc, &run, &err) == 0, "%s: %s", sc->name, err.text);
		for (r = 1; r < sc->ranks; r++) {
			const struct cal_map *m = &run.rank[r].map;
			double worst = worst_error(l, &run, r, begin, cal_link_sim_time(l)->now_ps, &broken);

			CHECK(m->steps == 0, "%s: rank %d: %zu steps that there were not", sc->name, r, m->steps);
			CHECK(broken == 0, "%s: rank %d left its bound at %d of 401 points, error %g s", sc->name, r,
				broken, worst);
			CHECK(sc->limit_s == 0 || worst <= sc->limit_s, "%s: rank %d is %g s off, limit %g", sc->name,
				r, worst, sc->limit_s);
			CHECK(sc->widest_s == 0 || cal_map_bound(m, m->node[0].local) <= sc->widest_s,
				"%s: rank %d: a bound of %g s says nothing", sc->name, r,
				cal_map_bound(m, m->node[0].local));
			printf("# %-5s %-26s rank %d: true error %.1f ns, bound %.1f ns at the sessions\n",
				i % 2 ? "pairs" : "itc", sc->name, r, worst * 1e9,
				cal_map_bound(m, m->node[0].local) * 1e9);
		}
		CHECK_NEAR((double)run.end.v * run.period_s, sc->seconds, 1e-2 + sc->seconds * 1e-4);
		cal_run_free(&run);
		cal_link_close(l);
	}
}

/* Three sessions on each tick of a coarse clock, or all: it neither stood nor was set, whether the map uses them all or start and end
 * alone. One that shows the same at the next session because it was set back by as much was, and so was one that went back by more. */
static void sessions_on_one_tick_are_no_step(void)
{
	static const struct {
		const char *clocks;
		double seconds, every;
		int skip;
		size_t steps, nodes;
	} runs[] = { { "drift={rank}ppm,tick=100ms", 0.86, 0.03, -1, 0, 8 },
		{ "drift={rank}ppm,tick=100ms", 0.86, 0.03, 0, 0, 8 },
		{ "offset=300ms,drift={rank}ppm,tick=1s", 0.5, 0.1, 0, 0, 1 },
		{ "offset=300ms,drift={rank}ppm,tick=1s", 0.5, 0.1, -1, 0, 1 },
		{ "step=-{rank}00ms@250ms,tick=10ms", 0.9, 0.1, -1, 1, 10 },
		{ "step=-{rank}00ms@250ms,tick=10ms", 0.9, 0.1, 0, 1, 10 },
		{ "step=-{rank}s@450ms,tick=100ms", 0.86, 0.03, -1, 1, 8 },
		{ "step=-{rank}s@450ms,tick=100ms", 0.86, 0.03, 0, 1, 8 } };
	struct scenario sc = { "one tick", 2, NULL, quiet, 0, 0, 0, 0, 0, CAL_CUBIC, CAL_SYNC_PAIRS };
	size_t i;
	int broken;

	for (i = 0; i < 2 * sizeof(runs) / sizeof(runs[0]); i++) {
		struct cal_run run;
		struct tkm_err err;
		struct cal_link *l = cal_link_sim(2, runs[i / 2].clocks, sc.network, &err);
		int64_t begin = cal_link_sim_time(l)->now_ps;
		const struct cal_map *m;

		sc.clocks = runs[i / 2].clocks;
		sc.seconds = runs[i / 2].seconds;
		sc.every = runs[i / 2].every;
		sc.skip = runs[i / 2].skip;
		sc.method = i % 2 ? CAL_SYNC_ITC : CAL_SYNC_PAIRS;
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%zu: %s", i, err.text);
		m = &run.rank[1].map;
		CHECK(m->steps == runs[i / 2].steps, "%zu: %zu steps", i, m->steps);
		CHECK(m->nodes >= runs[i / 2].nodes && m->nodes <= runs[i / 2].nodes + 2, "%zu: %zu nodes", i,
			m->nodes);
		CHECK(m->nodes > 0 && m->node[0].used && m->node[m->nodes - 1].used, "%zu: the ends are not used", i);
		worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
		CHECK(broken == 0, "%zu: %d outside", i, broken);
		CHECK(!run.contradicted, "%zu: %s", i, run.rank[1].contradiction);
		cal_run_free(&run);
		cal_link_close(l);
	}
}

/* A clock that is never set may have jumped when its machine was moved; that of rank 0 against all. */
static void a_moved_machine_may_have_stepped(void)
{
	struct scenario sc = { "moved", 3, "drift={rank}ppm,tick=3ns", quiet, 10, 1, -1, 0, 0, CAL_CUBIC,
		CAL_SYNC_PAIRS };
	struct cal_run run;
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(3, sc.clocks, sc.network, &err);
	int moved, r;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	for (moved = -1; moved < 3; moved++) {
		for (r = 0; r < 3; r++) {
			run.rank[r].disruption_changed = r == moved ? 5 : 0;
		}
		CHECK(cal_solve(&run, -1, &err) == 0, "%s", err.text);
		CHECK_INT(run.contradicted, moved >= 0);
		for (r = 1; r < 3; r++) {
			CHECK(run.rank[r].map.may_step == (moved == 0 || moved == r), "rank %d, moved %d: %d", r, moved,
				run.rank[r].map.may_step);
		}
	}
	cal_run_free(&run);
	cal_link_close(l);
}

/* The map is split at a step, although it was to use start and end only: exact on both sides, and the bound
 * says what is not known in between. */
static void a_step_splits_the_map(void)
{
	struct scenario sc = { "step", 2, "step={rank}00us@4.5s,tick=1ns", quiet, 10, 1, -1, 0, 0, CAL_CONSTRAINED,
		CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	const struct cal_map *m;
	struct cal_run run;
	int64_t begin = cal_link_sim_time(l)->now_ps;
	size_t i;
	int broken;

	CHECK(l && calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	m = &run.rank[1].map;
	CHECK_INT(m->parts, 2);
	CHECK_INT(m->steps, 1);
	CHECK(m->step[0].certain && fabs(m->step[0].size_s - 100e-6) <= m->step[0].within_s &&
			m->step[0].within_s < 5e-6,
		"step of %g +- %g s", m->step[0].size_s, m->step[0].within_s);
	for (i = 0; i + 1 < m->nodes && m->node[i].local.v != m->step[0].from.v; i++) {
	}
	CHECK_INT(i, 4); /* nodes at 0, 1, ... 10 s */
	for (i = 0; i < m->nodes; i++) {
		gtick_t at = cal_map_at(m, m->node[i].local);

		CHECK(gtick_sub(at, m->node[i].low) >= 0 && gtick_sub(at, m->node[i].high) <= 0, "node %zu is outside",
			i);
	}
	worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
	CHECK_INT(broken, 0);
	cal_run_free(&run);
	cal_link_close(l);
}

/* A clock that swings as fast as is believed did not step. */
static void wobble_is_no_step(void)
{
	int round, found = 0;

	for (round = 0; round < 60; round++) {
		char network[100];
		struct scenario sc = { "wobble", 2,
			"drift={rank}50ppm,wobble={rank}ppm/60s,tick=7.{rank}ns,noise=2ns,seed={rank}", network, 0,
			between(1, 10), 0, 0, 0, CAL_CUBIC, CAL_SYNC_PAIRS };
		struct cal_link *l;
		struct tkm_err err;
		struct cal_run run;

		sc.seconds = floor(between(4, 15)) * sc.every;
		snprintf(network, sizeof(network), "delay=100ns,jitter=20ns,outlier=8ms,outliers=0.001,seed=%d", round);
		l = cal_link_sim(2, sc.clocks, network, &err);
		cal_link_sleep(l, between(0, 60));
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		found += run.rank[1].map.steps > 0;
		CHECK(run.rank[1].map.max_wander <= 1.05e-6, "a wander of %g", run.rank[1].map.max_wander);
		cal_run_free(&run);
		cal_link_close(l);
	}
	CHECK_INT(found, 0);
}

static void random_runs_are_always_inside_their_bound(void)
{
	int round, broken, total = 0;

	for (round = 0; round < 300 * check_times; round++) {
		char clocks[160], network[160];
		struct scenario sc = { "random", 2, clocks, network, 1 + 20 * check_uniform(), 0, -1, 0, 0,
			CAL_CONSTRAINED, CAL_SYNC_ITC };
		struct cal_link *l;
		struct tkm_err err;
		struct cal_run run;
		int64_t begin;

		snprintf(clocks, sizeof(clocks), "offset=%.3fms,drift={rank}%.3fppm,wobble={rank}ppm/%.1fs,tick=%.2fns",
			1e3 * check_uniform(), 10 * check_uniform(), 5 + 50 * check_uniform(),
			0.5 + 20 * check_uniform());
		snprintf(network, sizeof(network),
			"delay=%.0fns,jitter=%.0fns,asym=%.0fns,outlier=1ms,outliers=%.3f,seed=%d",
			50 + 2000 * check_uniform(), 500 * check_uniform(), 3000 * check_uniform(),
			0.05 * check_uniform(), round);
		l = cal_link_sim(2, clocks, network, &err);
		CHECK(l != NULL, "%s", err.text);
		sc.method = round % 2 ? CAL_SYNC_PAIRS : CAL_SYNC_ITC;
		begin = cal_link_sim_time(l)->now_ps;
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
		CHECK(broken == 0, "round %d: %s over %s left the bound", round, clocks, network);
		total += broken;
		cal_run_free(&run);
		cal_link_close(l);
	}
	CHECK_INT(total, 0);
}

/* Most messages are held up for milliseconds: sessions last long, the regression's slope is off by hundreds of
 * ppm, and what is called certain must not believe it. */
static void bad_conditions_widen_the_bound_and_never_break_it(void)
{
	int round, broken;
	double widest = 0;

	for (round = 0; round < 100 * check_times; round++) {
		char clocks[160], network[160];
		struct scenario sc = { "bad conditions", 2, clocks, network, 1 + 2 * check_uniform(), 0, -1, 0, 0,
			CAL_CONSTRAINED, round % 2 ? CAL_SYNC_PAIRS : CAL_SYNC_ITC };
		struct cal_link *l;
		struct tkm_err err;
		struct cal_run run;
		int64_t begin;

		snprintf(
			clocks, sizeof(clocks), "offset={rank}ms,drift={rank}%.3fppm,tick=7.3ns", 10 * check_uniform());
		snprintf(network, sizeof(network), "delay=200ns,jitter=%.1fms,outlier=%.1fms,outliers=%.2f,seed=%d",
			3 * check_uniform(), 1 + 8 * check_uniform(), 0.4 + 0.5 * check_uniform(), round);
		l = cal_link_sim(2, clocks, network, &err);
		CHECK(l != NULL, "%s", err.text);
		begin = cal_link_sim_time(l)->now_ps;
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
		CHECK(broken == 0, "round %d: %s over %s left the bound", round, clocks, network);
		widest = fmax(widest, cal_map_bound(&run.rank[1].map, run.rank[1].map.node[0].local));
		cal_run_free(&run);
		cal_link_close(l);
	}
	CHECK(widest > 1e-5, "conditions were not bad: no bound above %g s", widest);
}

/* ---- the file ---- */

static char *as_text(const struct cal_run *run, size_t *length)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, length);

	CHECK(cal_clk_write(f, run, "test", NULL) == 0, "write");
	fclose(f);
	return text;
}

/* A step leads to a map of two pieces, and the middle sessions to a curve. */
static void calibrate_and_free(enum cal_sync_method method)
{
	struct scenario sc = { "heap", 3, "tick=1ns,step={rank}s@700ms", quiet, 2, 0.1, 0, 0, 0, CAL_CUBIC, method };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(3, sc.clocks, sc.network, &err);
	struct cal_run run, back;
	char *text;
	size_t n;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	text = as_text(&run, &n);
	CHECK(cal_clk_read(text, n, "x.clk", &back, &err) == 0, "%s", err.text);
	cal_run_free(&back);
	CHECK(cal_clk_read(text, n / 2, "x.clk", &back, &err) < 0, "half a file was taken");
	free(text);
	cal_run_free(&run);
	cal_link_close(l);
}

#if HEAP_IS_COUNTED
/* A map is either the right one, or there is an error. */
static void solve_with_failing_allocations(enum cal_sync_method method, double every)
{
	struct scenario sc = { "memory", 3, every > 0 ? "tick=1ns,step={rank}s@700ms" : "tick=1ns", quiet, 2, every, 0,
		0, 0, CAL_CUBIC, method };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(3, sc.clocks, sc.network, &err);
	struct cal_run run;
	char *good, *text;
	long all, n, failed = 0, before;
	size_t length, m;
	int rc;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	all = heap_asked;
	CHECK(cal_solve(&run, 0, &err) == 0, "%s", err.text);
	all = heap_asked - all;
	good = as_text(&run, &length);
	before = heap_pieces;
	for (n = 1; n <= all; n++) {
		err.text[0] = '\0';
		heap_fails = heap_asked + n;
		rc = cal_solve(&run, 0, &err);
		heap_fails = 0;
		if (rc < 0) {
			failed++;
			CHECK(err.text[0], "allocation %ld of %ld: no reason", n, all);
		} else {
			text = as_text(&run, &m);
			CHECK(m == length && memcmp(text, good, m) == 0, "allocation %ld of %ld: another map", n, all);
			free(text);
		}
	}
	printf("# %ld allocations, %ld of them are needed\n", all, failed);
	CHECK(failed > all / 2, "%ld of %ld", failed, all);
	CHECK(cal_solve(&run, 0, &err) == 0, "%s", err.text);
	CHECK(heap_pieces == before, "%ld pieces of memory are kept", heap_pieces - before);
	free(good);
	cal_run_free(&run);
	cal_link_close(l);
}

static void each_allocation_that_fails_is_an_error(void)
{
	solve_with_failing_allocations(CAL_SYNC_ITC, 0.2);
	solve_with_failing_allocations(CAL_SYNC_ITC, 0); /* a line through two sessions */
	solve_with_failing_allocations(CAL_SYNC_PAIRS, 0.2);
}
#endif

static void by_itc(void)
{
	calibrate_and_free(CAL_SYNC_ITC);
}

static void by_pairs(void)
{
	calibrate_and_free(CAL_SYNC_PAIRS);
}

static void all_memory_is_given_back(void)
{
	CHECK_HEAP(by_itc, 20);
	CHECK_HEAP(by_pairs, 20);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(scenarios_stay_inside_limit_and_bound);
	RUN(sessions_on_one_tick_are_no_step);
	RUN(a_moved_machine_may_have_stepped);
	RUN(a_step_splits_the_map);
	RUN(wobble_is_no_step);
	RUN(random_runs_are_always_inside_their_bound);
	RUN(bad_conditions_widen_the_bound_and_never_break_it);
	RUN(all_memory_is_given_back);
#if HEAP_IS_COUNTED
	RUN(each_allocation_that_fails_is_an_error);
#else
	SKIP("each_allocation_that_fails_is_an_error", HEAP_WHY);
#endif
	return check_end();
}
