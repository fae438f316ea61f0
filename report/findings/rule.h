/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of findings about a run. To add one: a test in one of the files of this folder, its row in rules.c, a program
 * that shows it in tests/cli/vtreport/findings/, and its entry in doc/man/vtreport.1. A finding about a node is a row of nodes.c,
 * and its name in `also` of tests/cli/vtreport/findings.sh. */
#ifndef REPORT_FINDINGS_RULE_H
#define REPORT_FINDINGS_RULE_H

#include "report/data/finding.h"
#include "report/findings/measure.h"

/* A test writes title, grade and text of what it finds, and returns how much of the run it concerns: 0 to 1. */
#define VTR_NOTHING (-1.0) /* measured, and there is nothing to report */
#define VTR_MISSING (-2.0) /* not enough is recorded to say */

struct vtr_rule {
	const char *name;
	double weight; /* of the first screen's order; a test's share of the run adds less than 100 to it */
	double limit;  /* see the row for its unit and reason */
	enum {
		VTR_ANY = 0,
		VTR_LOAD = 1,
		VTR_WITH_MPI = 2,
		VTR_WITHOUT_MPI = 4
	} when; /* VTR_LOAD: not after a crash */
	double (*test)(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
	const char *title;
	const char *what_to_do;
};

/* The tests, by file. */
double vtr_test_ending(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_processor(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_throttled(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_frequency(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_recording(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_sampler(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_communication(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_imbalance(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_slow_rank(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_asleep(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_system_time(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_small_messages(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_start(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_barriers(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_serial(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_growth(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_children(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_turns(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_locks(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);
double vtr_test_major_faults(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to);

/* Finds what counters of nodes show, which other programs also use. */
void vtr_find_in_nodes(struct vtr_findings *all, const struct vtr_trace *t);

/* How processes ended, as the trace states it: the next one, without the process; NULL: there are no more. *at: 0 before the first call.
 * *process: which, or -1. */
const char *vtr_ending(const struct vtr_trace *t, size_t *at, enum vtr_grade *grade, long *process);

#endif
