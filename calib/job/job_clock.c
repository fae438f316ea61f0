/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock calibration in a job: the assumptions about the timer, the free clock beside a steered one, and the pairs of
 * both. */
#include "config.h"
#include "calib/job/job_clock.h"

#include <math.h>
#include <sched.h>

#include "calib/session/own_clock.h"

/* Pairs that the map of a running job looks at; stamps that come are after them. */
enum { RECENT = 64 };

int cal_job_open_reference(struct cal_job *j, struct tkm_err *err)
{
	static const char *const given[2] = { "given", "given" };
	int i, exchanging = 0;

	cal_own_mark_machine(&j->rank);
	for (i = 0; i < j->link->size; i++) {
		exchanging = exchanging || j->exchanges[i];
	}
	/* if all ranks read one clock, nothing has to be corrected */
	j->reference = NULL;
	if (exchanging && cal_own_reference(&j->rank, j->timer, &j->reference, err) < 0) {
		return -1;
	}
	if (j->reference) {
		j->link->timer = j->reference;
		j->rank.pairs.tick_s = fmax(j->rank.effective_tick_s, 1 / j->timer->hz);
		j->rank.pairs.may_step = j->rank.may_step;
	}
	cal_own_assumptions(&j->rank, j->link->timer, j->o.max_drift > 0 ? j->o.max_drift : NAN,
		j->o.max_wander > 0 ? j->o.max_wander : NAN, given);
	j->o.max_drift = j->rank.max_drift;
	j->o.max_wander = j->rank.max_wander;
	return 0;
}

void cal_job_close_reference(struct cal_job *j)
{
	if (j->reference) {
		j->link->timer = j->timer;
		tmr_close(j->reference);
		j->reference = NULL;
	}
}

/* Sessions and another thread that calls cal_job_pair() must not use the pairs at the same time. */
static void lock_job_clock(struct cal_job *j)
{
	while (atomic_flag_test_and_set_explicit(&j->pairs_taken, memory_order_acquire)) {
		sched_yield();
	}
}

static void unlock_job_clock(struct cal_job *j)
{
	atomic_flag_clear_explicit(&j->pairs_taken, memory_order_release);
}

void cal_job_pair(struct cal_job *j)
{
	if (!j->reference || atomic_flag_test_and_set_explicit(&j->pairs_taken, memory_order_acquire)) {
		return;
	}
	if (!j->pairs_stopped && cal_pairs_due(&j->rank.pairs, tmr_read_ordered(j->reference))) {
		/* a missing pair only makes the bound wider */
		cal_pairs_take(&j->rank.pairs, j->timer, j->reference, (int)j->sessions, NULL);
	}
	unlock_job_clock(j);
}

int cal_job_pair_now(struct cal_job *j, struct tkm_err *err)
{
	int rc;

	if (!j->reference) {
		return 0;
	}
	lock_job_clock(j);
	rc = cal_pairs_take(&j->rank.pairs, j->timer, j->reference, (int)j->sessions, err);
	unlock_job_clock(j);
	return rc;
}

int cal_job_keep(struct cal_job *j, FILE *f, struct tkm_err *err)
{
	int rc;

	lock_job_clock(j);
	rc = cal_clk_write_new(f, &j->rank, &j->kept, err);
	unlock_job_clock(j);
	return rc;
}

void cal_job_stop_pairs(struct cal_job *j)
{
	if (j->reference) {
		lock_job_clock(j);
		j->pairs_stopped = 1;
		unlock_job_clock(j);
	}
}

/* The newest pairs are those that the map of a running job needs. */
int cal_job_recent_pairs(struct cal_job *j, struct tkm_err *err)
{
	struct cal_pairs *all = &j->rank.pairs, some;
	int rc;

	if (!j->reference) {
		return 0;
	}
	cal_pairs_free(&j->online.map.pairs);
	lock_job_clock(j);
	some = *all;
	some.n = all->n < RECENT ? all->n : RECENT;
	some.pair = all->pair + (all->n - some.n);
	some.branch = NULL;
	some.branches = 0;
	rc = cal_pairs_copy(&j->online.map.pairs, &some);
	unlock_job_clock(j);
	if (rc < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for readings of the clock");
	}
	/* for a clock that can be set, also a pair of now, which is not kept: it shows a step since the last pair */
	rc = !j->rank.may_step ? 0
			       : cal_pairs_take(&j->online.map.pairs, j->timer, j->reference, (int)j->sessions, err);
	return rc < 0 ? rc : cal_pairs_judge(&j->online.map.pairs, err);
}

void cal_job_look_for_disruption(struct cal_job *j)
{
	if (cal_own_machine_moved(&j->rank, (int)j->sessions)) {
		j->online.map.may_step = j->online.opt.may_step = 1;
	}
}
