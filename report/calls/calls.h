/* SPDX-License-Identifier: BSD-3-Clause */
/* What a page shows of calls and messages beyond sums by function. */
#ifndef REPORT_CALLS_CALLS_H
#define REPORT_CALLS_CALLS_H

#include "report/calls/traffic.h"
#include "report/calls/tree.h"

struct vtr_calls {
	struct vtr_tree tree;
	struct vtr_traffic traffic; /* vtr_traffic_wait() adds the waits */
};

/* Reads the calls, messages and operations of a trace. Returns 0, or -1 if
 * there is no memory. The caller calls vtr_calls_free() all the same. */
int vtr_calls_read(struct vtr_calls *c, const struct vtr_trace *t);
void vtr_calls_free(struct vtr_calls *c);

#endif
