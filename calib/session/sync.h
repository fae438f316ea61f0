/* SPDX-License-Identifier: BSD-3-Clause */
/* One session as the guide describes it (Intel Trace Collector guide, section 3.6.1): one message is
 * exchanged with each child, then the cycle starts again, until SYNC-MAX-MESSAGES have been exchanged
 * with each child or the session has lasted SYNC-MAX-DURATION. */
#ifndef CALIB_SYNC_H
#define CALIB_SYNC_H

#include "calib/session/sync_pairs.h"

/* Messages are exchanged for this time before any is recorded, because cold caches and sleeping cores are slower in one
 * direction than in the other. */
extern const double cal_warm_up_s;

/* CAL_SYNC_ITC is what is above. CAL_SYNC_PAIRS is ours: one pair at a time, all others asleep, the pair
 * pinned to two processing units, half of the exchanges begun by each side, until neither one-way time gets
 * shorter any more (doc/calibration.md).
 *
 * All processes call it. exchanges[r] says for every rank whether it exchanges messages with the master (the master's
 * own entry is ignored). out[r] receives the samples of the ranks that this process has part in: its
 * own, or in a simulation all; it must be empty. Returns 0 or -1. */
int cal_sync_session(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
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
