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
	struct cal_blobs all;
	int i;

	*all_of_them = calloc((size_t)t->link->size, sizeof(**all_of_them));
	if (!*all_of_them) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", t->link->size);
	}
	if (cal_link_gather(t->link, &mine, sizeof(mine), &all, err) < 0) {
		return -1;
	}
	for (i = 0; i < all.n; i++) {
		memcpy(&(*all_of_them)[i], all.data[i], sizeof(mine));
	}
	cal_blobs_free(&all);
	return cal_link_bcast(t->link, *all_of_them, (size_t)t->link->size * sizeof(**all_of_them), err);
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
	if (t->link->rank == 0 && missing < 0) {
		printf("timer: CPU, because no other was named, and on each node it is proven to be one clock\n");
	} else if (t->link->rank == 0) {
		printf("timer: clock_monotonic, because no other was named, and CPU is not proven to be one clock on "
		       "the node of "
		       "rank %d\n",
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
	double proof = t->timer->scope == TMR_SCOPE_NODE ? 0
		: p->index == 0                          ? cal_test_prove_one_clock(t)
							 : NAN,
	       *kind = NULL, *scope = NULL;
	int i, rc = -1;

	t->clusterwide = 1;
	if (share_value(t, proof, &t->proof, err) == 0 && share_value(t, cal_rank_hz(&t->rank), &t->hz, err) == 0 &&
		share_value(t, hash_name(t->timer->name), &kind, err) == 0 &&
		share_value(t, t->timer->scope, &scope, err) == 0) {
		for (i = t->link->size - 1; i >= 0; i--) {
			t->proof[i] = kind[i] == kind[t->place[i].leader] ? t->proof[t->place[i].leader] : NAN;
			t->clusterwide = t->clusterwide && scope[i] == TMR_SCOPE_CLUSTER && kind[i] == kind[0];
		}
		rc = 0;
	}
	free(kind);
	free(scope);
	return rc;
}

int cal_test_share_session_hz(struct cal_test *t, struct tkm_err *err)
{
	free(t->hz);
	return share_value(t, cal_session_hz(&t->rank), &t->hz, err);
}

/* SYNCED-HOST and SYNCED-CLUSTER as in the guide: what the option says, else what the timer is, else what the
 * core matrix has proven. */
void cal_test_choose_clock_sharing(struct cal_test *t)
{
	int cluster = t->o.synced_cluster >= 0 ? t->o.synced_cluster : t->clusterwide;
	int i, me = t->link->rank;

	for (i = 0; i < t->link->size; i++) {
		int host = t->o.synced_host >= 0 ? t->o.synced_host : !isnan(t->proof[i]);

		t->exchanges[i] = i != 0 && !cluster && !(host && t->place[i].leader != i);
	}
	t->rank.sync = me == 0 || t->exchanges[me] ? CAL_OWN : CAL_SHARED;
	t->rank.leader = cluster ? 0 : t->place[me].leader;
	if (t->rank.sync == CAL_SHARED) {
		/* who reads the very clock of the leader still does not know it better than a reading lags behind it */
		t->rank.shared_within_s = fmax(cluster ? 0 : t->proof[me], t->rank.effective_tick_s);
	}
}

/* Makes the plan of all that exchange messages, the master first. */
int cal_test_make_plan(struct cal_test *t, struct tkm_err *err)
{
	int n = t->link->size, members = 1, i, rc = -1;
	int *list = calloc(3 * (size_t)n, sizeof(*list)), *node = list + n, *units = node + n;

	if (!list) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", n);
	}
	for (i = 0; i < n; i++) {
		node[i] = t->place[i].machine;
		units[i] = t->place[i].units;
		if (i > 0 && t->exchanges[i]) {
			list[members++] = i;
		}
	}
	rc = cal_plan_make(&t->plan, t->o.shape, list, members, node, units, err);
	free(list);
	return rc;
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
	cal_test_look_for_disruption(t);
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
