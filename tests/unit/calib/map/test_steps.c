/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps between sessions, on nodes with made-up data: which steps must be found, and what is noise. A global tick
 * is 1 ns. */
#include "config.h"
#include "calib/map/curve.h"
#include "calib/map/map.h"
#include "calib/map/run.h"
#include "tests/lib/check.h"

enum { NODES = 12 };

static const double apart_s = 2;

/* A node every apart_s of a clock that is 20 ppm fast, `half` wide; the point is off by `off` of it. */
static void make_map(struct cal_map *m, struct cal_node *node, double half_ns, double sigma_ns, const double *off)
{
	int i;

	*m = (struct cal_map){
		.nodes = NODES, .node = node, .period_s = 1e-9, .max_drift = 500e-6, .max_wander = 1e-6
	};
	for (i = 0; i < NODES; i++) {
		int64_t global = llrint(i * apart_s * 1e9);
		/* the interval is certain: it holds the truth wherever the point lies */
		double middle = (double)global + half_ns * 0.9 * (2 * check_uniform() - 1);

		node[i] = (struct cal_node){ .local = ltick(llrint((double)global * (1 + 20e-6))),
			.global = gtick(global + llrint(off[i])),
			.low = gtick(llrint(middle - half_ns)),
			.high = gtick(llrint(middle + half_ns)),
			.used = 1,
			.sigma = sigma_ns,
			.session = i + 1 };
	}
}

static size_t steps_of(struct cal_map *m)
{
	struct tkm_err err;
	size_t n;

	CHECK(cal_map_split(m, 1, &err) == 0, "%s", err.text);
	n = m->steps;
	free(m->part);
	free(m->step);
	return n;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - check_uniform())) * cos(2 * M_PI * check_uniform());
}

/* 300 ns wide intervals, points good to 5 ns: three half widths are found wherever they happen. */
static void three_half_widths_are_found(void)
{
	const double half = 300;
	int round, i;

	for (round = 0; round < 500 * check_times; round++) {
		int after = 1 + (int)((NODES - 1) * check_uniform()), forth = check_uniform() < 0.5;
		double off[NODES], size = (forth ? 1 : -1) * half * (3.02 + 3 * check_uniform());
		struct cal_node node[NODES];
		struct cal_map m;
		struct tkm_err err;

		for (i = 0; i < NODES; i++) {
			off[i] = 5 * normal();
		}
		make_map(&m, node, half, 5, off);
		for (i = 0; i < NODES; i++) {
			double middle = 0.5 * (double)(node[i].low.v + node[i].high.v);

			/* the middle of the interval is near the point, as it is where paths are alike both ways */
			node[i].low = gtick_add(node[i].low, llrint((double)node[i].global.v - middle));
			node[i].high = gtick_add(node[i].high, llrint((double)node[i].global.v - middle));
			if (i >= after) {
				node[i].local = ltick_add(node[i].local, llrint(size));
			}
		}
		CHECK(cal_map_split(&m, 1, &err) == 0, "%s", err.text);
		CHECK(m.steps == 1 && m.part[1].node == (size_t)after,
			"round %d: %zu steps; one of %.0f ns before node %d was made", round, m.steps, size, after);
		CHECK(m.steps != 1 || fabs(m.step[0].size_s * 1e9 - size) <= m.step[0].within_s * 1e9,
			"%g s is not %g ns", m.step[0].size_s, size);
		free(m.part);
		free(m.step);
	}
}

/* Messages held up for milliseconds: points are off by most of the half width, and say so. */
static void held_up_messages_are_no_step(void)
{
	const double half = 50000;
	int round, i;

	for (round = 0; round < 500 * check_times; round++) {
		double off[NODES];
		struct cal_node node[NODES];
		struct cal_map m;

		for (i = 0; i < NODES; i++) {
			off[i] = 0.7 * half * (2 * check_uniform() - 1);
		}
		make_map(&m, node, half, 0.5 * half, off);
		CHECK_INT(steps_of(&m), 0);
	}
}

/* On a busy machine messages wait on one of the two ways, and all of a short session may: its interval is wider by that, and its
 * point off by half of it. Neighbouring sessions were so in a job beside four others. */
static void messages_held_up_one_way_are_no_step(void)
{
	const double half = 400;
	int round, i;

	for (round = 0; round < 500 * check_times; round++) {
		double off[NODES], late[NODES];
		struct cal_node node[NODES];
		struct cal_map m;

		for (i = 0; i < NODES; i++) {
			late[i] = check_uniform() < 0.3 ? 20000 * check_uniform() : 0;
			off[i] = (round % 2 ? 1 : -1) * 0.5 * late[i] + 10 * normal();
		}
		make_map(&m, node, half, 10, off);
		for (i = 0; i < NODES; i++) {
			node[i].low = gtick_add(node[i].global, -llrint(half + 0.5 * late[i]));
			node[i].high = gtick_add(node[i].global, llrint(half + 0.5 * late[i]));
		}
		CHECK_INT(steps_of(&m), 0);
	}
}

/* A mean over exchanges that were held up can lie outside of what is certain, however small its standard error. */
static void a_point_outside_its_interval_is_no_step(void)
{
	const double half = 20000;
	int round, i;

	for (round = 0; round < 500 * check_times; round++) {
		double off[NODES];
		struct cal_node node[NODES];
		struct cal_map m;

		for (i = 0; i < NODES; i++) {
			off[i] = check_uniform() < 0.3
				? half * (2 + 13 * check_uniform()) * (check_uniform() < 0.5 ? -1 : 1)
				: 0;
		}
		make_map(&m, node, half, 100, off);
		CHECK_INT(steps_of(&m), 0);
	}
}

/* A clock that swings as fast as is believed, looked at anywhere in its swing: where most pairs of nodes happen to be
 * where its rate goes straight, those where it turns are no step all the same. */
static void a_swing_is_no_step(void)
{
	int round, i, found = 0;

	for (round = 0; round < 3000 * check_times; round++) {
		double every = 2 + 8 * check_uniform(), phase = 2 * M_PI * check_uniform(),
		       turn = 2 * M_PI / (60 + 60 * check_uniform());
		double off[NODES] = { 0 }, half = 100 + 300 * check_uniform();
		struct cal_node node[NODES];
		struct cal_map m;

		make_map(&m, node, half, 5, off);
		for (i = 0; i < NODES; i++) {
			double at = i * every, swing = 1e3 / turn * cos(turn * at + phase); /* 1 ppm */

			node[i].global = gtick(llrint(at * 1e9));
			node[i].low = gtick_add(node[i].global, -llrint(half));
			node[i].high = gtick_add(node[i].global, llrint(half));
			node[i].local = ltick(llrint(at * 1e9 * (1 + 20e-6) + swing + 5 * normal()));
		}
		found += steps_of(&m) > 0;
	}
	CHECK_INT(found, 0);
}

/* Seconds that a clock is ahead, t seconds into the run: its rate jumps by `jump` at `from`, and back at `to`. */
struct jump {
	double drift, jump, from, to;
};

static double ahead(const struct jump *j, double t)
{
	return j->drift * t + (t > j->from ? j->jump * (fmin(t, j->to) - j->from) : 0);
}

/* How many of 50 points of the run are outside the bound of the map through the nodes. */
static int outside(struct cal_map *m, const struct jump *j, double seconds)
{
	int i, n = 0;

	for (i = 0; i < 50; i++) {
		ltick_t at = ltick(llrint(seconds * 1e9 * check_uniform()));
		double truth = (double)at.v * 1e-9 + ahead(j, (double)at.v * 1e-9);

		/* a nanosecond for what a double carries of the time */
		n += fabs((double)cal_map_at(m, at).v * m->period_s - truth) > cal_map_bound(m, at) + 1e-9;
	}
	return n;
}

/* Each pair of sessions contradicts max_wander: then that is wrong, and it grows. It is not said that the clock was set each time. */
static void a_clock_that_never_keeps_its_rate_is_no_series_of_steps(void)
{
	double off[NODES] = { 0 };
	struct cal_node node[NODES];
	struct cal_map m;
	int i, swing;

	for (swing = 10000; swing <= 80000; swing *= 2) { /* ns in 2 s */
		make_map(&m, node, 300, 5, off);
		for (i = 0; i < NODES; i++) {
			node[i].local = ltick_add(node[i].local, i % 2 ? swing : 0);
		}
		CHECK(steps_of(&m) == 0, "swings of %d ns: %zu steps", swing, m.steps);
		CHECK(m.max_wander > 0.25e-9 * swing, "swings of %d ns: wander %g", swing, m.max_wander);
	}
}

/* A rate that jumps by up to twice what max_wander allows around a constant, once or there and back, wherever it does. */
static void a_rate_that_jumps_within_wander_stays_inside_the_bound(void)
{
	int round, i, broken = 0;

	for (round = 0; round < 1000 * check_times; round++) {
		int n = 2 + (int)(11 * check_uniform());
		double every = 0.5 * pow(20, check_uniform()), half = 100 + 400 * check_uniform(),
		       seconds = (n - 1) * every;
		struct jump j = { .drift = 50e-6 * (2 * check_uniform() - 1),
			.jump = 2e-6 * (2 * check_uniform() - 1),
			.from = seconds * check_uniform() };
		struct cal_map m = { .nodes = (size_t)n,
			.node = calloc((size_t)n, sizeof(*m.node)),
			.period_s = 1e-10,
			.max_drift = 500e-6,
			.max_wander = 1e-6 };
		struct tkm_err err;

		j.to = check_uniform() < 0.5 ? INFINITY : j.from + (seconds - j.from) * check_uniform();
		for (i = 0; i < n; i++) {
			double t = i * every, off = 0.9 * half * (2 * check_uniform() - 1);
			gtick_t truth = gtick(llrint((t + ahead(&j, t)) * 1e10));

			m.node[i] = (struct cal_node){ .local = ltick(llrint(t * 1e9)),
				.global = gtick_add(truth, llrint(50 * normal())),
				.low = gtick_add(truth, llrint(10 * (off - half)) - 15),
				.high = gtick_add(truth, llrint(10 * (off + half)) + 15),
				.used = 1,
				.sigma = 50,
				.session = i + 1 };
		}
		CHECK(cal_map_split(&m, 10, &err) == 0 && cal_curve(&m, 0, CAL_SPLINE_CUBIC, 10, &err) == 0, "%s",
			err.text);
		broken += outside(&m, &j, seconds) > 0;
		cal_map_free(&m);
	}
	CHECK_INT(broken, 0);
}

/* For pictures: steps of several ranks, each with a name as long as there is room, then joined where their times overlap. */
static void steps_are_joined_where_there_is_no_room(void)
{
	struct cal_step step[5] = {
		{ .from_global = gtick(1000000000), .to_global = gtick(2000000000), .size_s = 1e-3 },
		{ .from_global = gtick(1500000000), .to_global = gtick(2500000000), .size_s = -9e-3 },
		{ .from_global = gtick(7000000000), .to_global = gtick(8000000000), .size_s = 2e-3 },
		{ .from_global = gtick(500000000), .to_global = gtick(1200000000), .size_s = 4e-3 },
		{ .from_global = gtick(9000000000), .to_global = gtick(9500000000), .size_s = 3e-3 }
	};
	struct cal_rank rank[4] = { { .map = { .step = step, .steps = 1 } },
		{ .map = { .step = step + 1, .steps = 2 } }, { .rank = 2 },
		{ .map = { .step = step + 3, .steps = 2 } } };
	struct cal_run run = { .ranks = 4, .rank = rank, .period_s = 1e-9 };
	struct cal_step_group g[8];

	CHECK_INT(cal_group_steps(&run, g, 5), 5);
	CHECK(g[1].from_s == 1.5 && g[1].to_s == 2.5 && g[1].size_s == -9e-3 && g[1].rank == 1 && g[1].n == 1,
		"%g to %g", g[1].from_s, g[1].to_s);
	CHECK_INT(cal_group_steps(&run, g, 4), 3);
	CHECK(g[0].from_s == 0.5 && g[0].to_s == 2.5 && g[0].size_s == -9e-3 && g[0].rank == 1 && g[0].n == 3,
		"%zu steps, %g to %g", g[0].n, g[0].from_s, g[0].to_s);
	CHECK(g[1].from_s == 7 && g[1].n == 1 && g[2].from_s == 9 && g[2].rank == 3, "%g, %g", g[1].from_s,
		g[2].from_s);
	/* no room even so: the last has the rest */
	CHECK_INT(cal_group_steps(&run, g, 2), 2);
	CHECK(g[1].from_s == 7 && g[1].to_s == 9.5 && g[1].n == 2 && g[1].size_s == 3e-3, "%g to %g", g[1].from_s,
		g[1].to_s);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(three_half_widths_are_found);
	RUN(held_up_messages_are_no_step);
	RUN(messages_held_up_one_way_are_no_step);
	RUN(a_point_outside_its_interval_is_no_step);
	RUN(a_swing_is_no_step);
	RUN(a_clock_that_never_keeps_its_rate_is_no_series_of_steps);
	RUN(a_rate_that_jumps_within_wander_stays_inside_the_bound);
	RUN(steps_are_joined_where_there_is_no_room);
	return check_end();
}
