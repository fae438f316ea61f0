/* SPDX-License-Identifier: BSD-3-Clause */
/*  */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/curve.h"
#include "calib/map/map.h"
#include "tests/lib/check.h"

#include <math.h>

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(check_uniform() * (double)(high - low));
}

/* Points that lie close together and then far apart, each off by most of what is certain: the cubic would swing by
 * far more in the long interval. Ticks of 0.1 ns; local ticks of 1 ns. */
/* How far below and above g the true time at l can be, by the nodes beside it and the rates. */
static void corridor(const struct cal_map *m, ltick_t l, gtick_t g, double *down, double *up)
{
	size_t k;

	*up = INFINITY;
	*down = -INFINITY;
	for (k = 0; k + 1 < m->nodes && m->node[k + 1].local.v <= l.v; k++) {
	}
	for (; k < m->nodes && (k == 0 || m->node[k - 1].local.v <= l.v); k++) {
		double x = (double)ltick_sub(l, m->node[k].local);

		*up = fmin(*up, (double)gtick_sub(m->node[k].high, g) + x * (x > 0 ? m->rate_high : m->rate_low));
		*down = fmax(*down, (double)gtick_sub(m->node[k].low, g) + x * (x > 0 ? m->rate_low : m->rate_high));
	}
}

static void a_cubic_keeps_to_the_corridor(void)
{
	enum { N = 12 };
	int round, i, bent = 0;

	for (round = 0; round < 100; round++) {
		struct cal_map m = { .period_s = 1e-10, .max_drift = 1e-4, .max_wander = 1e-6, .nodes = N };
		struct cal_map free_one = { 0 };
		ltick_t local[N];
		gtick_t global[N];
		struct tkm_err err;
		int64_t at = 0;

		m.node = calloc(N, sizeof(*m.node));
		for (i = 0; i < N; i++) {
			int64_t off = between(-900, 900);

			at += i == 0                 ? 0
				: check_random() % 3 ? between(150000000, 300000000)
						     : between(5000000000, 20000000000);
			local[i] = ltick(at);
			global[i] = gtick(10 * at + off);
			m.node[i] = (struct cal_node){ .local = local[i],
				.global = global[i],
				.low = gtick(10 * at - 1000),
				.high = gtick(10 * at + 1000),
				.used = 1,
				.sigma = 1 };
		}
		CHECK(cal_map_split(&m, 10, &err) == 0 && cal_curve(&m, 0, CAL_SPLINE_CUBIC, 10, &err) == 0, "%s",
			err.text);
		CHECK(m.rate_high > m.rate_low, "no rate");
		if (m.parts > 1 || cal_map_spline(&free_one, CAL_SPLINE_CUBIC, local, global, N, NULL) < 0) {
			cal_map_free(&m);
			continue;
		}
		for (i = 0; i < 2000; i++) {
			ltick_t l = ltick(between(0, at));
			double up, down;
			gtick_t g = cal_map_at(&m, l);

			corridor(&m, l, g, &down, &up);
			/* it is looked at in 64 places of a piece */
			CHECK(down <= 0.005 * (up - down) && up >= -0.005 * (up - down),
				"the curve leaves the corridor: %g to %g", down, up);
			bent += llabs(gtick_sub(g, cal_map_at(&free_one, l))) > 100;
		}
		cal_map_free(&m);
		cal_map_free(&free_one);
	}
	CHECK(bent > 0, "no curve had to be bent less: nothing was tested");
}

/* Global ticks (0.1 ns) that the clock is off when it shows `at` ns: 50 ppm, and a rate that swings by 1 ppm in a minute. */
static double wobble(double at, double swing)
{
	return 10 * at * 50e-6 + swing * 1e10 * 1e-6 * 60 / (2 * M_PI) * (1 - cos(2 * M_PI * at / 60e9));
}

/* The largest error of the curve through 24 sessions, each off by at most 60 ns of +-300: one in `cluster` follows after 10 s, the
 * others after 0.1 s. In ns. */
static double largest_error(int cluster, double swing)
{
	enum { N = 24 };
	struct cal_map m = { .period_s = 1e-10, .max_drift = 1e-4, .max_wander = 1e-6, .nodes = N };
	struct tkm_err err;
	int64_t at = 0;
	double most = 0;
	int i;

	m.node = calloc(N, sizeof(*m.node));
	for (i = 0; i < N; i++) {
		int64_t truth = 10 * at + llrint(wobble((double)at, swing));

		m.node[i] = (struct cal_node){ .local = ltick(at),
			.global = gtick(truth + between(-600, 600)),
			.low = gtick(truth - 3000),
			.high = gtick(truth + 3000),
			.used = 1,
			.sigma = 150 };
		at += (i + 1) % cluster ? 100000000 : 10000000000;
	}
	CHECK(cal_map_split(&m, 10, &err) == 0 && cal_curve(&m, 0, CAL_SPLINE_CUBIC, 10, &err) == 0, "%s", err.text);
	CHECK(m.steps == 0, "a step");
	for (i = 0; i <= 2000; i++) {
		int64_t l = m.node[N - 1].local.v / 2000 * i;
		double truth = 10 * (double)l + wobble((double)l, swing),
		       error = 0.1 * fabs((double)gtick_sub(cal_map_at(&m, ltick(l)), gtick(0)) - truth);

		most = fmax(most, error);
		CHECK(error * 1e-9 <= cal_map_bound(&m, ltick(l)), "outside of the bound");
	}
	cal_map_free(&m);
	return most;
}

/* A session that follows another closely says little of the rate; without weighing it the curve is off by 5 us in the pauses. */
static void sessions_in_clusters_do_not_make_the_curve_swing(void)
{
	double even = 0, swings = 0, clusters = 0;
	int round;

	for (round = 0; round < 20; round++) {
		even = fmax(even, largest_error(1, 0));
		swings = fmax(swings, largest_error(1, 1));
		clusters = fmax(clusters, largest_error(3, 0));
	}
	CHECK(even <= 80, "sessions each 10 s: %.0f ns", even);
	CHECK(swings <= 330, "a rate that swings is not followed: %.0f ns", swings);
	CHECK(clusters <= 600, "sessions in clusters: %.0f ns", clusters);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_cubic_keeps_to_the_corridor);
	RUN(sessions_in_clusters_do_not_make_the_curve_swing);
	return check_end();
}
