/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "calib/map/run.h"

#include <stdlib.h>
#include <string.h>

const char *cal_interpolation_name(enum cal_interpolation how)
{
	static const char *const names[] = { "linear", "constrained", "steffen", "cubic" };

	return names[how];
}

double cal_rank_hz(const struct cal_rank *r)
{
	return r->nominal_hz > 0 ? r->nominal_hz : r->measured_hz;
}

double cal_session_hz(const struct cal_rank *r)
{
	return r->reference_hz > 0 ? r->reference_hz : cal_rank_hz(r);
}

double cal_session_tick(const struct cal_rank *r)
{
	return r->reference_hz > 0 ? r->reference_tick_s : r->effective_tick_s;
}

int cal_session_may_step(const struct cal_rank *r)
{
	return r->reference_hz > 0 ? 0 : r->may_step;
}

void cal_rank_free(struct cal_rank *r)
{
	size_t k;

	for (k = 0; k < r->sessions; k++) {
		cal_session_free(&r->session[k]);
	}
	for (k = 0; k < r->edges; k++) {
		cal_session_free(&r->edge[k]);
	}
	free(r->session);
	free(r->edge);
	cal_pairs_free(&r->pairs);
	cal_map_free(&r->map);
	memset(r, 0, sizeof(*r));
}

void cal_run_free(struct cal_run *run)
{
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		cal_rank_free(&run->rank[i]);
	}
	free(run->rank);
	memset(run, 0, sizeof(*run));
}
