/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calibration measures, per process: sessions of ping-pongs with the master. */
#ifndef CALIB_SAMPLE_H
#define CALIB_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ticks.h"

/* One exchange (seeds/003 section 3.6.1): the child sends, the master answers with its own stamp.
 * When the master read `master`, the child's clock showed something from send to recv: that much is
 * certain whatever the network does. */
struct cal_sample {
	ltick_t send;   /* child, before its message left */
	ltick_t master; /* master, between receiving and answering */
	ltick_t recv;   /* child, after the answer was there */
	int kept;       /* 0: dropped by the filter */
};

enum cal_session_kind {
	CAL_START,
	CAL_MIDDLE, /* VT_timesync() */
	CAL_END,
};

/* All exchanges of one child with the master at one point of the run. */
struct cal_session {
	enum cal_session_kind kind;
	int used; /* 1: a node of the map; 0: skipped (TIMER-SKIP), a check only */
	size_t n;
	struct cal_sample *sample;
	size_t lost; /* exchanges without an answer */
};

/* Round trip in local ticks. */
static inline int64_t cal_rtt(const struct cal_sample *s)
{
	return ltick_sub(s->recv, s->send);
}

/* Appends one sample; returns 0 or -1 when memory runs out. */
int cal_session_add(struct cal_session *s, const struct cal_sample *sample);
void cal_session_free(struct cal_session *s);

/* "start", "middle", "end" */
const char *cal_session_name(enum cal_session_kind kind);

/* Drops the share `drop` (0.1 in the guide) of the samples with the largest round trips: sets kept
 * on all of them. floor(n * drop) are dropped; of equal ones the later go first. Returns how many
 * are kept. 0 when memory runs out (then all are marked as dropped). */
size_t cal_filter(struct cal_sample *sample, size_t n, double drop);

#endif
