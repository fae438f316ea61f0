/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of synchronisation held against the truth: all of them in turn, over one link, with simulated clocks
 * whose truth is a formula over one clock that all processes share. */
#ifndef CALIB_TRUTH_H
#define CALIB_TRUTH_H

#include "calib/baseline.h"
#include "calib/online.h"
#include "calib/sync.h"

enum cal_truth_method {
	CAL_TRUTH_PAIRS, /* ours */
	CAL_TRUTH_ITC,   /* the guide's */
	CAL_TRUTH_BASELINE, /* + enum cal_baseline */
	CAL_TRUTH_METHODS = CAL_TRUTH_BASELINE + CAL_BASELINES,
};

/* "pairs", "itc", "min10", "skampi", "hca3", "jk" */
const char *cal_truth_name(int method);

/* When the truth is looked at: seconds after the method has ended. The clocks are formulas, so nobody waits:
 * what each will show then is computed, and the method's line is asked what it makes of that; for pairs the map of
 * a run that still lasts (calib/online.h). */
enum { CAL_TRUTH_TIMES = 3 };
extern const double cal_truth_after_s[CAL_TRUTH_TIMES]; /* 0, 10, 60 */

/* One method in one round; the largest over all ranks. NAN: the method has none. */
struct cal_truth_row {
	double rtt_s;      /* shortest round trip among its own messages */
	double error_s[CAL_TRUTH_TIMES];
	double bound_s[CAL_TRUTH_TIMES];
	double between_s;  /* worst error from the first session to the last, by the line through these two, as it is
	                    * corrected after a run: pairs and itc */
	double half_s;     /* of the narrowest interval that is certain, pairs and itc */
	double claimed_s;  /* its own word on its error, right after: a bound, or a check that it makes */
	double duration_s; /* of a session; the median of several */
	double total_s;    /* of all of them */
	double exchange_s; /* what the recorded exchanges alone took on their ways, in all sessions: without waiting for
	                    * a core, which is most of the rest on a machine with others on it; pairs and itc */
	int sessions;
	long long messages; /* of all sessions, those included that are not recorded as far as they are counted */
	int outside;       /* errors beyond their bound, of ranks and times */
};

struct cal_truth_options {
	unsigned methods;         /* bit 1 << method */
	int rounds;
	double apart_s;           /* between the first and the last session of pairs and itc */
	int sessions;             /* of pairs, evenly spread; at least 2. itc has two, as the guide says */
	struct cal_sync_options sync; /* its method is not looked at; hz is needed */
	const struct cal_plan *plan;  /* of all ranks, for pairs */
	struct cal_baseline_options baseline;
	double max_drift, max_wander;
	const double *tick_s;     /* effective tick of each rank's timer */
	struct tmr_timer *const *clock; /* of each rank, simulated over one base; rank 0 alone needs it */
	void (*progress)(void *ctx, int round, const char *method); /* may be NULL; called on rank 0 */
	void *ctx;
};

/* l->timer is set, in a simulation to the clock of rank 0. row has opt->rounds * CAL_TRUTH_METHODS places, row
 * [round * CAL_TRUTH_METHODS + method], filled on rank 0. Each round has all methods, begun by another one each
 * time. Returns 0 or -1. */
int cal_truth_measure(struct cal_link *l, const struct cal_truth_options *opt, struct cal_truth_row *row,
	struct tkm_err *err);

#endif
