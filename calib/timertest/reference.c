/* SPDX-License-Identifier: BSD-3-Clause */
/* What timertest assumes about its timers. For steered clocks also the free clock beside them, and the pairs of
 * readings. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"

/* Enough for the effective tick of a kernel clock. */
static const double look_s = 0.02;

/* A steered clock needs a reference only where it is corrected: not if all processes read one clock. */
static int wants_reference(const struct cal_test *t)
{
	int i, any = 0;

	for (i = 0; i < t->link->size; i++) {
		any = any || t->exchanges[i];
	}
	return any && t->rank.sync == CAL_OWN && t->timer->flags & TMR_SLEWED;
}

static int open_reference_clock(struct cal_test *t, struct tkm_err *err)
{
	struct tmr_assumption a;
	struct tmr_quality q;
	int why;

	if (!wants_reference(t)) {
		return 0;
	}
	t->reference = tmr_open_reference(t->timer, &why, err);
	if (!t->reference) {
		return why ? -1 : 0;
	}
	if (tmr_quality_measure(t->reference, look_s, 1, &q, err) < 0) {
		return -1;
	}
	tmr_assume(t->timer, &a);
	snprintf(t->rank.reference, sizeof(t->rank.reference), "%s", t->reference->name);
	t->rank.reference_hz = t->reference->hz;
	t->rank.reference_tick_s = fmax(tmr_reading_lag(t->reference, &q), 1 / t->reference->hz);
	t->rank.pairs.max_slew = a.max_slew;
	t->rank.pairs.slew_limit = a.slew_limit;
	t->rank.pairs.reference_hz = t->reference->hz;
	t->rank.pairs.hz = t->timer->hz;
	return 0;
}

int cal_test_open_reference(struct cal_test *t, struct tkm_err *err)
{
	int root;

	if (cal_test_all_well(t, open_reference_clock(t, err), err) < 0) {
		return -1;
	}
	root = tkm_root_open("/");
	t->rank.has_disruption = tmr_disruption_marker(root, &t->rank.disruption);
	if (root >= 0) {
		close(root);
	}
	return cal_test_assume(t, t->reference ? t->reference : t->timer, err);
}

/* The largest of all ranks, known to all. */
static int agree_on_largest(struct cal_test *t, double *value, struct tkm_err *err)
{
	struct cal_blobs all;
	double one;
	int i;

	if (cal_link_gather(t->link, value, sizeof(*value), &all, err) < 0) {
		return -1;
	}
	for (i = 0; i < all.n; i++) {
		memcpy(&one, all.data[i], sizeof(one));
		*value = fmax(*value, one);
	}
	cal_blobs_free(&all);
	return cal_link_bcast(t->link, value, sizeof(*value), err);
}

int cal_test_assume(struct cal_test *t, const struct tmr_timer *timer, struct tkm_err *err)
{
	struct tmr_assumption a;

	tmr_assume(timer, &a);
	if (!isnan(t->o.max_drift)) {
		a.max_drift = t->o.max_drift;
		snprintf(a.drift_from, sizeof(a.drift_from), "given with --max-drift");
	}
	if (!isnan(t->o.max_wander)) {
		a.max_wander = t->o.max_wander;
		snprintf(a.wander_from, sizeof(a.wander_from), "given with --max-wander");
	}
	t->rank.max_drift = t->o.max_drift = a.max_drift;
	t->rank.max_wander = t->o.max_wander = a.max_wander;
	snprintf(t->rank.drift_from, sizeof(t->rank.drift_from), "%s", a.drift_from);
	snprintf(t->rank.wander_from, sizeof(t->rank.wander_from), "%s", a.wander_from);
	return agree_on_largest(t, &t->o.max_drift, err) < 0 || agree_on_largest(t, &t->o.max_wander, err) < 0 ? -1 : 0;
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

/* Was the virtual machine moved since the session before? */
void cal_test_look_for_disruption(struct cal_test *t)
{
	uint64_t marker;
	int root = tkm_root_open("/");

	if (t->rank.has_disruption && !t->rank.disruption_changed && tmr_disruption_marker(root, &marker) &&
		marker != t->rank.disruption) {
		t->rank.disruption_changed = t->synchronised;
	}
	if (root >= 0) {
		close(root);
	}
}
