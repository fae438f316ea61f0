/* SPDX-License-Identifier: BSD-3-Clause */
/* The first screen: what ran, where, how long, and the findings that weigh most. */
#ifndef REPORT_FINDINGS_SHOW_H
#define REPORT_FINDINGS_SHOW_H

#include <stdio.h>

#include "report/data/clocks.h"
#include "report/data/finding.h"
#include "report/data/trace.h"

/* Finds what the correction of the clocks shows. */
void vtr_find_in_clocks(struct vtr_findings *all, const struct vtr_clocks *c);

/* Shows the three findings with the largest weight, and the others in a list that opens. */
void vtr_show_findings(FILE *f, struct vtr_findings *all);

/* The n-th fact of a kind that the run stored: "started", "command", "user", "job", "CPUs", "MPI"; NULL: no more. */
const char *vtr_fact_of_run(const struct vtr_trace *t, const char *what, size_t n);

/* Shows what ran, where and how long. */
void vtr_show_facts(FILE *f, const struct vtr_trace *t);

#endif
