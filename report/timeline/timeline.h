/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline: a row for each thread, with its calls, messages and waits. The script draws it. */
#ifndef REPORT_TIMELINE_TIMELINE_H
#define REPORT_TIMELINE_TIMELINE_H

#include "report/timeline/waits.h"

struct vtr_timeline {
	struct vtr_names names;
	struct vtr_waits waits;
	uint64_t size; /* bytes that the page may have */
	int shown;     /* 0: the trace has no calls */
	int served;    /* the page can ask for details that are not in it */
};

/* Analyses a trace for its timeline; the waits are also added to the traffic. Returns 0, or -1 if there is no memory.
 * The caller calls vtr_timeline_free() all the same. */
int vtr_timeline_begin(struct vtr_timeline *l, const struct vtr_trace *t, uint64_t size, struct vtr_traffic *traffic);
void vtr_timeline_free(struct vtr_timeline *l);

/* Writes the section, and a table of the longest waits. */
void vtr_timeline_show(FILE *f, const struct vtr_timeline *l);
/* Writes the data for the script, so that the page keeps to its size: what the file has already counts. It is the whole
 * run in detail if that fits, else an overview, and details of the longest waits. */
void vtr_timeline_data(FILE *f, struct vtr_timeline *l);

#endif
