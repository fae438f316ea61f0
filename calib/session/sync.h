/* SPDX-License-Identifier: BSD-3-Clause */
/* One session as the guide describes it (Intel Trace Collector guide, section 3.6.1): one message is
 * exchanged with each child, then the cycle starts again, until SYNC-MAX-MESSAGES have been exchanged
 * with each child or the session has lasted SYNC-MAX-DURATION. */
#ifndef CALIB_SYNC_H
#define CALIB_SYNC_H

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

/* Messages are exchanged for this time before any is recorded, because cold caches and sleeping cores are slower in one
 * direction than in the other. */
extern const double cal_warm_up_s;

/* A good limit for pairs of a tree. */
extern const double cal_pair_budget_s;

/* CAL_SYNC_ITC is what is above. CAL_SYNC_PAIRS is ours: one pair at a time, all others asleep, the pair
 * pinned to two processing units, half of the exchanges begun by each side, until neither one-way time gets
 * shorter any more (doc/calibration.md).
 *
 * All processes call it. exchanges[r] says for every rank whether it exchanges messages with the master (the master's
 * own entry is ignored). out[r] receives the samples of the ranks that this process has part in: its
 * own, or in a simulation all; it must be empty. Returns 0 or -1. */
int cal_sync_session(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
	enum cal_session_kind kind, struct cal_session *out, struct tkm_err *err);

/* The same with the pairs of a plan, made by every process alike: out[i] receives the samples of pair i where this
 * process has the child's part. */
int cal_sync_plan(struct cal_link *l, const struct cal_plan *plan, const struct cal_sync_options *opt,
	enum cal_session_kind kind, struct cal_session *out, struct tkm_err *err);

/* Runs one session and adds it to the ranks: each rank with exchanges[r] set gets one session more, and its edges if
 * the plan is a tree; the master gets its anchor at the start and at the end, where l has a timer. ranks points to this
 * process's struct, in a simulation to the array of all. CAL_SYNC_ITC needs no plan. What was measured before an error
 * is kept. Returns 0 or -1. */
int cal_sync_ranks(struct cal_link *l, int master, const struct cal_plan *plan, const unsigned char *exchanges,
	const struct cal_sync_options *opt, enum cal_session_kind kind, struct cal_rank *ranks, struct tkm_err *err);

/* Reads the realtime and the monotonic clock around a stamp of t, the tightest of 20 tries. */
void cal_anchor_take(struct tmr_timer *t, struct cal_anchor *a);

#endif
