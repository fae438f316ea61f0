/* SPDX-License-Identifier: BSD-3-Clause */
/* The samples of a burst that are kept. */
#include "config.h"
#include "base/ticks.h"
#include "calib/map/fit.h"
#include "calib/map/run.h"
#include "calib/map/sample.h"
#include "calib/session/link.h"
#include "calib/session/sync.h"
#include "lab/compare/link_sim.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"

/* A batch in which somebody is preempted is made again: the session's samples lie close together. */
static void hold_ups_are_left_out_of_a_burst(void)
{
	struct cal_link *l = cal_link_sim(
		2, "drift={rank}0ppm,tick=1ns", "delay=500ns,jitter=20ns,outlier=8ms,outliers=0.004,seed=9", NULL);
	const double hz[2] = { 1e9, 1e9 };
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = CAL_SYNC_PAIRS, .hz = hz };
	static const unsigned char exchanges[2] = { 0, 1 };
	int round, wide = 0;

	for (round = 0; round < 200; round++) {
		struct cal_session out[2] = { { .n = 0 } };

		CHECK(cal_sync_session(l, 0, exchanges, &opt, CAL_START, out, NULL) == 0, "session");
		wide += out[1].n == 0 || ltick_sub(out[1].sample[out[1].n - 1].recv, out[1].sample[0].send) > 4000000;
		cal_session_free(&out[1]);
	}
	CHECK(wide <= 2, "%d of 200 sessions were torn apart by preemptions", wide);
	cal_link_close(l);
}

/* Fewer samples certify a little less, never something else. */
static void thinning_keeps_what_says_most(void)
{
	struct cal_link *l =
		cal_link_sim(2, "offset={rank}ms,drift={rank}0ppm,tick=1ns", "delay=500ns,jitter=100ns,seed=3", NULL);
	const double hz[2] = { 1e9, 1e9 };
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = CAL_SYNC_PAIRS, .hz = hz };
	static const unsigned char exchanges[2] = { 0, 1 };
	int round;

	for (round = 0; round < 100; round++) {
		struct cal_session out[2] = { { .n = 0 } };
		struct cal_point all, few;

		CHECK(cal_sync_session(l, 0, exchanges, &opt, CAL_START, out, NULL) == 0, "session");
		CHECK(cal_condense(&out[1], 1, 1e-6, 1, 1, CAL_QUIET, &all, NULL) == 0, "condense");
		cal_session_thin(&out[1], 12, 1);
		CHECK(out[1].n <= 12 && out[1].n >= 6, "%zu samples", out[1].n);
		CHECK(cal_condense(&out[1], 1, 1e-6, 1, 1, CAL_QUIET, &few, NULL) == 0, "condense");
		CHECK_NEAR(few.high - few.low, all.high - all.low, 2);
		cal_session_free(&out[1]);
	}
	cal_link_close(l);
}

static void the_slowest_tenth_is_dropped(void)
{
	struct cal_sample s[100];
	int i, kept = 0;

	for (i = 0; i < 100; i++) {
		s[i] = (struct cal_sample){ ltick(0), ltick(0), ltick(0), ltick((i * 37) % 100), 0 };
	}
	CHECK_INT(cal_filter(s, 100, 0.1, 1), 90);
	for (i = 0; i < 100; i++) {
		CHECK_INT(s[i].kept, cal_rtt(&s[i], 1) < 90);
		kept += s[i].kept;
	}
	CHECK_INT(kept, 90);
	for (i = 0; i < 100; i++) {
		s[i].recv = ltick(5);
	}
	CHECK_INT(cal_filter(s, 100, 0.1, 1), 90); /* all equal: the number still holds */
	CHECK_INT(cal_filter(s, 9, 0.1, 1), 9);
	CHECK_INT(cal_filter(s, 1, 0.1, 1), 1);
	CHECK_INT(cal_filter(s, 0, 0.1, 1), 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(hold_ups_are_left_out_of_a_burst);
	RUN(thinning_keeps_what_says_most);
	RUN(the_slowest_tenth_is_dropped);
	return check_end();
}
