/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of several files: drift of clocks over days and weeks, and two runs side by side. */
#ifndef REPORT_PAGE_SEVERAL_H
#define REPORT_PAGE_SEVERAL_H

#include <stdio.h>

#include "report/data/clocks.h"
#include "report/data/trace.h"
#include "report/page/runs.h"

/* Writes the report of n loaded correction files, and sorts them by date. Returns 0, or -1 if there is no memory. */
int vtr_write_weeks(FILE *f, struct vtr_clocks *c, size_t n);

/* Compares runs: side[0] before, [1] after; of their counters, those of the first run of each side, with its clocks. */
void vtr_write_comparison(
	FILE *f, const struct vtr_trace *t, const struct vtr_clocks *c, const struct vtr_side side[2]);

#endif
