/* SPDX-License-Identifier: BSD-3-Clause */
/* The points of a run that a map is made of. */
#include "config.h"
#include "base/err.h"
#include "calib/map/run.h"
#include "calib/session/link.h"
#include "calib/solve/solve.h"
#include "lab/compare/link_sim.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/unit/calib/scenario.h"

static const char quiet[] = "delay=100ns,jitter=20ns,read=14ns";

static void timer_skip_chooses_the_nodes(void)
{
	static const struct {
		int skip, used;
	} cases[] = { { -1, 2 }, { 0, 11 }, { 1, 6 }, { 5, 3 } };
	size_t i, k;

	for (i = 0; i < 4; i++) {
		struct scenario sc = { "skip", 2, "drift=5ppm,tick=1ns", quiet, 10, 1, cases[i].skip, 0, 0,
			CAL_CONSTRAINED, CAL_SYNC_ITC };
		struct tkm_err err;
		struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
		struct cal_run run;
		int used = 0;

		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		for (k = 0; k < run.rank[1].sessions; k++) {
			used += run.rank[1].session[k].used;
		}
		CHECK_INT(used, cases[i].used);
		CHECK_INT(run.interpolation, cases[i].skip < 0 ? CAL_LINEAR : CAL_CONSTRAINED);
		CHECK_INT(run.rank[1].map.pieces, used - 1);
		CHECK(cal_solve(&run, -1, &err) == 0, "%s", err.text); /* anew, by the two at its ends */
		CHECK_INT(run.interpolation, CAL_LINEAR);
		CHECK_INT(run.rank[1].map.pieces, 1);
		cal_run_free(&run);
		cal_link_close(l);
	}
}

static void a_clock_that_was_set_does_not_stretch_the_run(void)
{
	struct scenario sc = { "set", 2, "tick=1ns", quiet, 10, 0, -1, 0, 0, CAL_CONSTRAINED, CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	struct cal_run run;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	CHECK_INT(run.clock_was_set, 0);
	run.rank[0].anchor[1].realtime_ns += 3600000000000;
	CHECK(cal_solve(&run, -1, &err) == 0, "%s", err.text);
	CHECK_INT(run.clock_was_set, 1);
	CHECK_NEAR((double)run.end.v * run.period_s, 10, 1e-3);
	/* one reading of the realtime clock, and no frequency */
	run.rank[0].anchors = 1;
	CHECK(cal_solve(&run, -1, &err) == 0, "%s", err.text);
	run.rank[0].nominal_hz = 0;
	CHECK(cal_solve(&run, -1, &err) < 0 && strstr(err.text, "rank 0: neither a frequency"), "%s", err.text);
	cal_run_free(&run);
	cal_link_close(l);
}

static void nothing_received_is_an_error_with_the_rank(void)
{
	struct scenario sc = { "deaf", 2, "tick=1ns", "delay=1us,loss=1", 1, 0, -1, 0, 0, CAL_CONSTRAINED,
		CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	struct cal_run run;

	CHECK(calibrate(l, &sc, &run, &err) < 0 && strstr(err.text, "rank 1"), "%s", err.text);
	cal_run_free(&run);
	cal_link_close(l);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(timer_skip_chooses_the_nodes);
	RUN(a_clock_that_was_set_does_not_stretch_the_run);
	RUN(nothing_received_is_an_error_with_the_rank);
	return check_end();
}
