/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings about a run. */
#ifndef REPORT_FINDINGS_RULES_H
#define REPORT_FINDINGS_RULES_H

#include "report/data/finding.h"
#include "report/data/trace.h"

/* Finds what the table has, and what a run without any of it was like. */
void vtr_find_in_trace(struct vtr_findings *all, const struct vtr_trace *t);

#endif
