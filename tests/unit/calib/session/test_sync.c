/* SPDX-License-Identifier: BSD-3-Clause */
/* A session with a rank that does not answer: who gives up whom, over a simulated link. */
#include "config.h"
#include "calib/session/link_private.h"
#include "calib/session/sync.h"
#include "lab/compare/link_sim.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/unit/calib/scenario.h"

enum { RANKS = 4 };

static int given_up[RANKS][RANKS];

static void note(struct cal_link *l, int who, int whom)
{
	(void)l;
	given_up[who][whom]++;
}

/* Each pair that fails tells so in both directions, so that neither of the two goes on waiting. */
static void give_up_of(int dead, size_t lost)
{
	int member[RANKS] = { 0, 1, 2, 3 }, a, b;
	double hz[RANKS] = { 1e9, 1e9, 1e9, 1e9 };
	struct cal_sync_report report = { 0 };
	struct cal_sync_options opt = {
		.max_messages = 50, .max_duration_s = 60, .method = CAL_SYNC_PAIRS, .hz = hz, .report = &report
	};
	struct cal_session out[RANKS] = { 0 };
	struct cal_link_ops ops;
	struct cal_plan plan;
	struct tkm_err err = { .text = "" };
	char network[100];
	struct cal_link *l;
	size_t i;

	snprintf(network, sizeof(network), "delay=1us,jitter=50ns,seed=1%s%d", dead ? ",dead=" : ",shuffle=", dead);
	l = cal_link_sim(RANKS, "offset={rank}ms,tick=1ns", network, &err);
	CHECK(l != NULL, "%s", err.text);
	ops = *l->ops;
	ops.give_up = note;
	l->ops = &ops;
	memset(given_up, 0, sizeof(given_up));
	CHECK(cal_plan_make(&plan, CAL_SHAPE_STAR, member, RANKS, NULL, NULL, &err) == 0, "%s", err.text);
	CHECK_INT(plan.pairs, RANKS - 1);
	CHECK(cal_sync_plan(l, &plan, &opt, CAL_START, out, &err) == 0, "%s", err.text);
	CHECK_INT(report.lost, lost);
	for (a = 0; a < RANKS; a++) {
		for (b = 0; b < RANKS; b++) {
			CHECK(given_up[a][b] == (dead && a != b && (a == 0 || b == 0) && (a == dead || b == dead)),
				"rank %d gave up rank %d %d times", a, b, given_up[a][b]);
		}
	}
	CHECK(!dead || (report.first.code == TKM_ERR_TIMEOUT && strstr(report.first.text, "rank 2")), "%s",
		report.first.text);
	for (i = 0; i < plan.pairs; i++) {
		CHECK(plan.pair[i].a == dead || plan.pair[i].b == dead || out[i].n > 0, "pair %zu: no sample", i);
		cal_session_free(&out[i]);
	}
	cal_plan_free(&plan);
	cal_link_close(l);
}

static void a_pair_that_fails_gives_up_both_ways(void)
{
	give_up_of(2, 1);
}

static void nobody_is_given_up_who_answers(void)
{
	give_up_of(0, 0);
}

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

/* Pair by pair: 24 exchanges, then 12 more as long as they are worth it, which on a path without jitter they are not; in the
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
	RUN(a_pair_that_fails_gives_up_both_ways);
	RUN(nobody_is_given_up_who_answers);
	RUN(sessions_end_by_number_and_by_time);
	RUN(a_burst_in_a_job_is_one_batch);
	return check_end();
}
