/* SPDX-License-Identifier: BSD-3-Clause */
/* What a check against the map contradicts, and what follows. */
#include "config.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "calib/solve/assumptions.h"
#include "tests/lib/check.h"
#include "tests/unit/calib/solve/made_map.h"

static void an_outlier_and_few_checks(void)
{
	struct cal_expected e;
	size_t k;

	make(12 + 2);
	for (k = 1; k <= 12; k++) {
		move(1, k, k % 2 ? 10 : -10);
	}
	move(1, 3, 100000);
	e = cal_expected_error(&made.rank[1].map);
	CHECK_NEAR(e.median_s, 10e-9, 1e-15);
	CHECK_NEAR(e.most_s, 100010e-9, 1e-12);
	unmake();
	make(4 + 2);
	e = cal_expected_error(&made.rank[1].map);
	CHECK_INT(e.checks, 4);
	CHECK(isnan(e.median_s) && isnan(e.most_s), "4 checks say nothing");
	unmake();
}

/* ---- assumptions ---- */

static void nothing_is_wrong(void)
{
	int i;

	make(11);
	move(1, 5, 300); /* inside its bound: 200 ns, and the rate within +-1 ppm for 5 s */
	cal_test_assumptions(&made.run);
	CHECK_INT(made.run.contradicted, 0);
	for (i = 0; i < RANKS; i++) {
		CHECK_STR(made.rank[i].contradiction, "");
		CHECK(made.rank[i].map.max_wander == 1e-6 && made.rank[i].map.rate_low == 1 - 1e-6, "rank %d", i);
		CHECK_INT(made.rank[i].map.may_step, 0);
	}
	unmake();
}

/* A check 100 us off: no rate within +-1 ppm does that. Each bound becomes wider, and holds the check. */
static void a_check_too_far_off(void)
{
	double before[RANKS];
	int i;

	make(11);
	for (i = 1; i < RANKS; i++) {
		before[i] = cal_map_bound(&made.rank[i].map, ltick(5 * second));
	}
	move(1, 5, 100000);
	cal_test_assumptions(&made.run);
	CHECK_INT(made.run.contradicted, 1);
	/* low is 99.8 us away */
	CHECK_STR(made.rank[1].contradiction,
		"a session that the map does not use is 99.8 us off, farther than a rate within +-1 ppm allows "
		"(--max-wander)");
	CHECK_STR(made.rank[2].contradiction, "");
	CHECK(made.rank[1].map.may_step && !made.rank[2].map.may_step, "a step is allowed to rank 1 alone");
	CHECK(cal_map_bound(&made.rank[1].map, ltick(5 * second)) >= 99.8e-6, "the bound does not hold the check");
	for (i = 1; i < RANKS; i++) {
		const struct cal_map *m = &made.rank[i].map;

		/* what the check shows is 20 ppm: 100 us in 5 s forth and 5 s back */
		CHECK(m->max_wander > 10e-6 && m->max_wander < 100e-6, "rank %d: wander %g", i, m->max_wander);
		CHECK(m->max_wander == made.rank[1].map.max_wander, "all are allowed what the worst one did");
		CHECK_NEAR((m->rate_high - m->rate_low) / (4 * m->max_wander - 2e-6), 1, 0.02);
		CHECK(m->rate_low < 1 - 10e-6 && m->rate_high > 1 + 10e-6, "rank %d: rates %.9f to %.9f", i,
			m->rate_low, m->rate_high);
		CHECK(cal_map_bound(m, ltick(5 * second)) > before[i], "rank %d: the bound is not wider", i);
		CHECK(cal_map_bound(m, ltick(12 * second)) > 20e-6, "rank %d: nor is it later", i);
	}
	CHECK(made.rank[0].map.max_wander == 1e-6, "the master has none against itself");
	unmake();
}

/* A check before the first session that the map uses: only that one holds its bound there, and what it shows is no more than for one
 * between two. */
static void a_check_before_the_map(void)
{
	const struct cal_map *m = &made.rank[1].map;

	make(11);
	made.node[1][0].used = 0;
	made.node[1][5].used = 1;
	move(1, 0, 100000);
	cal_test_assumptions(&made.run);
	CHECK_INT(made.run.contradicted, 1);
	CHECK(cal_map_bound(m, ltick(0)) >= 99.8e-6, "the bound does not hold the check");
	/* 100 us, less 200 ns that each of the two sessions leaves open, in 5 s */
	CHECK_NEAR(m->max_wander, 19.92e-6, 1e-9);
	unmake();
}

static void the_other_contradictions(void)
{
	make(11);
	made.rank[1].map.max_wander = 5e-6; /* what cal_map_split() needed */
	cal_test_assumptions(&made.run);
	CHECK(made.run.contradicted && strstr(made.rank[1].contradiction, "changed by +-5 ppm") &&
			strstr(made.rank[1].contradiction, "+-1 ppm were assumed"),
		"%s", made.rank[1].contradiction);
	CHECK(made.rank[2].map.max_wander == 5e-6, "rank 2: %g", made.rank[2].map.max_wander);
	unmake();

	make(11);
	made.rank[2].nominal_hz = 1e9 * (1 + 2e-3);
	cal_test_assumptions(&made.run);
	CHECK(made.run.contradicted && strstr(made.rank[2].contradiction, "its rate is +2000 ppm off the nominal one"),
		"%s", made.rank[2].contradiction);
	/* half of it is each clock's, twice that is the margin */
	CHECK_NEAR(made.rank[2].map.max_drift, 2e-3, 1e-5);
	CHECK_NEAR(made.rank[1].map.max_drift, 2e-3, 1e-5);
	unmake();

	/* the sessions are too far from certain: a coarse clock, or a short run */
	make(11);
	made.rank[2].nominal_hz = 1e9 * (1 + 2e-3);
	made.rank[2].map.rate_low = 1 - 1.1e-3;
	cal_test_assumptions(&made.run);
	CHECK(!made.run.contradicted, "%s", made.rank[2].contradiction);
	unmake();

	make(11);
	made.rank[2].disruption_changed = 4;
	cal_test_assumptions(&made.run);
	CHECK(made.run.contradicted && strstr(made.rank[2].contradiction, "before session 4 (/dev/vmclock0)"), "%s",
		made.rank[2].contradiction);
	unmake();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(an_outlier_and_few_checks);
	RUN(nothing_is_wrong);
	RUN(a_check_too_far_off);
	RUN(a_check_before_the_map);
	RUN(the_other_contradictions);
	return check_end();
}
