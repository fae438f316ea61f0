/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions end by number and by time; a burst in a job is one batch. */
#include "config.h"
#include "base/err.h"
#include "calib/map/run.h"
#include "calib/map/sample.h"
#include "calib/session/link.h"
#include "calib/session/sync.h"
#include "calib/session/sync_pairs.h"
#include "lab/compare/link_sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/unit/calib/scenario.h"

static void sessions_end_by_number_and_by_time(void)
{
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(3, "tick=1ns", "delay=1ms,jitter=0", &err);
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 0.05 };
	unsigned char ex[3] = { 1, 1, 0 };
	struct cal_session s[3] = { { 0 } };

	CHECK(cal_sync_session(l, 0, ex, &opt, CAL_START, s, &err) == 0, "%s", err.text);
	CHECK(s[1].n >= 1 && s[1].n < 20, "%zu samples in 50 ms of 3 ms each", s[1].n);
	CHECK_INT(s[2].n, 0); /* synchronised by other means */
	cal_session_free(&s[1]);
	opt = (struct cal_sync_options){ .max_messages = 7, .max_duration_s = 60 };
	CHECK(cal_sync_session(l, 0, ex, &opt, CAL_START, s, &err) == 0, "%s", err.text);
	CHECK_INT(s[1].n, 7);
	cal_session_free(&s[1]);
	opt.max_duration_s = 0; /* the guide: disables the algorithm */
	CHECK(cal_sync_session(l, 0, ex, &opt, CAL_START, s, &err) == 0 && s[1].n == 0, "%zu samples", s[1].n);
	cal_link_close(l);
}

/* Pair by pair: 24 exchanges, then 12 more as long as these narrow the bound, which they do not on a path without jitter; in the
 * middle of a job the 24 alone; never more than what was asked for, a first batch excepted. */
static void a_burst_in_a_job_is_one_batch(void)
{
	static const struct {
		long long most;
		int brief;
		size_t exchanges;
	} cases[] = { { 100, 0, 36 }, { 100, 1, 24 }, { 36, 0, 36 }, { 35, 0, 24 }, { 7, 0, 24 } };
	static const unsigned char ex[2] = { 0, 1 };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cal_sync_options opt = { .max_messages = cases[i].most,
			.max_duration_s = 60,
			.method = CAL_SYNC_PAIRS,
			.brief = cases[i].brief };
		struct cal_link *l = cal_link_sim(2, "tick=1ns", "delay=300ns", NULL);
		struct cal_session s[2] = { { 0 } };
		struct tkm_err err;

		CHECK(cal_sync_session(l, 0, ex, &opt, CAL_MIDDLE, s, &err) == 0, "%s", err.text);
		CHECK_INT(s[1].n, cases[i].exchanges);
		cal_session_free(&s[1]);
		cal_link_close(l);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(sessions_end_by_number_and_by_time);
	RUN(a_burst_in_a_job_is_one_batch);
	return check_end();
}
