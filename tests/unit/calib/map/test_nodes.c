/* SPDX-License-Identifier: BSD-3-Clause */
/* From exchanges that were made up to the nodes and the curve of a clock map: clocks that are set within a session, and clocks whose
 * rate changes. */
#include "config.h"
#include "calib/solve/solve.h"
#include "tests/lib/check.h"

enum { SESSIONS = 7, SAMPLES = 40 };

/* Both clocks tick in nanoseconds. Rank 1's is `off` ahead in each session, and `step` more from a sample on. */
static struct {
	struct cal_run run;
	struct cal_rank rank[2];
	struct cal_session session[2][SESSIONS];
	struct cal_sample sample[SESSIONS][SAMPLES];
} world;

static const int64_t off = 1234567;

/* A message takes 100 ticks and up to `queue` more. The clock is set between two samples, or after the first message of that sample. */
static void exchange(int k, int64_t ahead, double queue, int64_t step, int at, int within)
{
	double now = 1e9 * (k + 1);
	int i;

	for (i = 0; i < SAMPLES; i++) {
		int64_t before = ahead + (i >= at + within ? step : 0), after = ahead + (i >= at ? step : 0);
		double send = now += 50000, in = now += 100 + queue * check_uniform(),
		       back = now += 100 + queue * check_uniform();

		world.sample[k][i] = (struct cal_sample){ .send = ltick((int64_t)send + before),
			.master_in = ltick((int64_t)in),
			.master_out = ltick((int64_t)in),
			.recv = ltick((int64_t)back + after) };
	}
	world.session[1][k] = (struct cal_session){ .kind = k == 0 ? CAL_START
			: k == SESSIONS - 1                        ? CAL_END
								   : CAL_MIDDLE,
		.n = SAMPLES,
		.sample = world.sample[k] };
}

static void make(int may_step)
{
	int i, k;

	memset(&world, 0, sizeof(world));
	world.run = (struct cal_run){ .method = CAL_SYNC_PAIRS,
		.ranks = 2,
		.rank = world.rank,
		.max_drift = 10e-6,
		.max_wander = 2e-6,
		.wanted = CAL_CUBIC };
	for (i = 0; i < 2; i++) {
		world.rank[i] = (struct cal_rank){ .rank = i,
			.host = "here",
			.timer = "made",
			.nominal_hz = 1e9,
			.effective_tick_s = 1e-9,
			.may_step = may_step && i,
			.sessions = SESSIONS,
			.session = world.session[i] };
	}
	for (k = 0; k < SESSIONS; k++) {
		exchange(k, off, 10, 0, 0, 0);
	}
}

static int solve(void)
{
	struct tkm_err err = { TKM_OK, "" };
	int rc = cal_solve(&world.run, 0, &err);

	CHECK(rc == 0, "%s", err.text);
	return rc;
}

static void unmake(void)
{
	cal_map_free(&world.rank[0].map);
	cal_map_free(&world.rank[1].map);
}

/* Is what rank 1's clock shows at a node, less `ahead`, inside what is certain there? */
static int holds(const struct cal_node *n, int64_t ahead)
{
	gtick_t truth = cal_map_at(&world.rank[0].map, ltick_add(n->local, -ahead));

	return truth.v >= n->low.v && truth.v <= n->high.v;
}

static void a_clock_that_is_set_by_too_little_to_be_seen(void)
{
	int round, k, outside = 0;

	for (round = 0; round < 200; round++) {
		int64_t step = (int64_t)(check_random() % 181) - 90;

		make(1);
		k = 1 + (int)(check_random() % (SESSIONS - 2));
		exchange(k, off, 1000, step, 1 + (int)(check_random() % (SAMPLES - 1)), 0);
		if (solve() == 0) {
			CHECK_INT(world.rank[1].map.nodes, SESSIONS);
			outside += !holds(&world.rank[1].map.node[k], off) ||
				!holds(&world.rank[1].map.node[k], off + step);
		}
		unmake();
	}
	CHECK(outside == 0, "%d of 200 nodes do not hold what the clock showed before and after it was set", outside);
}

static void a_clock_that_is_set_within_a_session(void)
{
	int round, k = 3, at, within, at_end = 0;

	for (round = 0; round < 300; round++) {
		int64_t step = round % 2 ? 400000 : -400000;
		const struct cal_map *m = &world.rank[1].map;

		/* also within the first sample or the last one, of which nothing remains on one side */
		at = round < 20 ? 0 : round < 40 ? SAMPLES - 1 : 2 + (int)(check_random() % (SAMPLES - 4));
		within = round < 40 || round % 3 == 0;
		make(1);
		exchange(k, off, 10, step, at, within);
		if (solve() == 0) {
			size_t i, before = 0, after = 0;

			for (i = 0; i < m->nodes; i++) {
				if (m->node[i].session == k + 1) {
					before += (size_t)holds(&m->node[i], off);
					after += (size_t)holds(&m->node[i], off + step);
				}
			}
			at_end += before + after == 1;
			CHECK(before <= 1 && after <= 1 && before + after >= 1,
				"set within sample %d: %zu before, %zu after", at, before, after);
			CHECK(round < 40 || (before == 1 && after == 1),
				"set by %lld before sample %d: %zu nodes, %zu, %zu", (long long)step, at, m->nodes,
				before, after);
		}
		unmake();
	}
	/* a step forward within the last message is no contradiction, it looks like a slow message */
	CHECK_INT(at_end, 20);
}

/* All three samples before the clock was set are slower than the rest, so that the filter of the whole session leaves none of them. */
static void what_is_before_a_step_is_filtered_alone(void)
{
	int i;

	make(1);
	exchange(3, off, 10, 400000, 3, 0);
	for (i = 0; i < 3; i++) {
		world.sample[3][i].send.v -= 500;
	}
	solve();
	unmake();
}

/* The rate changes by 1000 ns a second in the middle: only the cubic spline swings before that. */
static void curves_that_overshoot_and_curves_that_do_not(void)
{
	static const double most[CAL_INTERPOLATIONS] = { [CAL_CONSTRAINED] = 8, [CAL_CUBIC] = 60 };
	int k, how;

	make(0);
	for (k = 0; k < SESSIONS; k++) {
		exchange(k, off + (k > 3 ? 1000 * (k - 3) : 0), 10, 0, 0, 0);
	}
	if (solve() == 0) {
		for (how = CAL_CONSTRAINED; how <= CAL_CUBIC; how++) {
			struct tkm_err err = { TKM_OK, "" };
			struct cal_map m;
			double worst = 0;
			int64_t at;

			CHECK(cal_solve_alternative(&world.run, 1, (enum cal_interpolation)how, &m, &err) == 0, "%s",
				err.text);
			for (at = 2050000000; at < 2950000000; at += 50000000) {
				double error = m.period_s * 1e9 *
					(double)gtick_sub(cal_map_at(&m, ltick(at + off)),
						cal_map_at(&world.rank[0].map, ltick(at)));

				worst = fmax(worst, fabs(error));
			}
			CHECK(worst <= most[how] && (how != CAL_CUBIC || worst > 15),
				"%s: off by %g ns before the rate changes",
				cal_interpolation_name((enum cal_interpolation)how), worst);
			cal_map_free(&m);
		}
	}
	unmake();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_clock_that_is_set_by_too_little_to_be_seen);
	RUN(a_clock_that_is_set_within_a_session);
	RUN(what_is_before_a_step_is_filtered_alone);
	RUN(curves_that_overshoot_and_curves_that_do_not);
	return check_end();
}
