/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the interpolations of GSL with the true times. They use the same offsets as the maps, and the errors are
 * taken in the same way. */
#include "config.h"
#include "lab/calibsim/calibsim.h"

#include <math.h>
#include <stdlib.h>

#include "calib/analysis/analysis.h"
#include "timers/sources/sim.h"

enum { POINTS = 97 };

/* Times, offsets, and the points between the first and the last time at which all curves are compared. */
struct work {
	double *x, *y;
	size_t n;
	double at[POINTS], truth[POINTS], found[POINTS];
};

/* What the map knows of the rank at its nodes: seconds since the first, and offset to the nominal rate. */
static void nodes_of(struct work *w, const struct cal_run *run, const struct cal_map *m, double hz)
{
	size_t k;

	for (k = 0; k < m->nodes; k++) {
		w->x[k] = (double)ltick_sub(m->node[k].local, m->node[0].local) / hz;
		w->y[k] = (double)gtick_sub(m->node[k].global, m->node[0].global) * run->period_s - w->x[k];
	}
	w->n = m->nodes;
}

/* The true offsets at the points, and the largest error of the map there. */
static double truth_of(struct work *w, const struct cal_link *l, const struct cal_run *run, int rank)
{
	const struct cal_map *m0 = &run->rank[0].map, *m = &run->rank[rank].map;
	const struct tmr_timer *clock = cal_link_sim_clock(l, rank);
	int64_t from = tmr_sim_base_at(clock, m->node[0].local),
		to = tmr_sim_base_at(clock, m->node[m->nodes - 1].local);
	double worst = 0;
	int k;

	for (k = 0; k < POINTS; k++) {
		int64_t base = from + (to - from) / POINTS * k;
		double f0, f;
		ltick_t l0 = tmr_sim_truth(cal_link_sim_clock(l, 0), base, &f0), here = tmr_sim_truth(clock, base, &f);
		gtick_t true_global = cal_map_at(m0, l0);

		w->at[k] = fmax(0, ((double)ltick_sub(here, m->node[0].local) + f) / clock->hz);
		w->truth[k] = ((double)gtick_sub(true_global, m->node[0].global) + f0 * cal_map_slope(m0, l0)) *
				run->period_s -
			w->at[k];
		worst = fmax(worst,
			fabs((double)gtick_sub(cal_map_at(m, here), true_global) + f * cal_map_slope(m, here) -
				f0 * cal_map_slope(m0, l0)) *
				run->period_s);
	}
	return worst;
}

int cs_compare_splines(const struct cal_link *l, const struct cal_run *run, struct cs_row *row, struct tkm_err *err)
{
	struct work w = { .n = 0 };
	size_t r;
	int i, k, rc = 0;

	for (r = 1; r < run->ranks && rc == 0; r++) {
		const struct cal_map *m = &run->rank[r].map;

		if (run->rank[r].sync == CAL_SHARED || m->nodes < 2) {
			continue;
		}
		w.x = malloc(2 * m->nodes * sizeof(*w.x));
		if (!w.x) {
			return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the splines");
		}
		w.y = w.x + m->nodes;
		nodes_of(&w, run, m, cal_link_sim_clock(l, (int)r)->hz);
		row->ours_max_s = fmax(row->ours_max_s, truth_of(&w, l, run, (int)r));
		for (i = 0; i < CAL_SPLINES_OF_GSL && rc == 0; i++) {
			rc = cal_spline_of_gsl(i, w.x, w.y, w.n, w.at, w.found, POINTS);
			for (k = 0; k < POINTS; k++) {
				row->spline_max_s[i] = fmax(row->spline_max_s[i], fabs(w.found[k] - w.truth[k]));
			}
		}
		free(w.x);
	}
	return rc == 0
		? 0
		: tkm_fail(err, TKM_ERR_ARG, "--compare-splines: needs --sessions 5 or more, and GSL in this build");
}
