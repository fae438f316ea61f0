/* SPDX-License-Identifier: BSD-3-Clause */
/* From exchanges that were made up to a point per rank and session. Three clocks of a nanosecond a tick; what each shows is known. */
#include "config.h"
#include "calib/tree/net.h"
#include "tests/lib/check.h"

enum { RANKS = 3, SESSIONS = 2 };

static const int64_t second = 1000000000;

static struct cal_run run;
static struct cal_rank rank[RANKS];
static struct cal_session session[RANKS][SESSIONS], edge[RANKS][2 * SESSIONS];
static int64_t ahead[SESSIONS][RANKS]; /* ns by which each clock is ahead of the master's, which is rank 0's */

static void make(void)
{
	int r;

	memset(rank, 0, sizeof(rank));
	memset(session, 0, sizeof(session));
	memset(edge, 0, sizeof(edge));
	run = (struct cal_run){ .ranks = RANKS, .rank = rank, .max_drift = 500e-6, .max_wander = 1e-6 };
	for (r = 0; r < RANKS; r++) {
		rank[r].rank = r;
		rank[r].nominal_hz = 1e9;
		rank[r].effective_tick_s = 1e-9;
		rank[r].session = session[r];
		rank[r].sessions = SESSIONS;
		rank[r].edge = edge[r];
		rank[r].may_step = 1;
	}
}

/* Session k: eight ping-pongs of a rank with another one, 100 ns each way. */
static void exchange(size_t k, int a, int b)
{
	struct cal_session *s = &edge[a][rank[a].edges++];
	int64_t t;
	int i;

	s->at = k;
	s->peer = b;
	for (i = 0; i < 8; i++) {
		t = (int64_t)(k + 1) * second + (10 * a + i) * 1000;
		CHECK(cal_session_add(s,
			      &(struct cal_sample){ .send = ltick(t + ahead[k][a]),
				      .master_in = ltick(t + 100 + ahead[k][b]),
				      .master_out = ltick(t + 110 + ahead[k][b]),
				      .recv = ltick(t + 210 + ahead[k][a]),
				      .kept = 1 }) == 0,
			"out of memory");
	}
}

static void unmake(void)
{
	size_t r, i;

	for (r = 0; r < RANKS; r++) {
		for (i = 0; i < rank[r].edges; i++) {
			cal_session_free(&edge[r][i]);
		}
	}
}

/* The point of a rank is where its clock was, and certain to a way and some. */
static void check_point(size_t k, int r)
{
	const struct cal_point *p = &session[r][k].point;
	double off = (double)(ltick_sub(p->local, p->master) - ahead[k][r]) - p->fraction;

	CHECK(session[r][k].given && fabs(off) < 20, "rank %d, session %zu: %g ns off", r, k, off);
	CHECK(p->low <= p->fraction + off && p->high >= p->fraction + off && p->high - p->low < 600,
		"rank %d, session %zu: %g .. %g", r, k, p->low, p->high);
}

/* Rank 2's clock was set between the sessions, and in the second one it exchanges nothing with the master itself. */
static void a_session_has_its_own_exchanges_only(void)
{
	struct tkm_err err = { .text = "" };
	size_t k;
	int r;

	ahead[0][1] = ahead[1][1] = 5000000;
	ahead[0][2] = -3000000;
	ahead[1][2] = 9000000;
	make();
	exchange(0, 1, 0);
	exchange(0, 2, 1);
	exchange(0, 2, 0);
	exchange(1, 1, 0);
	exchange(1, 2, 1);
	CHECK(cal_net_solve(&run, &err) == 0, "%s", err.text);
	for (k = 0; k < SESSIONS; k++) {
		for (r = 1; r < RANKS; r++) {
			check_point(k, r);
		}
	}
	CHECK(run.net.loops == 0, "%zu loops do not close", run.net.loops);
	CHECK_INT(run.net.sessions, SESSIONS);
	CHECK_INT(run.net.edges, 3);
	CHECK(run.net.worst_s < 50e-9 && run.net.rms_s <= run.net.worst_s, "%g s, %g s", run.net.worst_s,
		run.net.rms_s);
	unmake();
}

/* By what rank 0 and rank 2 say of each other, rank 2 is a millisecond from where rank 1 sees it. */
static void a_loop_that_does_not_close_is_reported_with_its_session(void)
{
	struct tkm_err err = { .text = "" };
	size_t i;

	make();
	exchange(0, 1, 0);
	exchange(0, 2, 1);
	exchange(0, 2, 0);
	exchange(1, 1, 0);
	exchange(1, 2, 1);
	exchange(1, 2, 0);
	for (i = 0; i < 8; i++) {
		edge[2][3].sample[i].master_in.v += 1000000;
		edge[2][3].sample[i].master_out.v += 1000000;
	}
	CHECK(cal_net_solve(&run, &err) == 0, "%s", err.text);
	CHECK(run.net.loops > 0, "nothing was found");
	CHECK_INT(run.net.loop_session, 1);
	/* each of the three takes a third of it */
	CHECK_NEAR(run.net.worst_s, 1e-3 / 3, 5e-6);
	CHECK_NEAR(run.net.rms_s, 1e-3 / 3, 5e-6);
	CHECK_INT(run.net.loop.n, 3);
	CHECK_NEAR(run.net.gap_s, 1e-3, 5e-6); /* less what the exchanges leave open */
	check_point(0, 1);
	check_point(0, 2);
	unmake();
}

static void a_rank_without_exchanges_stays_unknown(void)
{
	struct tkm_err err = { .text = "" };

	make();
	exchange(0, 1, 0);
	exchange(0, 2, 1);
	exchange(1, 1, 0);
	CHECK(cal_net_solve(&run, &err) == 0, "%s", err.text);
	check_point(0, 2);
	check_point(1, 1);
	CHECK(!session[2][1].given, "a point out of nothing");
	/* and an exchange with nobody is an error */
	edge[2][0].peer = RANKS;
	CHECK(cal_net_solve(&run, &err) < 0 && strstr(err.text, "rank 2: an exchange with rank 3"), "%s", err.text);
	edge[2][0].peer = 2;
	CHECK(cal_net_solve(&run, &err) < 0 && strstr(err.text, "rank 2: an exchange with rank 2"), "%s", err.text);
	unmake();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_session_has_its_own_exchanges_only);
	RUN(a_loop_that_does_not_close_is_reported_with_its_session);
	RUN(a_rank_without_exchanges_stays_unknown);
	return check_end();
}
