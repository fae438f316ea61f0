/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares methods of measuring offsets with the true times: all methods in turn, over one link, with simulated clocks.
 * Each is a formula over one clock that all processes share, so the true offsets are known. */
#ifndef CALIB_TRUTH_H
#define CALIB_TRUTH_H

#include "lab/compare/baseline.h"
#include "calib/map/online.h"
#include "calib/session/sync.h"

enum cal_truth_method {
	CAL_TRUTH_PAIRS,    /* ours */
	CAL_TRUTH_ITC,      /* the guide's */
	CAL_TRUTH_BASELINE, /* + enum cal_baseline */
	CAL_TRUTH_METHODS = CAL_TRUTH_BASELINE + CAL_BASELINES,
};

/* "pairs", "itc", "min10", "skampi", "hca3", "jk" */
const char *cal_truth_name(int method);

/* How many messages the methods of others send. A method that takes longer or sends more is better for that alone, so
 * the tables differ in this. */
enum cal_truth_table {
	CAL_TRUTH_PUBLISHED, /* the numbers of messages of their authors */
	CAL_TRUTH_TIME,      /* as many as take the time of all sessions of pairs in this round */
	CAL_TRUTH_MESSAGES,  /* as many as pairs sends in all sessions of this round */
	CAL_TRUTH_TABLES,
};

/* "published", "time", "messages" */
const char *cal_truth_table_name(int table);

/* When the error is evaluated: seconds after the method has ended. The clocks are formulas, so nothing has to wait: the
 * program computes what each clock will show then, and compares it with the method's line. For "pairs" it uses the map
 * of a run that still lasts (calib/map/online.h). */
enum { CAL_TRUTH_TIMES = 3 };
extern const double cal_truth_after_s[CAL_TRUTH_TIMES]; /* 0, 10, 60 */

/* One method in one round; the largest over all ranks. NAN: the method has no such figure. */
struct cal_truth_row {
	double rtt_s; /* shortest round trip among the method's own messages */
	double error_s[CAL_TRUTH_TIMES];
	double bound_s[CAL_TRUTH_TIMES];
	double between_s;  /* worst error from the first session to the last, by the line through these two, as it is
	                    * corrected after a run: pairs, itc and min10 */
	double half_s;     /* of the narrowest interval that is certain, pairs and itc */
	double claimed_s;  /* what it states as its error, right after: a bound, or a check that it makes */
	double duration_s; /* of a session; the median of several */
	double total_s;    /* of all of them */
	double exchange_s; /* what the recorded exchanges alone took on their ways, in all sessions: without waiting for
	                    * a core, which is most of the rest on a machine with others on it; pairs and itc */
	int sessions;
	long long messages; /* of all sessions, those included that are not recorded as far as they are counted */
	int outside;        /* errors beyond their bound, of ranks and times */
};

struct cal_truth_options {
	unsigned methods; /* bit 1 << method */
	unsigned tables;  /* bit 1 << table; the first is always made, and the others need pairs */
	int rounds;
	double apart_s;               /* between the first and the last session of pairs, itc and min10 */
	int sessions;                 /* of pairs, evenly spread; at least 2. itc and min10 have two */
	struct cal_sync_options sync; /* its method is not looked at; hz is needed */
	const struct cal_plan *plan;  /* of all ranks, for pairs */
	struct cal_baseline_options baseline;
	double max_drift, max_wander;
	const double *tick_s;           /* effective tick of each rank's timer */
	struct tmr_timer *const *clock; /* of each rank, simulated over one base; rank 0 alone needs it */
	void (*progress)(void *ctx, int round, const char *method); /* may be NULL; called on rank 0 */
	void *ctx;
};

/* Places of `row` below: for all rounds, tables and methods. */
static inline size_t cal_truth_rows(int rounds)
{
	return (size_t)rounds * CAL_TRUTH_TABLES * CAL_TRUTH_METHODS;
}

static inline struct cal_truth_row *cal_truth_row(struct cal_truth_row *row, int round, int table, int method)
{
	return &row[(round * CAL_TRUTH_TABLES + table) * CAL_TRUTH_METHODS + method];
}

/* l->timer is set, in a simulation to the clock of rank 0. row has cal_truth_rows() places, filled on rank 0. Each round
 * has all methods, begun by another one each time: first as published, with sessions over apart_s, then those of the other
 * tables, with two sessions over another apart_s. Returns 0 or -1. */
int cal_truth_measure(
	struct cal_link *l, const struct cal_truth_options *opt, struct cal_truth_row *row, struct tkm_err *err);

#endif
