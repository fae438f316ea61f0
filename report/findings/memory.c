/* SPDX-License-Identifier: BSD-3-Clause */
/* Is memory short, or does it grow all the time? */
#include "config.h"
#include "report/findings/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/html/html.h"

enum { QUARTERS = 4 };
#define LEAST_GROWTH (64.0 * (1 << 20)) /* bytes: programs and MPI libraries take less after their start */
#define LEAST_QUARTER 0.15              /* of all growth that a quarter must have; an even one has a third */

/* The memory of the process in each quarter of its time, in bytes. Returns this time in seconds, or -1 if the memory is not known. */
static double memory_by_quarter(const struct vtr_trace *t, const struct vtr_series *s, double *bytes)
{
	const struct vtr_span *p = &t->span[stf_willy_process(s->willy)];
	uint64_t from = p->known ? p->begin : t->axis.first, to = p->known ? p->end : t->axis.last, k;
	double weight;

	for (k = 0; k < QUARTERS; k++) {
		bytes[k] = vtr_series_mean(&t->axis, s, from + (to - from) / QUARTERS * k,
				   from + (to - from) / QUARTERS * (k + 1), &weight) /
			t->counter[s->counter].factor;
		if (isnan(bytes[k])) {
			return -1;
		}
	}
	return (double)(to - from) * t->resolution;
}

/* Memory that is taken at the start, however much, does not grow in each quarter. */
static double steady_growth(const double *bytes)
{
	double all = bytes[QUARTERS - 1] - bytes[0];
	int k;

	for (k = 1; k < QUARTERS; k++) {
		if (!(bytes[k] - bytes[k - 1] >= LEAST_QUARTER * all)) {
			return 0;
		}
	}
	return all;
}

double vtr_test_growth(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct vtr_trace *t = m->t;
	double bytes[QUARTERS], from = 0, until = 0, most = LEAST_GROWTH, span_s, length_s = 0;
	char a[60], b[60], c[60], who[60];
	uint32_t worst = 0;
	size_t i;

	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *s = &t->axis.series[i];

		if (strcmp(t->counter[s->counter].name, "proc_rss") != 0 || stf_willy_is_group(s->willy) ||
			stf_willy_process(s->willy) >= m->n || !((span_s = memory_by_quarter(t, s, bytes)) > 0)) {
			continue;
		}
		if (steady_growth(bytes) > most && steady_growth(bytes) > rule->limit * bytes[QUARTERS - 1]) {
			most = steady_growth(bytes);
			from = bytes[0];
			until = bytes[QUARTERS - 1];
			length_s = span_s;
			worst = stf_willy_process(s->willy);
		}
	}
	if (!(until > 0)) {
		return VTR_NOTHING;
	}
	to->grade = VTR_WARN;
	snprintf(to->text, sizeof(to->text),
		"The memory of %s grew all the time: %s in the first quarter of the run on average, %s in the last. "
		"That is %s.",
		vtr_process_label(m, worst, who, sizeof(who)), vtr_value(a, sizeof(a), from, "bytes"),
		vtr_value(b, sizeof(b), until, "bytes"),
		vtr_value(c, sizeof(c), (until - from) / (length_s * (QUARTERS - 1) / QUARTERS), "bytes/s"));
	return most / until;
}

/* The mean in the second half of the run: in the first one, a program and its libraries are read from a disk. */
static double later_faults(const struct vtr_measures *m, uint32_t process)
{
	const struct vtr_axis *a = &m->t->axis;
	double weight, mean = NAN;
	size_t i;

	for (i = 0; i < a->n_series && isnan(mean); i++) {
		const struct vtr_series *s = &a->series[i];

		if (s->willy == STF_WILLY(process, 0) && !strcmp(m->t->counter[s->counter].name, "proc_majflt")) {
			mean = vtr_series_mean(a, s, a->first + (a->last - a->first) / 2, a->last, &weight);
		}
	}
	return mean;
}

double vtr_test_major_faults(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	uint32_t worst = vtr_largest_value(m, VTR_MAJFLT);
	char a[60], who[60];

	if (worst >= m->n || !(m->process[worst].value[VTR_MAJFLT] > rule->limit) ||
		!(later_faults(m, worst) > rule->limit)) {
		return VTR_NOTHING;
	}
	to->grade = VTR_WARN;
	snprintf(to->text, sizeof(to->text), "%s waited for %s pages a second that were not in memory.",
		vtr_process_title(m, worst, who, sizeof(who)),
		vtr_number(a, sizeof(a), m->process[worst].value[VTR_MAJFLT]));
	return 0.2;
}
