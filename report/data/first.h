/* SPDX-License-Identifier: BSD-3-Clause */
/* The first screen: what ran, where, how long, and the findings that weigh most. */
#ifndef REPORT_DATA_FIRST_H
#define REPORT_DATA_FIRST_H

#include <stdio.h>

#include "report/data/trace.h"

enum vtr_grade { VTR_GOOD, VTR_UNKNOWN, VTR_WARN, VTR_BAD };

struct vtr_finding {
	double weight; /* the larger, the earlier it is shown */
	enum vtr_grade grade;
	char title[100], text[400];
};

struct vtr_findings {
	struct vtr_finding list[24];
	size_t n;
};

void vtr_find(struct vtr_findings *all, double weight, enum vtr_grade grade, const char *title, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Finds what the counters, functions and messages of a trace show, and how it was written. */
void vtr_find_in_trace(struct vtr_findings *all, const struct vtr_trace *t);
/* Sorts findings by weight, the largest first. */
void vtr_sort_findings(struct vtr_findings *all);

/* Shows the three findings with the largest weight. */
void vtr_show_findings(FILE *f, struct vtr_findings *all);

/* Shows what ran, where and how long. */
void vtr_show_facts(FILE *f, const struct vtr_trace *t);

/* How processes ended, as the trace states it: the n-th of the different endings; NULL: there are no more. */
const char *vtr_ending(const struct vtr_trace *t, size_t n, enum vtr_grade *grade);

#endif
