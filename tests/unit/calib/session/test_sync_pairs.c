/* SPDX-License-Identifier: BSD-3-Clause */
/* A session with a rank that does not answer: who gives up whom, over a simulated link. */
#include "config.h"
#include "base/err.h"
#include "calib/map/run.h"
#include "calib/map/sample.h"
#include "calib/session/link.h"
#include "calib/session/link_private.h"
#include "calib/session/plan.h"
#include "calib/session/sync_pairs.h"
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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_pair_that_fails_gives_up_both_ways);
	RUN(nobody_is_given_up_who_answers);
	return check_end();
}
