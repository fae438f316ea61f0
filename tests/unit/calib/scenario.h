/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of the calibration over simulated clocks and a simulated network. */
#ifndef TESTS_UNIT_CALIB_SCENARIO_H
#define TESTS_UNIT_CALIB_SCENARIO_H

#include "calib/session/sync.h"
#include "calib/solve/solve.h"
#include "lab/compare/link_sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "timers/sources/sim.h"

/* ---- scenarios ---- */

struct scenario {
	const char *name;
	int ranks;
	const char *clocks, *network;
	double seconds, every;      /* length of the run, time between middle sessions (0: none) */
	int skip;                   /* TIMER-SKIP */
	double limit_s;             /* largest true error allowed inside the run; 0: only the bound counts */
	double widest_s;            /* the bound at the end sessions must not be wider; 0: no matter */
	enum cal_interpolation how; /* through more than two sessions */
	enum cal_sync_method method;
};

/* A whole run over the simulation. */
static inline int calibrate(struct cal_link *l, const struct scenario *sc, struct cal_run *run, struct tkm_err *err)
{
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = sc->method };
	int n = l->size, sessions = sc->every > 0 ? (int)(sc->seconds / sc->every) + 1 : 2, k, i;
	unsigned char *exchanges = malloc((size_t)n);
	struct cal_session *s = calloc((size_t)n, sizeof(*s));
	double *hz = calloc((size_t)n, sizeof(*hz));
	struct tmr_timer *clock;
	double begin = cal_link_seconds(l);
	int rc = -1;

	*run = (struct cal_run){
		.ranks = (size_t)n, .max_drift = 500e-6, .max_wander = 1e-6, .wanted = sc->how, .method = sc->method
	};
	run->rank = calloc((size_t)n, sizeof(*run->rank));
	memset(exchanges, 1, (size_t)n);
	for (i = 0; i < n; i++) {
		run->rank[i].rank = i;
		clock = cal_link_sim_clock(l, i);
		run->rank[i].nominal_hz = hz[i] = clock->hz;
		run->rank[i].effective_tick_s = 1 / clock->hz;
		run->rank[i].may_step = (clock->flags & TMR_STEPPED) != 0;
		run->rank[i].session = calloc((size_t)sessions, sizeof(*run->rank[i].session));
	}
	opt.hz = hz;
	for (k = 0; k < sessions; k++) {
		double at = begin + sc->seconds * k / (sessions - 1);

		cal_link_sleep(l, at - cal_link_seconds(l));
		if (k == 0 || k == sessions - 1) {
			struct cal_anchor *a = &run->rank[0].anchor[run->rank[0].anchors++];

			a->local = tmr_read(cal_link_sim_clock(l, 0));
			a->realtime_ns = a->monotonic_ns = cal_link_sim_time(l)->now_ps / 1000;
		}
		memset(s, 0, (size_t)n * sizeof(*s));
		if (cal_sync_session(l, 0, exchanges, &opt,
			    k == 0                      ? CAL_START
				    : k == sessions - 1 ? CAL_END
							: CAL_MIDDLE,
			    s, err) < 0) {
			goto out;
		}
		for (i = 1; i < n; i++) {
			run->rank[i].session[run->rank[i].sessions++] = s[i];
		}
	}
	rc = cal_solve(run, sc->skip, err);
out:
	free(s);
	free(hz);
	free(exchanges);
	return rc;
}

#endif
