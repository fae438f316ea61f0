/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the simulated network and clocks, and compares them with real ones: "0 bounds were wrong" means little if the
 * simulation was too easy. */
#include "config.h"
#include "lab/calibsim/calibsim.h"

#include <math.h>
#include <string.h>

#include "timers/sources/sim.h"

struct cal_link *cs_open_link(const struct cs_options *o, int domains, struct tkm_err *err)
{
	struct cal_link *l = cal_link_sim(domains, o->clocks, o->network, err);
	struct cal_drift *drift;

	if (!l || !o->recording) {
		return l;
	}
	drift = cal_drift_read(o->recording, err);
	if (!drift || cal_link_sim_drift(l, drift, err) < 0) {
		cal_link_close(l);
		return NULL;
	}
	return l;
}

/* Rate of a clock over a stretch of true time, minus 1. */
static double rate_between(const struct tmr_timer *clock, int64_t from_ps, int64_t to_ps)
{
	double f0, f1;
	ltick_t a = tmr_sim_truth(clock, from_ps, &f0), b = tmr_sim_truth(clock, to_ps, &f1);

	return ((double)ltick_sub(b, a) + f1 - f0) / clock->hz / ((double)(to_ps - from_ps) * 1e-12) - 1;
}

int cs_model(const struct cs_options *o, struct cs_model *m, struct tkm_err *err)
{
	enum { CLOCKS = 64, POINTS = 200 };
	struct cal_link *l = cs_open_link(o, o->size[0] < CLOCKS ? o->size[0] : CLOCKS, err);
	int64_t begin, step;
	int i, k;

	*m = (struct cs_model){ .wander = 0 };
	if (!l) {
		return -1;
	}
	cal_link_sim_describe(l, &m->network);
	begin = cal_link_sim_time(l)->now_ps;
	step = llrint(o->apart_s * (double)(o->sessions - 1) / POINTS * 1e12);
	for (i = 0; i < l->size; i++) {
		const struct tmr_timer *clock = cal_link_sim_clock(l, i);
		double mean = rate_between(clock, begin, begin + POINTS * step);

		m->drift = fmax(m->drift, fabs(mean));
		for (k = 0; k < POINTS; k++) {
			m->wander = fmax(
				m->wander, fabs(rate_between(clock, begin + k * step, begin + (k + 1) * step) - mean));
		}
	}
	cal_link_close(l);
	return 0;
}

int cs_model_remark(const struct cs_options *o, const struct cs_model *m, int i, char *buf, size_t size)
{
	/* far below the assumption: the simulation hardly tests the bounds */
	const int mild_wander = m->wander<0.5 * o->max_wander, hard_wander = m->wander> o->max_wander,
		  hard_drift = m->drift > o->max_drift;

	*buf = '\0';
	if (mild_wander && i-- == 0) {
		snprintf(buf, size,
			"milder than assumed: rates change by at most %.2g ppm during the run, the bounds assume up to "
			"%g ppm",
			m->wander * 1e6, o->max_wander * 1e6);
	} else if (hard_wander && i-- == 0) {
		snprintf(buf, size,
			"harder than assumed: rates change by up to %.3g ppm during the run, the bounds assume at most "
			"%g ppm",
			m->wander * 1e6, o->max_wander * 1e6);
	} else if (hard_drift && i-- == 0) {
		snprintf(buf, size,
			"harder than assumed: clocks are up to %.4g ppm off, the bounds assume at most %g ppm",
			m->drift * 1e6, o->max_drift * 1e6);
	} else if (!(m->network.load > 0) && i-- == 0) {
		snprintf(buf, size, "milder than real networks: no traffic of others (queue=120ns,load=0.4 adds it)");
	} else if (!m->network.heavy_tail && i-- == 0) {
		snprintf(buf, size,
			"milder than real networks: delays have no heavy tail (dist=pareto,shape=1.5 gives them one)");
	} else if (!(m->network.outliers > 0) && i-- == 0) {
		snprintf(buf, size, "milder than real machines: no process is ever held up (outliers=100ppm does it)");
	}
	return *buf != '\0';
}
