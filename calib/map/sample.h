/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calibration measures, per process: sessions of ping-pongs with the master. */
#ifndef CALIB_SAMPLE_H
#define CALIB_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/ticks.h"

/* One exchange: a message each way, four stamps. A message cannot arrive before it was sent: when the
 * child's clock showed send, the master's showed at most master_in; when the child's showed recv, the
 * master's showed at least master_out. That much is certain whatever the network does. It does not matter
 * who began. In the guide's exchange (Intel Trace Collector guide, section 3.6.1) the child begins and the master answers with
 * one stamp, which is in both places. */
struct cal_sample {
	ltick_t send;       /* child, before its message left */
	ltick_t master_in;  /* master, when it was there */
	ltick_t master_out; /* master, before its message left */
	ltick_t recv;       /* child, when it was there */
	int kept;           /* 0: dropped by the filter */
};

enum cal_session_kind {
	CAL_START,
	CAL_MIDDLE, /* VT_timesync() */
	CAL_END,
};

/* One session condensed to one point, and what is certain there. */
struct cal_point {
	ltick_t local;    /* mean of the middles, rounded */
	ltick_t master;   /* master at that instant: floor of the mean ... */
	double fraction;  /* ... and the rest, in [0, 1) */
	double low, high; /* the master's clock at `local` is certain to lie in [master + low, master + high]; if
	                      * the samples contradict each other, all that any of them allows */
	double sigma;     /* likely error of the estimate, master ticks: standard error of the mean, or what the
	                      * one-way minima scatter by */
	size_t kept, all;
};

/* All exchanges of one child with its peer at one point of the run. The peer has the master's part in the
 * samples; in a tree (calib/tree/net.h) it is another rank than the master, and then the session is
 * among the edges of its rank, and the rank's own session of that point of the run has `given` set. */
struct cal_session {
	enum cal_session_kind kind;
	int used;  /* 1: a node of the map; 0: skipped (TIMER-SKIP), a check only */
	int peer;  /* rank on the other side */
	size_t at; /* of an edge: which session of the rank it belongs to */
	int given; /* 1: no samples of its own; `point` came out of the edges */
	struct cal_point point;
	size_t n;
	struct cal_sample *sample;
	size_t lost; /* exchanges without an answer */
};

/* Time that the two messages took together, in local ticks; slope: master ticks per local tick. */
static inline double cal_rtt(const struct cal_sample *s, double slope)
{
	return (double)ltick_sub(s->recv, s->send) - (double)ltick_sub(s->master_out, s->master_in) / slope;
}

/* Appends one sample; returns 0 or -1 when memory runs out. */
int cal_session_add(struct cal_session *s, const struct cal_sample *sample);
void cal_session_free(struct cal_session *s);

/* Keeps at most `most` samples, the most useful ones: the shortest ways in each direction. The certain interval gets
 * hardly wider, and stays valid. slope as in cal_rtt(). */
void cal_session_thin(struct cal_session *s, size_t most, double slope);

/* "start", "middle", "end" */
const char *cal_session_name(enum cal_session_kind kind);

/* Drops the share `drop` (0.1 in the guide) of the samples with the largest round trips: sets kept
 * on all of them. floor(n * drop) are dropped; of equal ones the later go first. slope as in cal_rtt().
 * Returns how many are kept. 0 when memory runs out (then all are marked as dropped). */
size_t cal_filter(struct cal_sample *sample, size_t n, double drop, double slope);

#endif
