/* SPDX-License-Identifier: BSD-3-Clause */
/* A session pair by pair, and the options of any session. */
#ifndef CALIB_SESSION_SYNC_PAIRS_H
#define CALIB_SESSION_SYNC_PAIRS_H

#include "calib/map/run.h"
#include "calib/session/link.h"
#include "calib/session/plan.h"
#include "calib/tree/tie.h"

struct cal_sync_options {
	long long max_messages; /* 100 */
	double max_duration_s;  /* 60; <= 0: no exchange at all */
	enum cal_sync_method method;
	const double *hz;     /* nominal ticks per second of each rank's timer; NULL: all alike */
	int brief;            /* CAL_SYNC_PAIRS: one batch of 24 exchanges a pair, some 30 us where a message takes half
	                          * a microsecond, and no warming up: for sessions in the middle of a job */
	double pair_budget_s; /* CAL_SYNC_PAIRS: a pair makes no further batch that would end later, because in a
	                          * tree others wait for it; 0: no limit */
	struct cal_offset_estimate
		*tie; /* of every rank, of which this process uses its own; NULL: none. CAL_SYNC_PAIRS: what
	                          * each rank knows about the master's clock after the session, without asking
	                          * anybody (calib/tree/tie.h) */
	struct cal_sync_report *report; /* NULL: a rank that does not answer is an error */
};

/* Pairs whose exchange failed because one of the two did not answer: the session continues without them. */
struct cal_sync_report {
	size_t lost;
	struct tkm_err first; /* of the first: who was waited for */
};

/* A good limit for pairs of a tree. */
extern const double cal_pair_budget_s;

/* One session with the pairs of a plan, made by every process alike: out[i] receives the samples of pair i where this
 * process has the child's part. */
int cal_sync_plan(struct cal_link *l, const struct cal_plan *plan, const struct cal_sync_options *opt,
	enum cal_session_kind kind, struct cal_session *out, struct tkm_err *err);

/* cal_sync_session() by CAL_SYNC_PAIRS; out[] already has its kind. */
int cal_sync_pairs(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
	struct cal_session *out, struct tkm_err *err);

#endif
