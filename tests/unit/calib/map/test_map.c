/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock map against arithmetic that is slower and exact, and against Kruger's formulas as printed. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "tests/lib/check.h"

#include <math.h>

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(check_uniform() * (double)(high - low));
}

static void a_line_is_exact_over_thirty_days(void)
{
	int round, i;

	for (round = 0; round < 200; round++) {
		struct cal_map m = { 0 };
		double slope = 4 + 6 * check_uniform();
		int64_t l0 = between(0, 1LL << 60), g0 = between(-1000000, 1LL << 50);
		int64_t days30 = (int64_t)(30.0 * 86400 * 2.5e9);

		CHECK(cal_map_line(&m, ltick(l0), gtick(g0), slope, NULL) == 0, "line");
		for (i = 0; i < 100; i++) {
			int64_t l = between(-days30, days30);
			/* 64 bits of mantissa against numbers below 2^56 */
			long double want = (long double)g0 + (long double)slope * (long double)l;
			gtick_t got = cal_map_at(&m, ltick(l0 + l));

			CHECK(fabsl((long double)got.v - want) <= 1.0L, "%lld ticks on, slope %.17g: %lld, want %.3Lf",
				(long long)l, slope, (long long)got.v, want);
		}
		cal_map_free(&m);
	}
}

/* Every stamp in a span, its ends too, must be what the map says, to the tick. Returns how many there were in one. */
static long spans_agree(const struct cal_map *m, int64_t low, int64_t high)
{
	struct cal_span s;
	long in = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		int64_t l = between(low, high), k, at[4];

		cal_map_span(m, ltick(l), &s);
		at[0] = l;
		at[1] = s.from;
		at[2] = s.to;
		at[3] = s.to > s.from ? s.from + between(0, s.to - s.from < 1LL << 50 ? s.to - s.from : 1LL << 50)
				      : s.to;
		for (k = 0; k < 4 && s.from <= s.to; k++) {
			int64_t want = cal_map_at(m, ltick(at[k])).v;

			CHECK(at[k] >= s.from && at[k] <= s.to, "%lld is not in its span", (long long)at[k]);
			CHECK(cal_span_at(&s, at[k]) == want, "at %lld: %lld, the map says %lld", (long long)at[k],
				(long long)cal_span_at(&s, at[k]), (long long)want);
			in++;
		}
	}
	return in;
}

static void a_span_is_the_map(void)
{
	enum { N = 12 };
	long in = 0;
	int round, i;

	for (round = 0; round < 200; round++) {
		struct cal_map m = { 0 };
		ltick_t local[N];
		gtick_t global[N];
		double slope = pow(10, 6 * check_uniform() - 3);

		CHECK(cal_map_line(
			      &m, ltick(between(0, 1LL << 55)), gtick(between(-1000000, 1LL << 50)), slope, NULL) == 0,
			"line");
		in += spans_agree(&m, m.piece[0].local.v - 1000, m.piece[0].local.v + (1LL << 52));
		cal_map_free(&m);
		local[0] = ltick(between(0, 1LL << 55));
		global[0] = gtick(between(0, 1LL << 50));
		for (i = 1; i < N; i++) {
			int64_t step = between(1, round % 2 ? 50 : 30000000000);

			local[i] = ltick_add(local[i - 1], step);
			global[i] = gtick_add(
				global[i - 1], 1 + (int64_t)((double)step * (slope + 1e-3 * check_uniform())));
		}
		CHECK(cal_map_spline(&m, CAL_SPLINE_CONSTRAINED, local, global, 2 + (round % 3) * 5, NULL) == 0,
			"spline");
		in += spans_agree(&m, local[0].v - 100, local[N - 1].v + 100);
		cal_map_free(&m);
	}
	CHECK(in > 100000, "%ld stamps were in a span: too few", in);
}

static void different_local_ticks_never_share_a_global_tick(void)
{
	enum { N = 12 };
	int round, i;

	for (round = 0; round < 100; round++) {
		struct cal_map m = { 0 };
		ltick_t local[N];
		gtick_t global[N];
		struct tkm_err err;

		local[0] = ltick(between(0, 1LL << 55));
		global[0] = gtick(between(0, 1LL << 50));
		for (i = 1; i < N; i++) {
			int64_t step = between(1000, 30000000000);

			local[i] = ltick_add(local[i - 1], step);
			global[i] = gtick_add(global[i - 1], (int64_t)((double)step * (4.1 + 1e-3 * check_uniform())));
		}
		CHECK(cal_map_spline(&m, CAL_SPLINE_CONSTRAINED, local, global, N, &err) == 0, "%s", err.text);
		for (i = 0; i < N; i++) {
			CHECK_INT(cal_map_at(&m, local[i]).v, global[i].v); /* through every point */
		}
		for (i = 0; i < 2000; i++) {
			ltick_t at = ltick(between(local[0].v - 100000, local[N - 1].v + 100000));

			CHECK(gtick_sub(cal_map_at(&m, ltick_add(at, 1)), cal_map_at(&m, at)) > 0, "not increasing");
		}
		cal_map_free(&m);
	}
}

static void global_periods_are_fine_enough(void)
{
	CHECK_NEAR(cal_global_period(1e-6), 1e-9, 1e-15);
	CHECK_NEAR(cal_global_period(4e-9), 1e-9, 1e-15);
	CHECK_NEAR(cal_global_period(1e-9), 0.2e-9, 1e-15);
	CHECK_NEAR(cal_global_period(1 / 2.25e9), 0.1e-9, 1e-15);
	CHECK_NEAR(cal_global_period(1 / 4.9e9), 0.05e-9, 1e-15);
	/* what is printed with 17 digits is the number itself */
	CHECK(cal_global_period(1e-9) == 2e-10 && cal_global_period(1 / 4.9e9) == 5e-11 &&
			cal_global_period(1 / 2.25e9) == 1e-10 && cal_global_period(1e-10) == 2e-11,
		"%.17g", cal_global_period(1e-9));
}

/* Parts and rates of a straight map; nominal is its slope. */
static void split(struct cal_map *m)
{
	struct tkm_err err;

	CHECK(cal_map_split(m, 10, &err) == 0, "%s", err.text);
	CHECK_INT(m->parts, 1);
	m->part[0].pieces = m->pieces;
}

/* One node at each end, certain to +-100 ticks of 0.1 ns: 10 ns there, and the wander's parabola in between. */
static void the_bound_grows_as_the_assumptions_say(void)
{
	struct cal_node node[] = {
		{ .local = ltick(0), .global = gtick(0), .low = gtick(-100), .high = gtick(100), .used = 1 },
		{ .local = ltick(10000000000),
			.global = gtick(100000000000),
			.low = gtick(99999999900),
			.high = gtick(100000000100),
			.used = 1 },
	};
	struct cal_map m = { .period_s = 1e-10, .max_drift = 1e-5, .max_wander = 1e-6, .node = node, .nodes = 2 };

	CHECK(cal_map_line(&m, ltick(0), gtick(0), 10, NULL) == 0, "line");
	split(&m);
	CHECK_NEAR(cal_map_bound(&m, ltick(0)), 10e-9, 1e-13);
	CHECK_NEAR(cal_map_bound(&m, ltick(10000000000)), 10e-9, 1e-13);
	CHECK_NEAR(cal_map_bound(&m, ltick(5000000000)), 10e-9 + 1e-6 * 10 / 2, 1e-12);
	/* one second beyond: both ends' errors tilt the line, and the rate may have left its mean twice over */
	CHECK_NEAR(cal_map_bound(&m, ltick(11000000000)), 10e-9 + 1 * (20e-9 / 10 + 2e-6), 1e-12);
	/* ends that are known to 1 ms only: the rate is then known by what clocks can drift, and wander */
	node[0].low = gtick(-10000000);
	node[0].high = gtick(10000000);
	node[1].low = gtick(100000000000 - 10000000);
	node[1].high = gtick(100000000000 + 10000000);
	split(&m);
	CHECK_NEAR(cal_map_bound(&m, ltick(-10000000000)), 1e-3 + 10 * (2e-5 + 1e-6), 1e-12);
	CHECK_NEAR(cal_map_bound(&m, ltick(20000000000)), 1e-3 + 10 * (2e-5 + 1e-6), 1e-12);
	/* a map that is tilted by more: the bound takes the distance from where it is */
	free(m.piece);
	m.piece = NULL;
	CHECK(cal_map_line(&m, ltick(0), gtick(0), 10 * (1 + 1e-4), NULL) == 0, "line");
	CHECK_NEAR(cal_map_bound(&m, ltick(20000000000)), 1e-3 + 20 * 1e-4 + 10 * (2e-5 + 1e-6), 1e-12);
	free(m.piece);
	m.piece = NULL;
	CHECK(cal_map_line(&m, ltick(0), gtick(0), 10, NULL) == 0, "line");
	node[0].low = gtick(-100);
	node[0].high = gtick(100);
	node[1].used = 0;
	/* one node, and nothing known of the rate */
	m.rate_low = m.rate_high = 0;
	CHECK_NEAR(cal_map_bound(&m, ltick(1000000000)), 10e-9 + 1 * 2e-5, 1e-12);
	node[0].used = 0;
	CHECK(isinf(cal_map_bound(&m, ltick(0))), "a bound from nothing");
	m.nodes = 0;
	CHECK_NEAR(cal_map_bound(&m, ltick(123)), 0, 0);
	m.node = NULL;
	cal_map_free(&m);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_line_is_exact_over_thirty_days);
	RUN(a_span_is_the_map);
	RUN(different_local_ticks_never_share_a_global_tick);
	RUN(global_periods_are_fine_enough);
	RUN(the_bound_grows_as_the_assumptions_say);
	return check_end();
}
