/* SPDX-License-Identifier: BSD-3-Clause */
/* A message cannot arrive before it was sent. Corrected stamps are right only to within a band, so some messages may
 * seem to. This code counts such messages, and moves stamps until there are none. It never moves a stamp by more than
 * its band.
 *
 * The idea is the controlled logical clock: R. Rabenseifner, The controlled logical clock - a global time for trace
 * based software monitoring of parallel applications in workstation clusters, EUROMICRO PDP 1997; D. Becker, R.
 * Rabenseifner, F. Wolf, J. Linford, Scalable timestamp synchronization for event traces of message-passing
 * applications, Parallel Computing 35 (2009). There a receive moves after its send however far that is. Here the truth
 * is known to lie in every band and to respect all messages, so there is a way to respect them inside the bands, and
 * two passes find one: how late each event can have been at most, from the last to the first, then forward as there,
 * but never later than that (doc/calibration.md). */
#ifndef CALIB_CAUSALITY_H
#define CALIB_CAUSALITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum cal_event_kind {
	CAL_EVENT_LOCAL,
	CAL_EVENT_SENT,
	CAL_EVENT_RECEIVED,
};

struct cal_event {
	int64_t stamp; /* corrected, global ticks; on return the repaired one */
	int64_t band;  /* the truth is within stamp +- band, >= 0 */
	int32_t rank;
	int32_t kind;     /* enum cal_event_kind */
	uint64_t message; /* the same number at both ends of a message, and at no others */
	uint64_t tag;     /* the caller's */
};

struct cal_causality_stats {
	uint64_t messages;      /* matched */
	uint64_t before, after; /* of them reversed by the stamps given, and by those returned */
	uint64_t unmatched;     /* ends of messages whose other end did not come */
	uint64_t moved;         /* stamps */
	int64_t largest;        /* shift, ticks, and the band of that stamp: largest <= largest_band */
	int64_t largest_band;
};

struct cal_causality;

/* Gets every event back, those of a rank in their order; returns 0, or -1 to stop it. */
typedef int cal_event_out(void *ctx, const struct cal_event *e, struct tkm_err *err);

/* latency: ticks that a repaired message is to take, >= 0, where its band allows that; it is never reversed to
 * gain them. Returns NULL without memory. */
struct cal_causality *cal_causality_open(
	int ranks, int64_t latency, cal_event_out *out, void *ctx, struct tkm_err *err);

/* Takes the next event. Stamps must not descend, over all ranks. Memory is needed for the events of a stretch of twice
 * the widest band and for messages that have not arrived yet. Returns 0 or -1, also for a rank that does not exist and
 * for a stamp that descends. */
int cal_causality_add(struct cal_causality *c, const struct cal_event *e, struct tkm_err *err);

/* Gives the remaining events back to the callback and fills in *stats. Returns 0 or -1. */
int cal_causality_finish(struct cal_causality *c, struct cal_causality_stats *stats, struct tkm_err *err);

void cal_causality_close(struct cal_causality *c);

#endif
