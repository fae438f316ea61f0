/* SPDX-License-Identifier: BSD-3-Clause */
/* A finding: a sentence about a run with its grade and its weight. */
#ifndef REPORT_DATA_FINDING_H
#define REPORT_DATA_FINDING_H

#include <stddef.h>

enum vtr_grade { VTR_GOOD, VTR_UNKNOWN, VTR_WARN, VTR_BAD };

struct vtr_finding {
	const char *name; /* for programs and tests: "cpu-shared" */
	double weight;    /* the larger, the earlier it is shown */
	enum vtr_grade grade;
	char title[120], text[800];
	const char *what_to_do; /* NULL: nothing */
	long process;           /* the one that it names; -1: none */
};

struct vtr_findings {
	struct vtr_finding list[64]; /* more than all rules together can find */
	size_t n;
};

/* Adds a finding, and returns it. */
struct vtr_finding *vtr_find(struct vtr_findings *all, const char *name, double weight, enum vtr_grade grade,
	const char *title, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Sorts findings by weight, the largest first. */
void vtr_sort_findings(struct vtr_findings *all);

#endif
