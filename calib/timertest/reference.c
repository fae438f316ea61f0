/* SPDX-License-Identifier: BSD-3-Clause */
/* What timertest assumes about its timers. For steered clocks also the free clock beside them, and the pairs of
 * readings. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>

#include "calib/session/own_clock.h"

/* Enough for the effective tick of a kernel clock. */
static const double look_s = 0.02;

/* A steered clock needs a reference only where it is corrected: not if all processes read one clock. The clock of a device is compared
 * with the host's also where there is one process. */
static int wants_reference(const struct cal_test *t)
{
	int i, any = t->link->size == 1 && t->timer->flags & TMR_DEVICE;

	for (i = 0; i < t->link->size; i++) {
		any = any || t->exchanges[i];
	}
	return any && t->rank.sync == CAL_OWN && t->timer->flags & TMR_SLEWED;
}

static int open_reference_clock(struct cal_test *t, struct tkm_err *err)
{
	struct tmr_quality q;

	if (!wants_reference(t)) {
		return 0;
	}
	if (cal_own_reference(&t->rank, t->timer, &t->reference, err) < 0) {
		return -1;
	}
	if (t->reference) {
		if (tmr_quality_measure(t->reference, look_s, 1, &q, err) < 0) {
			return -1;
		}
		t->rank.reference_tick_s = fmax(tmr_reading_lag(t->reference, &q), 1 / t->reference->hz);
	}
	return 0;
}

int cal_test_open_reference(struct cal_test *t, struct tkm_err *err)
{
	if (cal_test_all_well(t, open_reference_clock(t, err), err) < 0) {
		return -1;
	}
	cal_own_mark_machine(&t->rank);
	return cal_test_assume(t, t->reference ? t->reference : t->timer, err);
}

int cal_test_assume(struct cal_test *t, const struct tmr_timer *timer, struct tkm_err *err)
{
	static const char *const given[2] = { "given with --max-drift", "given with --max-wander" };

	cal_own_assumptions(&t->rank, timer, t->o.max_drift, t->o.max_wander, given);
	t->o.max_drift = t->rank.max_drift;
	t->o.max_wander = t->rank.max_wander;
	return cal_link_largest(t->link, &t->o.max_drift, err) < 0 ? -1
								   : cal_link_largest(t->link, &t->o.max_wander, err);
}

/* ---- pairs ---- */

int cal_test_pair(struct cal_test *t, struct tkm_err *err)
{
	return t->reference ? cal_pairs_take(&t->rank.pairs, t->timer, t->reference, t->synchronised, err) : 0;
}

void cal_test_pair_if_due(void *tt)
{
	struct cal_test *t = tt;

	if (t->reference && cal_pairs_due(&t->rank.pairs, tmr_read_ordered(t->reference))) {
		/* one that is missing only makes the bound wider */
		cal_pairs_take(&t->rank.pairs, t->timer, t->reference, t->synchronised, NULL);
	}
}

int cal_test_settle(struct cal_test *t, struct tkm_err *err)
{
	int i;

	for (i = 0; t->reference && i < 3; i++) {
		if (cal_test_pair(t, err) < 0) {
			return -1;
		}
		cal_link_sleep(t->link, cal_pair_every_s);
	}
	return cal_test_pair(t, err);
}
