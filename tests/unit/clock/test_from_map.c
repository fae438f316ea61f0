/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of a map is certain where the map is. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "clock/from_map.h"
#include "clock/page.h"
#include "clock/read.h"
#include "include/clock.h"
#include "tests/lib/check.h"

/* ---- maps of runs ---- */

/* learned: the rate is expected to stay within 10 ppb for a minute after the last session, 1 ppm otherwise. */
/* Of two sessions, by which the clock is 50 ppm fast; global ticks of 0.1 ns. */
static struct cal_map map_of(struct cal_node *node, int learned)
{
	return (struct cal_map){ .nodes = 2,
		.node = node,
		.period_s = 1e-10,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.rate_low = 9.999490,
		.rate_high = 9.999510,
		.learned_low = learned ? 9.9994999 : 0,
		.learned_high = learned ? 9.9995001 : 0,
		.learned_for = learned ? 60000000000 : 0 };
}

static void line_of_a_map(int learned)
{
	/* two sessions 1 s apart, each to within 200 ns */
	struct cal_node node[] = { { .local = { 1000000000 },
					   .global = { 10000000000 },
					   .low = { 9999998000 },
					   .high = { 10000002000 },
					   .used = 1 },
		{ .local = { 2000050000 },
			.global = { 20000000000 },
			.low = { 19999998000 },
			.high = { 20000002000 },
			.used = 1 } };
	struct cal_map m = map_of(node, learned);
	struct tkm_err err;
	struct tkc_state state;
	struct tickmark_time t;
	struct tkc_view v;
	struct tkc_map line;
	int64_t raw;
	int i;

	memset(&state, 0, sizeof(state));
	CHECK_INT(cal_map_line(&m, node[0].local, node[0].global, 1e10 / 1000050000, &err), 0);
	tkc_from_map(&m, node[1].local, 1e9, 50e-9, 100, &line);
	CHECK_INT(line.near_ticks, m.learned_for);
	CHECK_INT(line.status, TICKMARK_OK);
	tkc_write_state(&state, &line, &(struct tkc_watch){ .marker = 0 }, 0);
	tkc_copy(&state, &v);
	/* rounded outwards */
	CHECK(ldexp((double)v.grow, -TKC_SHIFT) > line.grow && ldexp((double)v.near_grow, -TKC_SHIFT) > line.near_grow,
		"%.17g for %.17g", ldexp((double)v.near_grow, -TKC_SHIFT), line.near_grow);
	for (i = 0; i < 10000; i++) {
		raw = node[0].local.v + (int64_t)(check_uniform() * 90e9);
		double map_ns = (double)cal_map_at(&m, ltick(raw)).v / 10,
		       bound_ns = 1e9 * cal_map_bound(&m, ltick(raw));

		CHECK_INT(tkc_interval(&v, raw, &t), TICKMARK_OK);
		/* between the sessions both hold, and either can be narrower */
		CHECK(raw < v.raw ||
				((double)t.earliest_ns <= map_ns - bound_ns - 50 &&
					(double)t.latest_ns >= map_ns + bound_ns + 50),
			"raw %lld: narrower than the map", (long long)raw);
		CHECK((double)(t.latest_ns - t.earliest_ns) < 2 * bound_ns + 2000 + 6e-6 * fabs((double)(raw - v.raw)),
			"raw %lld: %lld, map %g", (long long)raw, (long long)(t.latest_ns - t.earliest_ns),
			2 * bound_ns);
	}
	/* half a minute on: 2 us with what was learned, 30 us without */
	CHECK_INT(tkc_interval(&v, v.raw + 30000000000, &t), TICKMARK_OK);
	CHECK(learned ? t.latest_ns - t.earliest_ns < 4000 : t.latest_ns - t.earliest_ns > 50000, "%lld ns wide",
		(long long)(t.latest_ns - t.earliest_ns));
	CHECK_INT(tkc_interval(&v, node[0].local.v - 1, &t), TICKMARK_TOO_OLD);
	m.nodes = 0;
	m.node = NULL;
	cal_map_free(&m);
}

static void the_line_of_a_map_is_certain_where_the_map_is(void)
{
	struct tkc_map line;

	line_of_a_map(0);
	line_of_a_map(1);
	tkc_from_master(ltick(500), ltick(500 + 22500), 2.25e9, 30e-9, 100, &line);
	CHECK_INT(line.at_ns, 10000);
	CHECK_NEAR(line.half_ns, 30.5, 1e-9);
	CHECK_NEAR(line.grow, 0, 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_line_of_a_map_is_certain_where_the_map_is);
	return check_end();
}
