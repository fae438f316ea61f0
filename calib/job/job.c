/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock calibration inside a job that does something else; see calib/job/job.h. */
#include "config.h"
#include "calib/job/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/solve/solve.h"
#include "base/text/text.h"
#include "calib/file/clk.h"
#include "calib/job/earlier.h"
#include "timers/quality/tick.h"

/* A long job must not fill its memory with samples. */
enum { KEPT_SAMPLES = 12 };

struct cal_job_options cal_job_defaults(void)
{
	return (struct cal_job_options){ .method = CAL_SYNC_PAIRS,
		.shape = CAL_SHAPE_AUTO,
		.max_messages = 100,
		.max_duration_s = 60,
		.synced_host = -1,
		.synced_cluster = -1,
		.prove_s = 0.02,
		.interpolation = CAL_CUBIC };
}

static void describe_job_rank(struct cal_job *j)
{
	const struct tmr_timer *t = j->link->timer;
	struct cal_rank *r = &j->rank;

	r->rank = j->link->rank;
	r->nominal_hz = t->hz;
	r->measured_se_ppm = r->measured_bound_ppm = NAN;
	r->effective_tick_s = NAN;
	r->may_step = (t->flags & TMR_STEPPED) != 0;
	cal_rank_here(r);
	snprintf(r->timer, sizeof(r->timer), "%s", t->name);
}

static int share_hz(struct cal_job *j, struct tkm_err *err)
{
	if (cal_link_share(j->link, &j->link->timer->hz, sizeof(double), j->hz, err) < 0) {
		return -1;
	}
	j->axis = tmr_read_ordered(j->link->timer);
	return cal_link_bcast(j->link, &j->axis, sizeof(j->axis), err); /* that of rank 0 */
}

/* What a reading of a rank's timer can lag behind its clock; NAN: not measured, because the clock stood still. */
static double lag_s(const struct cal_job *j, int rank)
{
	return j->tick[rank].lag_ticks / j->hz[rank];
}

/* Every rank measures its own timer, also where several share a clock: one that was interrupted a lot may find a larger step. */
static struct cal_tick measure_tick(struct tmr_timer *t)
{
	struct tmr_grid g;

	if (tmr_tick_measure(t, TMR_TICK_BUDGET_S, NULL, &g, NULL) < 0) {
		return (struct cal_tick){ NAN, NAN };
	}
	return (struct cal_tick){ g.ticks, g.lag_ticks };
}

static void begin_maps(struct cal_job *j)
{
	int i, r = j->rank.sync == CAL_SHARED ? j->rank.leader : j->link->rank;

	for (i = 0; i < j->link->size; i++) {
		cal_offset_estimate_begin(&j->tie[i], i == 0, j->hz[i], j->hz[0], lag_s(j, i), j->o.max_drift);
	}
	cal_online_begin(&j->online,
		&(struct cal_online_options){ .hz = j->hz[r],
			.master_hz = j->hz[0],
			.tick_s = isfinite(lag_s(j, r)) ? lag_s(j, r) : 0,
			.master_tick_s = isfinite(lag_s(j, 0)) ? lag_s(j, 0) : 0,
			.max_drift = j->o.max_drift,
			.max_wander = j->o.max_wander,
			.how = j->o.method == CAL_SYNC_PAIRS ? CAL_QUIET : CAL_MEAN,
			.may_step = cal_session_may_step(&j->rank),
			.learn = j->o.learn || j->earlier,
			.earlier_low = j->earlier ? j->earlier[2 * r] : 0,
			.earlier_high = j->earlier ? j->earlier[2 * r + 1] : 0,
			.have_axis = 1,
			.axis = j->axis });
}

enum { FREE, STEERED, FAILED };

/* From here on hz and ticks are those of what the sessions measure. */
static int choose_clock(struct cal_job *j, struct tkm_err *err)
{
	struct tkm_err others;
	struct cal_tick own;
	int mine = cal_job_open_reference(j, err) < 0 ? FAILED
		: j->timer->flags & TMR_SLEWED        ? STEERED
						      : FREE,
	    i, exchanging = 0;
	double worst = mine;

	/* all ranks have the same list of ranks that exchange messages */
	for (i = 0; i < j->link->size; i++) {
		exchanging = exchanging || j->exchanges[i];
	}
	if (!exchanging) {
		return mine == FAILED ? -1 : 0;
	}
	/* the timers of ranks can be of different kinds */
	if (cal_link_largest(j->link, &worst, mine == FAILED ? &others : err) < 0 || worst == FAILED) {
		return -1;
	}
	if (worst == FREE) {
		return 0;
	}
	own = measure_tick(j->link->timer);
	if (share_hz(j, err) < 0 || cal_ticks_agree(j->link, j->place, own, j->tick, err) < 0) {
		return -1;
	}
	if (!j->reference) {
		return 0;
	}
	j->rank.reference_tick_s = lag_s(j, j->link->rank);
	j->rank.pairs.reference_tick_s =
		isfinite(j->rank.reference_tick_s) ? j->rank.reference_tick_s : 1 / j->reference->hz;
	return cal_job_pair_now(j, err);
}

int cal_job_begin(struct cal_job *j, struct cal_link *link, const struct cal_job_options *o, struct tkm_err *err)
{
	size_t n = (size_t)link->size;
	struct cal_tick own;
	double own_s;

	memset(j, 0, sizeof(*j));
	j->link = link;
	j->timer = link->timer;
	atomic_flag_clear(&j->pairs_taken);
	j->o = *o;
	j->place = calloc(n, sizeof(*j->place));
	j->exchanges = calloc(n, 1);
	j->hz = calloc(n, sizeof(*j->hz));
	j->tie = calloc(n, sizeof(*j->tie));
	j->tick = calloc(n, sizeof(*j->tick));
	if (!j->place || !j->exchanges || !j->hz || !j->tie || !j->tick) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", link->size);
	}
	describe_job_rank(j);
	own = measure_tick(link->timer);
	own_s = (isfinite(own.lag_ticks) ? own.lag_ticks : 1) / link->timer->hz;
	if (cal_domains_find(link, link->timer, own_s, o->prove_s, j->place, err) < 0 || share_hz(j, err) < 0 ||
		cal_ticks_agree(link, j->place, own, j->tick, err) < 0) {
		return -1;
	}
	j->rank.effective_tick_s = lag_s(j, link->rank);
	cal_places_choose(j->place, link->size, o->synced_host,
		o->synced_cluster >= 0 ? o->synced_cluster : link->timer->scope == TMR_SCOPE_CLUSTER, j->exchanges,
		&j->rank);
	if (choose_clock(j, err) < 0 ||
		cal_places_plan(j->place, link->size, j->exchanges, o->shape, &j->plan, err) < 0 ||
		(o->learn_from && cal_job_look_up_earlier(j, err) < 0)) {
		return -1;
	}
	begin_maps(j);
	return 0;
}

/* Copies the leader's point to every rank that shares its clock. */
static int hand_down(struct cal_job *j, struct cal_session *s, struct tkm_err *err)
{
	struct cal_link *l = j->link;
	int me = l->rank, i;

	if (j->rank.sync == CAL_SHARED) {
		return cal_link_send(l, j->rank.leader, me, s, sizeof(*s), err);
	}
	for (i = 0; i < l->size; i++) {
		int leader = j->o.synced_cluster > 0 || l->timer->scope == TMR_SCOPE_CLUSTER ? 0 : j->place[i].leader;

		if (i != me && i != 0 && !j->exchanges[i] && leader == me &&
			cal_link_send(l, me, i, s, sizeof(*s), err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* The master's own clock, and that of those who share it: the identity. */
static struct cal_session identity(const struct cal_job *j, enum cal_session_kind kind)
{
	ltick_t now = tmr_read_ordered(j->link->timer);

	return (struct cal_session){
		.kind = kind, .given = 1, .point = { .local = now, .master = now, .kept = 1, .all = 1 }
	};
}

/* Adds what this rank knows after the session to its map. */
static int learn(struct cal_job *j, enum cal_session_kind kind, struct tkm_err *err)
{
	struct cal_offset_estimate *t = &j->tie[j->link->rank];
	struct cal_session s = { .kind = kind };
	const struct cal_session *own = j->rank.sessions ? &j->rank.session[j->rank.sessions - 1] : NULL;
	const struct cal_map *m = &j->online.map;
	double ticks, found, error;

	if (j->link->rank == 0) {
		s = identity(j, kind);
	} else if (j->exchanges[j->link->rank]) {
		s.given = t->known;
		s.point = t->point;
	}
	if (hand_down(j, &s, err) < 0) {
		s.given = 0; /* the band only gets wider */
	}
	s.n = 0;
	s.sample = NULL;
	/* the samples with the master itself say more than one point, if there are any */
	own = j->exchanges[j->link->rank] && own && own->n > 0 ? own : &s;
	if (own == &s && !s.given) {
		return 0;
	}
	cal_pairs_free(&j->online.map.pairs);
	if (cal_online_add(&j->online, own, err) < 0) {
		return -1;
	}
	if (j->rank.sync == CAL_SHARED) {
		j->online.map.extra_s = j->rank.shared_within_s;
	}
	ticks = m->period_s * j->hz[0];
	found = 0.5 * (m->rate_low + m->rate_high) * ticks;
	error = 0.5 * (m->rate_high - m->rate_low) * ticks / found;
	if (j->link->rank != 0 && m->rate_low > 0 && error < t->error) {
		t->slope = found;
		t->error = error;
	}
	return 0;
}

static void thin(struct cal_job *j)
{
	struct cal_rank *r = &j->rank;
	size_t k;

	for (k = r->edges; k > 0 && r->edge[k - 1].at + 1 == r->sessions; k--) {
		cal_session_thin(&r->edge[k - 1], KEPT_SAMPLES, j->hz[r->edge[k - 1].peer] / j->hz[r->rank]);
	}
}

int cal_job_session(struct cal_job *j, enum cal_session_kind kind, struct tkm_err *err)
{
	struct cal_sync_report report = { .lost = 0 };
	struct cal_sync_options opt = { .max_messages = j->o.max_messages,
		.max_duration_s = j->o.max_duration_s,
		.method = j->o.method,
		.hz = j->hz,
		.brief = kind == CAL_MIDDLE,
		.tie = j->tie,
		.report = &report };
	double begin = cal_link_seconds(j->link);
	struct tkm_err late;
	int rc = cal_job_pair_now(j, err);

	if (cal_sync_ranks(j->link, 0, &j->plan, j->exchanges, &opt, kind, &j->rank, err) < 0) {
		rc = -1;
	}
	j->sessions++;
	cal_job_look_for_disruption(j);
	if (report.lost && j->report.lost == 0) {
		j->report.first = report.first;
	}
	j->report.lost += report.lost;
	if (rc == 0) {
		rc = learn(j, kind, err);
	}
	if (kind == CAL_MIDDLE) {
		thin(j);
	}
	if (j->plan.pairs) {
		/* waits asleep: the program would continue into waits of MPI, which take cores from ranks that still
		 * exchange messages. A rank that does not come was reported by the session already. */
		cal_link_barrier(j->link, &late);
	}
	if (rc == 0) {
		rc = cal_job_pair_now(j, err);
	}
	j->session_s = cal_link_seconds(j->link) - begin;
	return rc;
}

const struct cal_map *cal_job_map(struct cal_job *j)
{
	cal_job_pair(j);
	if (j->online.map.pieces && cal_job_recent_pairs(j, NULL) < 0) {
		return NULL;
	}
	return j->online.map.pieces ? &j->online.map : NULL;
}

double cal_job_due(struct cal_job *j, ltick_t now, double target_s)
{
	const struct cal_map *m = cal_job_map(j);

	if (j->link->rank == 0) {
		return INFINITY;
	}
	return m ? cal_map_lasts(m, now, target_s) : 0;
}

void cal_job_end(struct cal_job *j)
{
	cal_job_close_reference(j);
	cal_rank_free(&j->rank);
	cal_online_free(&j->online);
	cal_plan_free(&j->plan);
	free(j->place);
	free(j->exchanges);
	free(j->hz);
	free(j->earlier);
	free(j->tie);
	free(j->tick);
	memset(j, 0, sizeof(*j));
}
