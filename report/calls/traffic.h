/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages by pair and by size, and collective operations by kind and
 * communicator. */
#ifndef REPORT_CALLS_TRAFFIC_H
#define REPORT_CALLS_TRAFFIC_H

#include "base/table.h"
#include "include/analysis.h"
#include "report/data/trace.h"

enum { VTR_PAIRS = 1 << 16, VTR_SIZES = 34 };

/* Messages of two processes, or of one size class. Times are in time-stamp
 * units. */
struct vtr_flow {
	uint32_t from, to; /* processes */
	uint64_t n, bytes;
	uint64_t timed;          /* messages with both stamps */
	double least, sum, most; /* from send to receive, of these */
	uint64_t waits;          /* of `to` for `from` in calls that receive, and of `from` for
                     `to` in calls that send */
	double waited;
};

struct vtr_collective {
	uint32_t type, communicator;
	uint64_t n, bytes;
	double time, longest;       /* in the operation: of all members together, of one member */
	double spread, most_spread; /* from the first to the last arrival: sum, longest */
};

struct vtr_traffic {
	const struct vtr_trace *t;
	struct tkm_table pairs, collectives;
	struct vtr_flow size[VTR_SIZES]; /* [k]: 2^(k-1) to 2^k - 1 bytes; [0]: none */
	uint64_t left_out;               /* messages of pairs beyond VTR_PAIRS */
};

/* Take a record, and a wait. Return 0 or -1: no memory. */
int vtr_traffic_add(struct vtr_traffic *traffic, const struct stf_record *r);
int vtr_traffic_wait(struct vtr_traffic *traffic, const struct stf_single_wait *w);
void vtr_traffic_free(struct vtr_traffic *traffic);

#endif
