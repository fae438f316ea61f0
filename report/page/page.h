/* SPDX-License-Identifier: BSD-3-Clause */
/* The pages that vtreport writes. */
#ifndef REPORT_PAGE_PAGE_H
#define REPORT_PAGE_PAGE_H

#include <stdio.h>

#include "report/calls/calls.h"
#include "report/data/clocks.h"
#include "report/data/trace.h"
#include "report/timeline/timeline.h"

/* Writes the whole report of one trace and its clocks. */
void vtr_write_job(FILE *f, const struct vtr_trace *t, const struct vtr_clocks *c, const struct vtr_calls *calls,
	struct vtr_timeline *l);

/* Writes the report of a .clk file alone. */
void vtr_write_clocks(FILE *f, const struct vtr_clocks *c);

#endif
