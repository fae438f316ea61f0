/* SPDX-License-Identifier: BSD-3-Clause */
/* The waits of a run for the timeline: where they are, and which are the worst. */
#ifndef REPORT_TIMELINE_WAITS_H
#define REPORT_TIMELINE_WAITS_H

#include "include/analysis.h"
#include "report/calls/traffic.h"
#include "report/timeline/names.h"

enum { VTR_WORST = 24 };

/* The longest of the waits that one thread caused at one time; others may have waited with it. */
struct vtr_worst {
	struct stf_single_wait wait;
	uint64_t others;
};

struct vtr_waits {
	const struct vtr_names *names;
	uint32_t bins;
	uint64_t width;                    /* stamps of a bin */
	float *waited;                     /* [rows * bins]: stamps of it that the row waited */
	struct vtr_worst worst[VTR_WORST]; /* the longest first */
	size_t n;
	struct vtr_traffic *traffic; /* gets the waits, too */
	struct stf_analysis *result; /* NULL: the trace cannot be analysed */
};

/* Analyses the run. Returns 0, or -1 if there is no memory. The caller calls vtr_waits_free() all the same. */
int vtr_waits_find(struct vtr_waits *w, const struct vtr_names *n, uint32_t bins, struct vtr_traffic *traffic);
void vtr_waits_free(struct vtr_waits *w);

/* Writes the table of the worst waits. */
void vtr_waits_show(FILE *f, const struct vtr_waits *w);

#endif
