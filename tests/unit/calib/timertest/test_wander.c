/* SPDX-License-Identifier: BSD-3-Clause */
/* What timertest reports about the change of a clock's rate, compared with clocks whose noise is known. */
#include "config.h"
#include "calib/analysis/analysis.h"
#include "calib/timertest/timertest.h"
#include "tests/lib/check.h"

enum { NODES = 1000 };

static struct cal_node node[NODES];
static struct cal_rank rank[2];
static struct cal_run run = { .ranks = 2, .rank = rank, .period_s = 1e-9 };

/* A clock of 2 GHz whose offset to the master is offset_s, each interval_s. */
static void clock_with(const double *offset_s, double interval_s, size_t n)
{
	size_t k;

	memset(rank, 0, sizeof(rank));
	rank[1] = (struct cal_rank){ .rank = 1, .nominal_hz = 2e9, .sync = CAL_OWN };
	for (k = 0; k < n; k++) {
		double at = interval_s * (double)k;

		node[k] = (struct cal_node){ .local = ltick(llrint(at * 2e9) + 77), .used = 1 };
		node[k].global = gtick(123456789 + llrint((at + offset_s[k]) * 1e9));
	}
	rank[1].map = (struct cal_map){ .nodes = n, .node = node, .period_s = 1e-9 };
}

static void the_deviation_is_that_of_known_noise(void)
{
	struct cal_random *r = cal_random_new(1);
	static double x[NODES];
	struct cal_test_wander w;
	int i;

	for (i = 0; i < NODES; i++) {
		x[i] = 37e-6 * i * 0.5 + cal_random_normal(r, 100e-9);
	}
	clock_with(x, 0.5, NODES);
	CHECK(cal_test_find_wander(&run, 1, &w) == 0, "not found");
	CHECK_INT((long)w.sessions, NODES);
	CHECK_NEAR(w.interval_s, 0.5, 1e-9);
	CHECK_NEAR(w.left.median, 0.6745 * 100e-9, 5e-9);
	CHECK(w.left.max > 250e-9 && w.left.max < 500e-9, "%g s", w.left.max);
	CHECK_INT(w.taus, CAL_TEST_TAUS);
	for (i = 0; i < w.taus; i++) {
		/* white noise of phase: sqrt(3) sigma / tau */
		CHECK_NEAR(w.tau_s[i], 0.5 * (1 << i), 1e-9);
		CHECK_NEAR(w.deviation[i], sqrt(3) * 100e-9 / w.tau_s[i], 0.15 * sqrt(3) * 100e-9 / w.tau_s[i]);
	}
	/* some offsets that are far off do not turn the line */
	for (i = 0; i < NODES; i += 10) {
		x[i] += 1e-3;
	}
	clock_with(x, 0.5, NODES);
	CHECK(cal_test_find_wander(&run, 1, &w) == 0, "not found");
	CHECK_NEAR(w.left.median, 0.6745 * 100e-9, 15e-9);
	CHECK_NEAR(w.left.max, 1e-3, 1e-6);
	cal_random_free(r);
}

static void what_cannot_be_said_is_not_said(void)
{
	static double x[NODES];
	struct cal_test_wander w;

	memset(x, 0, sizeof(x));
	clock_with(x, 1, 7);
	CHECK(cal_test_find_wander(&run, 1, &w) < 0, "of seven sessions");
	clock_with(x, 1, 8);
	CHECK(cal_test_find_wander(&run, 1, &w) == 0 && w.taus == 1, "of eight sessions: %d", w.taus);
	node[4].local.v += 800000000; /* 0.4 s late */
	node[4].global.v += 400000000;
	CHECK(cal_test_find_wander(&run, 1, &w) == 0 && w.taus == 0 && w.left.max < 2e-9, "of uneven intervals: %d",
		w.taus);
	clock_with(x, 1, 12);
	node[0].local.v += 1999000000; /* the second follows the first at once, as in a test */
	node[0].global.v += 999500000;
	CHECK(cal_test_find_wander(&run, 1, &w) == 0 && w.taus == 2 && w.interval_s > 0.999, "after an early one: %d",
		w.taus);
	node[4].local.v -= 8000000000;
	CHECK(cal_test_find_wander(&run, 1, &w) < 0, "of a clock that was set back");
	clock_with(x, 1, 20);
	rank[1].sync = CAL_SHARED;
	CHECK(cal_test_find_wander(&run, 1, &w) < 0, "of a clock that is the master's");
	CHECK(cal_test_find_wander(&run, 0, &w) < 0, "of the master");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_deviation_is_that_of_known_noise);
	RUN(what_cannot_be_said_is_not_said);
	return check_end();
}
