/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of timertest share a clock, which exchange messages, and one session. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/map/fit.h"
#include "calib/map/online.h"
#include "calib/session/agree.h"
#include "calib/session/own_clock.h"

int cal_test_find_places(struct cal_test *t, struct tkm_err *err)
{
	t->place = calloc((size_t)t->link->size, sizeof(*t->place));
	t->exchanges = calloc((size_t)t->link->size, 1);
	if (!t->place || !t->exchanges) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", t->link->size);
	}
	return cal_places_here(t->link, t->place, err);
}

double cal_test_prove_one_clock(const struct cal_test *t)
{
	const struct tmr_matrix *m = &t->matrix.m;

	if (t->timer->scope != TMR_SCOPE_CORE || !t->timer->shareable || m->pus == 0 || m->together < m->pairs ||
		t->me.env.tsc_invariant == 0) {
		return NAN;
	}
	return m->farthest_s;
}

/* One number of each rank, known to all. */
static int share_value(struct cal_test *t, double mine, double **all_of_them, struct tkm_err *err)
{
	*all_of_them = calloc((size_t)t->link->size, sizeof(**all_of_them));
	return *all_of_them ? cal_link_share(t->link, &mine, sizeof(mine), *all_of_them, err)
			    : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", t->link->size);
}

int cal_test_choose_timer(struct cal_test *t, struct tkm_err *err)
{
	int missing;

	if (strcmp(t->o.timer, CAL_TEST_DEFAULT_TIMER) != 0) {
		return 0;
	}
	if (cal_counter_prove(t->link, 0.1, &missing, err) < 0) {
		return -1;
	}
	t->o.timer = missing < 0 ? "CPU" : "clock_monotonic";
	if (missing < 0) {
		cal_test_print(
			t, "timer: CPU, because no other was named, and on each node it is proven to be one clock\n");
	} else {
		cal_test_print(t,
			"timer: clock_monotonic, because no other was named, and CPU is not proven to be one clock on "
			"the node of rank %d\n",
			missing);
	}
	return 0;
}

/* A number for a timer's name: ranks may have been started with different ones. */
static double hash_name(const char *name)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	while (*name) {
		h = (h ^ (unsigned char)*name++) * 1099511628211u;
	}
	return (double)(h >> 12);
}

/* What every rank has to know of every timer. Who reads another timer than the first of his node does not share its
 * clock, whatever has been proven about that. */
int cal_test_share_timers(struct cal_test *t, struct tkm_err *err)
{
	const struct cal_place *p = &t->place[t->link->rank];
	double mine = t->timer->scope == TMR_SCOPE_NODE ? 0
		: p->index == 0                         ? cal_test_prove_one_clock(t)
							: NAN,
	       *proof = NULL, *kind = NULL, *scope = NULL;
	int i, rc = -1;

	t->clusterwide = 1;
	if (share_value(t, mine, &proof, err) == 0 && share_value(t, cal_rank_hz(&t->rank), &t->hz, err) == 0 &&
		share_value(t, hash_name(t->timer->name), &kind, err) == 0 &&
		share_value(t, t->timer->scope, &scope, err) == 0) {
		for (i = 0; i < t->link->size; i++) {
			t->place[i].within_s = kind[i] == kind[t->place[i].leader] ? proof[t->place[i].leader] : NAN;
			t->clusterwide = t->clusterwide && scope[i] == TMR_SCOPE_CLUSTER && kind[i] == kind[0];
		}
		rc = 0;
	}
	free(proof);
	free(kind);
	free(scope);
	return rc;
}

int cal_test_share_session_hz(struct cal_test *t, struct tkm_err *err)
{
	free(t->hz);
	return share_value(t, cal_session_hz(&t->rank), &t->hz, err);
}

int cal_test_synchronise(struct cal_test *t, enum cal_session_kind kind, struct tkm_err *err)
{
	struct cal_sync_report report = { .lost = 0 };
	double begin = cal_link_seconds(t->link);
	int rc;

	if (cal_test_pair(t, err) < 0) {
		return -1;
	}
	t->o.sync.report = &report;
	t->link->timer = t->reference ? t->reference : t->timer;
	rc = cal_sync_ranks(t->link, 0, &t->plan, t->exchanges, &t->o.sync, kind, &t->rank, err);
	t->link->timer = t->timer;
	t->o.sync.report = NULL;
	t->synchronised_at = cal_link_seconds(t->link);
	t->lasted_s = fmin(t->synchronised++ ? t->lasted_s : INFINITY, t->synchronised_at - begin);
	if (report.lost) {
		fprintf(stderr, "%s: warning: %s; this session goes on without it\n", program_invocation_short_name,
			report.first.text);
	}
	cal_own_machine_moved(&t->rank, t->synchronised);
	if (rc == 0) {
		rc = cal_test_pair(t, err);
	}
	return rc;
}

/* Half of what the last session leaves uncertain at this process, 0 if it had none. */
static double last_half_width(const struct cal_test *t)
{
	const struct cal_session *s = t->rank.sessions ? &t->rank.session[t->rank.sessions - 1] : NULL;
	double hz = t->hz[t->link->rank], tick = fmax(cal_session_tick(&t->rank) * hz, 1);
	struct cal_point p;

	if (!s || s->n == 0 ||
		cal_condense(s, t->hz[0] / hz, 2 * t->o.max_drift, tick, tick * t->hz[0] / hz, CAL_QUIET, &p, NULL) <
			0) {
		return 0;
	}
	return 0.5 * (p.high - p.low) / t->hz[0];
}

int cal_test_plan_sessions(struct cal_test *t, struct tkm_err *err)
{
	struct {
		double half_s, every_s;
	} plan = { t->result.session_half_s, 0 };
	double *half = NULL, *may_step = NULL;
	int i, any = 0, rc = -1;

	if (t->o.target_bound_s <= 0) {
		return 0;
	}
	if (share_value(t, last_half_width(t), &half, err) == 0 &&
		share_value(t, cal_session_may_step(&t->rank), &may_step, err) == 0) {
		for (i = 0; i < t->link->size; i++) {
			plan.half_s = fmax(plan.half_s, half[i]);
			any = any || may_step[i] > 0;
		}
		plan.every_s = cal_session_spacing(plan.half_s, t->o.max_wander, any, 0.9 * t->o.target_bound_s);
		if (plan.every_s > 0) {
			/* a twentieth of the time, and no more, goes into sessions */
			plan.every_s = fmax(plan.every_s, 20 * t->lasted_s);
		}
		rc = cal_link_bcast(t->link, &plan, sizeof(plan), err);
	}
	t->result.session_half_s = plan.half_s;
	t->result.session_every_s = plan.every_s;
	free(half);
	free(may_step);
	return rc;
}
