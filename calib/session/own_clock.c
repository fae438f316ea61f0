/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of this process; see calib/session/own_clock.h. */
#include "config.h"
#include "calib/session/own_clock.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "timers/quality/assume.h"

int cal_own_reference(struct cal_rank *r, struct tmr_timer *t, struct tmr_timer **reference, struct tkm_err *err)
{
	struct tmr_assumption a;
	int why;

	*reference = tmr_open_reference(t, &why, err);
	if (!*reference) {
		return why ? -1 : 0;
	}
	tmr_assume(t, &a);
	snprintf(r->reference, sizeof(r->reference), "%s", (*reference)->name);
	r->reference_hz = r->pairs.reference_hz = (*reference)->hz;
	r->pairs.hz = t->hz;
	r->pairs.max_slew = a.max_slew;
	r->pairs.slew_limit = a.slew_limit;
	return 0;
}

void cal_own_assumptions(
	struct cal_rank *r, const struct tmr_timer *t, double max_drift, double max_wander, const char *const given[2])
{
	struct tmr_assumption a;

	tmr_assume(t, &a);
	r->max_drift = isnan(max_drift) ? a.max_drift : max_drift;
	r->max_wander = isnan(max_wander) ? a.max_wander : max_wander;
	snprintf(r->drift_from, sizeof(r->drift_from), "%s", isnan(max_drift) ? a.drift_from : given[0]);
	snprintf(r->wander_from, sizeof(r->wander_from), "%s", isnan(max_wander) ? a.wander_from : given[1]);
}

static int read_marker(uint64_t *marker)
{
	int root = tkm_root_open("/"), has = tmr_disruption_marker(root, marker);

	if (root >= 0) {
		close(root);
	}
	return has;
}

void cal_own_mark_machine(struct cal_rank *r)
{
	r->has_disruption = read_marker(&r->disruption);
}

int cal_own_machine_moved(struct cal_rank *r, int sessions)
{
	uint64_t marker;

	if (!r->has_disruption || r->disruption_changed || !read_marker(&marker) || marker == r->disruption) {
		return 0;
	}
	r->disruption_changed = sessions;
	return 1;
}
