/* SPDX-License-Identifier: BSD-3-Clause */
/* Do the threads of a process wait for each other: at barriers of OpenMP, or for a lock? */
#include "config.h"
#include "report/findings/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/html/html.h"

/* Of the waits of n threads with equal work each causes 1 / n. Named is one that is half of the way to all of them. */
static const double LEAST_EXCESS = 0.5;
/* Of the time in parallel regions; a program with less is not meant to be parallel by threads. */
static const double LEAST_PARALLEL = 0.1;
/* CPU time of others while one thread works: of threads that wait for the next region, and of the sampler. */
static const double BY_OTHERS = 0.25;

/* What the threads of this process lacked of a processor, which is not their fault: the CPU time that is missing in the time in
 * which they worked, that is, did not wait at barriers, nor elsewhere for so many seconds. */
static double lacked_processor(const struct vtr_measures *m, const struct stf_team *t, double elsewhere_s)
{
	double worked = (double)(t->inside - t->waited) * m->t->resolution - elsewhere_s,
	       cpu = m->process[t->process].cpu_s;

	return isnan(cpu) ? 0 : fmax(0, worked - cpu);
}

/* By how much shorter the run would be if the threads of this process came to their barriers together. *waited: with what they lacked
 * of a processor. */
static double lost_at_barriers(const struct vtr_measures *m, const struct stf_team *t, double *waited)
{
	double unit = m->t->resolution, length = m->process[t->process].span_s;

	*waited = t->threads > 1 && length > 0 ? (double)t->waited * unit / t->threads / length : 0;
	return t->threads > 1 && length > 0 ? *waited - lacked_processor(m, t, 0) / t->threads / length : 0;
}

double vtr_test_barriers(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct stf_analysis *a = m->t->analysis;
	const struct stf_team *worst = NULL;
	double most = rule->limit, longest = 0, waited = 0, excess, lost;
	char b[20], c[20], d[20], who[80], cause[80], place[300];
	const char *culprit;
	size_t i;

	for (i = 0; a && !m->in_turn && i < a->n_teams; i++) {
		lost = a->team[i].process < m->n ? lost_at_barriers(m, &a->team[i], &waited) : 0;
		if (lost > most) {
			worst = &a->team[i];
			most = lost;
		}
		longest = fmax(longest, waited);
	}
	if (!worst) {
		/* they waited for long, and lacked a processor for so long that the one may come from the other */
		return longest > 2 * rule->limit ? VTR_MISSING : VTR_NOTHING;
	}
	excess = ((double)worst->caused / (double)worst->waited - 1.0 / worst->threads) / (1 - 1.0 / worst->threads);
	if (!vtr_source_place(m->t, worst->scl, place, sizeof(place))) {
		place[0] = '\0';
	}
	vtr_process_label(m, worst->process, who, sizeof(who));
	culprit = excess < LEAST_EXCESS ? "the one with most, and now for this one, now for another"
					: vtr_willy_label(m->t, worst->cause, cause, sizeof(cause));
	to->grade = most > 3 * rule->limit ? VTR_BAD : VTR_WARN;
	snprintf(to->text, sizeof(to->text),
		"The threads of %s waited for each other at barriers of OpenMP for %s of their time in parallel regions; "
		"%s of that for %s%s%.200s. With even work the run could be up to %s shorter.",
		who, vtr_share(b, sizeof(b), (double)worst->waited, (double)worst->inside),
		vtr_share(c, sizeof(c), (double)worst->caused, (double)worst->waited),
		strcmp(culprit, who) ? culprit : "its main thread", place[0] ? ", most at " : "", place,
		vtr_share(d, sizeof(d), most, 1));
	return most;
}

/* The share of the time in which a team's process was in no parallel region, as its first thread worked: was on a processor or ready to
 * run. 0: others may have worked then, too, because the process used more of its processors than that thread and those in the regions
 * can have used. */
static double alone_share(const struct vtr_measures *m, const struct stf_team *t)
{
	const struct vtr_measured *p = &m->process[t->process];
	double regions_s = (double)t->longest_inside * m->t->resolution, outside_s = p->span_s - regions_s;
	double most_cpu_s = (double)t->inside * m->t->resolution + (1 + BY_OTHERS) * outside_s;
	double alone_s = outside_s - p->mpi_s - p->asleep_s, worked_s = p->run_s + p->wait_s - regions_s - p->mpi_s;

	return p->cpu_s > most_cpu_s ? 0 : (isnan(worked_s) ? alone_s : fmin(alone_s, worked_s)) / p->span_s;
}

/* One thread works where several could. */
double vtr_test_serial(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct stf_analysis *a = m->t->analysis;
	char b[20], c[20], d[20], who[60];
	double most = rule->limit, inside = 0, share;
	const struct stf_team *worst = NULL;
	size_t i;

	for (i = 0; a && i < a->n_teams; i++) {
		const struct stf_team *t = &a->team[i];

		if (t->threads < 2 || t->process >= m->n || !(m->process[t->process].span_s > 0)) {
			continue;
		}
		share = (double)t->longest_inside * m->t->resolution / m->process[t->process].span_s;
		if (share > LEAST_PARALLEL && alone_share(m, t) > most) {
			worst = t;
			most = alone_share(m, t);
			inside = share;
		}
	}
	if (!worst) {
		return VTR_NOTHING;
	}
	to->grade = VTR_WARN;
	snprintf(to->text, sizeof(to->text),
		"The %u threads of %s were in parallel regions of OpenMP for %s of the time at most. For %s one thread worked alone; "
		"divided between all, the run would be up to %s shorter.",
		worst->threads, vtr_process_label(m, worst->process, who, sizeof(who)),
		vtr_share(b, sizeof(b), inside, 1), vtr_share(c, sizeof(c), most, 1),
		vtr_share(d, sizeof(d), most * (1 - 1.0 / worst->threads), 1));
	return most * (1 - 1.0 / worst->threads);
}

/* The place in OpenMP where the threads of a process wait for each other, and each of them lets the next one go on. 0: there is none,
 * or the trace has too many functions to know it of each process. */
static double waited_in_turn(const struct vtr_trace *t, uint32_t process, const char **name)
{
	static const char *const waits[] = { "critical_wait", "lock_wait", "ordered_wait", "atomic_wait" };
	double sum = 0, most = 0, own;
	const char *this;
	size_t i, k;

	for (i = 0; i < t->functions && t->function_rows == t->processes && process < t->processes; i++) {
		if (!t->function_is_omp[i]) {
			continue;
		}
		this = stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[i]);
		own = t->function[i * t->function_rows + process].exclusive * t->resolution;
		for (k = 0; this && k < sizeof(waits) / sizeof(waits[0]) && strcmp(this, waits[k]) != 0; k++) {
		}
		if (!this || k == sizeof(waits) / sizeof(waits[0])) {
			continue;
		}
		sum += own;
		*name = own > most ? this : *name;
		most = fmax(most, own);
	}
	return sum;
}

double vtr_test_turns(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct stf_analysis *a = m->t->analysis;
	double most = 0, waited = 0, inside = 0, lacked;
	int missing = 0;
	const char *name = NULL, *this = NULL;
	uint32_t worst = 0;
	char b[60], c[20], who[60];
	size_t i;

	for (i = 0; a && i < a->n_teams; i++) {
		const struct stf_team *t = &a->team[i];
		double own = t->process < m->n ? waited_in_turn(m->t, t->process, &this) : 0,
		       length = own > 0 ? m->process[t->process].span_s : 0, share;

		if (t->threads < 2 || !(length > 0)) {
			missing |= own > 0 && t->threads > 1;
			continue;
		}
		lacked = lacked_processor(m, t, own);
		share = (own - lacked) / t->threads / length;
		if (share > most) {
			most = share;
			waited = own;
			inside = (double)t->inside * m->t->resolution;
			worst = t->process;
			name = this;
		}
	}
	if (most <= rule->limit) {
		return missing ? VTR_MISSING : VTR_NOTHING;
	}
	to->grade = most > 3 * rule->limit ? VTR_BAD : VTR_WARN;
	snprintf(to->text, sizeof(to->text),
		"The threads of %s waited in %s until others came out of the same critical section or gave back a lock: %s together, "
		"%s of their time in parallel regions.",
		vtr_process_label(m, worst, who, sizeof(who)), name, vtr_duration(b, sizeof(b), waited),
		vtr_share(c, sizeof(c), waited, inside));
	return most;
}

double vtr_test_locks(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	uint32_t i;
	char a[60], who[60];

	for (i = 0; i < m->n; i++) {
		const struct vtr_measured *p = &m->process[i];
		double gave_up = p->value[VTR_NVCSW], cores = p->cpu_s / p->span_s, threads = m->t->threads[i];

		if (threads >= 3 && gave_up > rule->limit && gave_up > 5 * p->value[VTR_NIVCSW] &&
			cores < 0.75 * (threads - 1)) {
			to->grade = VTR_WARN;
			snprintf(to->text, sizeof(to->text),
				"%.0f threads of %s used %s cores together and gave up their processor %.0f times a second to "
				"wait: for a lock, for each other, or for input or output.",
				threads, vtr_process_label(m, i, who, sizeof(who)), vtr_number(a, sizeof(a), cores),
				gave_up);
			return fmin(1, 1 - cores / (threads - 1));
		}
	}
	return VTR_NOTHING;
}
