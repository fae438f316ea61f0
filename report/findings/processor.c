/* SPDX-License-Identifier: BSD-3-Clause */
/* Did the processes get a processor, are they the ones that work, and is the recording itself in the way? */
#include "config.h"
#include "report/findings/rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/show.h"
#include "report/html/html.h"

enum { EVENT_NS = 150 }; /* an event costs no more where it is not measured: doc/performance.md */

#define KHZ 1e-6       /* GHz */
#define MOSTLY_BUSY 50 /* percent of the node's time; its frequency then is what its processors can do */
#define BOUND_IDLE 30  /* percent of the node's time: with so much left, who waits for a processor may use some only */

static double mean_of(const struct vtr_measures *m, enum vtr_role role)
{
	double sum = 0;
	uint32_t i, n = 0;

	for (i = 0; i < m->n; i++) {
		if (m->process[i].span_s > 0 && !isnan(m->process[i].value[role])) {
			sum += m->process[i].value[role];
			n++;
		}
	}
	return n ? sum / n : NAN;
}

/* The CPUs to which all processes of one node are bound, like "0 of 2", if they are fewer than the processes; NULL: they are not. */
static const char *too_few_cpus(const struct vtr_measures *m)
{
	const char *cpus = vtr_fact_of_run(m->t, "CPUs", 0), *at = cpus;
	unsigned long n = 0, nodes = 0, first, last;
	char *end;
	size_t i;

	for (i = 0; i < m->t->axis.n_series; i++) {
		nodes += !strcmp(m->t->counter[m->t->axis.series[i].counter].name, "cpu_idle");
	}
	if (!cpus || vtr_fact_of_run(m->t, "CPUs", 1) || nodes != 1) {
		return NULL;
	}
	do {
		first = strtoul(at, &end, 10);
		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		n += last - first + 1;
		at = end + 1;
	} while (*end == ',');
	return !strncmp(end, " of ", 4) && n < m->n && n < strtoul(end + 4, NULL, 10) ? cpus : NULL;
}

static const char bind_apart[] =
	"Look whether ranks or threads are bound to the same CPUs (mpirun --report-bindings, OMP_PLACES, taskset), or to those "
	"of another program.";

/* What speaks for it besides: preemptions, the node's idle time, time that a hypervisor took. */
static void add_evidence(const struct vtr_measures *m, char *to, size_t size)
{
	const struct vtr_series *most;
	double switches = mean_of(m, VTR_NIVCSW), idle = vtr_node_mean(m->t, "cpu_idle", &most),
	       steal = vtr_node_mean(m->t, "cpu_steal", &most);
	char a[60];
	size_t n = 0;

	to[0] = '\0';
	if (switches > 1) {
		n += (size_t)snprintf(to, size,
			" %s lost the processor %.0f times a second, %.0f times in all: the kernel gave it to something else%s.",
			m->known == 1    ? "It"
				: m->mpi ? "Each rank"
					 : "Each process",
			switches, switches * m->span_s, m->mpi ? ", or MPI let others run while it waited" : "");
	}
	if (!isnan(idle) && n < size) {
		n += (size_t)snprintf(to + n, size - n, " Node: %s of its processors' time idle.",
			vtr_share(a, sizeof(a), idle, 100));
	}
	if (steal >= 1 && n < size) {
		n += (size_t)snprintf(
			to + n, size - n, " Other virtual machines took %s.", vtr_share(a, sizeof(a), steal, 100));
	}
	if (too_few_cpus(m) && n < size) {
		snprintf(to + n, size - n, " All were bound to CPU %.40s.", too_few_cpus(m));
	}
}

/* Without the time in the run queue: not on a CPU although outside MPI, and the node had nothing to spare. */
static double lacks_processor(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct vtr_series *most;
	double idle = vtr_node_mean(m->t, "cpu_idle", &most), lost = (m->outside_s - m->run_s) / m->span_s;
	char a[60], b[60], evidence[400];

	if (isnan(lost) || isnan(idle)) {
		return VTR_MISSING;
	}
	if (lost <= 2 * rule->limit || idle > 10) {
		return lost > 2 * rule->limit ? VTR_MISSING : VTR_NOTHING;
	}
	add_evidence(m, evidence, sizeof(evidence));
	snprintf(to->text, sizeof(to->text), "Outside MPI for %s of the time, on a processor for %s.%s",
		vtr_share(a, sizeof(a), m->outside_s, m->span_s), vtr_share(b, sizeof(b), m->run_s, m->span_s),
		evidence);
	to->grade = VTR_BAD;
	return lost;
}

double vtr_test_processor(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct vtr_measured *worst;
	const struct vtr_series *idle;
	double lost, most;
	char a[20], b[20], c[20], who[60], evidence[400];

	if (!m->known) {
		return VTR_MISSING;
	}
	if (isnan(m->wait_s) || isnan(m->run_s)) {
		return lacks_processor(m, rule, to);
	}
	worst = &m->process[m->longest_wait];
	lost = m->wait_s / m->span_s;
	most = worst->wait_s / worst->span_s;
	if (lost <= rule->limit && most <= 2 * rule->limit) {
		return VTR_NOTHING;
	}
	add_evidence(m, evidence, sizeof(evidence));
	to->grade = lost > 3 * rule->limit ? VTR_BAD : VTR_WARN;
	if (vtr_node_mean(m->t, "cpu_idle", &idle) > BOUND_IDLE) {
		snprintf(to->title, sizeof(to->title), "A processor was shared while others were idle");
		to->what_to_do = bind_apart;
	} else if (too_few_cpus(m)) {
		to->what_to_do = bind_apart;
	}
	if (m->known > 1) {
		snprintf(to->text, sizeof(to->text),
			"The ranks were ready to run for %s of the time, but had a processor for %s only; %s waited longest, "
			"for %s of its time.%s Times below contain this wait.",
			vtr_share(a, sizeof(a), fmin(m->wait_s + m->run_s, m->span_s), m->span_s),
			vtr_share(b, sizeof(b), m->run_s, m->span_s),
			vtr_process_label(m, m->longest_wait, who, sizeof(who)), vtr_share(c, sizeof(c), most, 1),
			evidence);
	} else {
		snprintf(to->text, sizeof(to->text),
			"The first thread was ready to run for %s of the time, but had a processor for %s only.%s",
			vtr_share(a, sizeof(a), fmin(m->wait_s + m->run_s, m->span_s), m->span_s),
			vtr_share(b, sizeof(b), m->run_s, m->span_s), evidence);
	}
	return fmax(lost, most);
}

double vtr_test_throttled(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	static const char *const counter[] = { "cgroup_throttled", "cgroup1_throttled" };
	const struct vtr_series *most;
	double held = NAN;
	char a[60];
	int i;

	for (i = 0; i < 2 && isnan(held); i++) {
		held = vtr_node_mean(m->t, counter[i], &most);
	}
	if (isnan(held)) {
		return VTR_NOTHING; /* most machines have no limit, and no such counter */
	}
	if (held <= 100 * rule->limit) {
		return VTR_NOTHING;
	}
	to->grade = VTR_BAD;
	snprintf(to->text, sizeof(to->text),
		"The limit of CPU time of the job's cgroup held its tasks back, by %s of the run for all of them together.",
		vtr_value(a, sizeof(a), held, "percent"));
	return fmin(held / 100, 1);
}

static double mean_of_node(const struct vtr_trace *t, const char *counter, uint32_t willy)
{
	size_t i;

	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *s = &t->axis.series[i];

		if (s->willy == willy && s->weight > 0 && !strcmp(t->counter[s->counter].name, counter)) {
			return s->sum / s->weight;
		}
	}
	return NAN;
}

/* One node against the others. Processors that are mostly idle may be slow. */
double vtr_test_frequency(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const struct vtr_trace *t = m->t;
	const struct vtr_series *slow = NULL;
	double sum = 0, others, own;
	char node[120];
	size_t i, n = 0;

	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *s = &t->axis.series[i];

		if (s->weight > 0 && !strcmp(t->counter[s->counter].name, "cpu_freq") &&
			mean_of_node(t, "cpu_idle", s->willy) < 100 - MOSTLY_BUSY) {
			slow = !slow || s->sum / s->weight < slow->sum / slow->weight ? s : slow;
			sum += s->sum / s->weight;
			n++;
		}
	}
	if (n < 2) {
		return VTR_NOTHING; /* with one node, it is not known what its processors can do */
	}
	own = slow->sum / slow->weight;
	others = (sum - own) / (double)(n - 1);
	if (own >= (1 - rule->limit) * others) {
		return VTR_NOTHING;
	}
	to->grade = VTR_WARN;
	snprintf(to->text, sizeof(to->text),
		"The processors of %s ran at %.2f GHz on average, those of the other node%s at %.2f GHz, although all were "
		"busy: the same work takes up to %.2g times as long there.",
		vtr_willy_label(t, slow->willy, node, sizeof(node)), own * KHZ, n > 2 ? "s" : "", others * KHZ,
		others / own);
	return 1 - own / others;
}

/* vtrun noted in the trace that a process did less than those that it started. */
double vtr_test_children(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	const char *cls, *text;
	size_t i;

	(void)rule;
	for (i = 0; stf_reader_info(m->t->reader, i, &cls, &text) == 0; i++) {
		const char *end =
			cls && text && !strcmp(cls, "children") ? strstr(text, ": add --follow-children") : NULL;

		if (end) {
			to->grade = VTR_WARN;
			snprintf(to->text, sizeof(to->text), "%.*s.", (int)(end - text), text);
			return 1;
		}
	}
	return VTR_NOTHING;
}

/* The share of a process's CPU time that recording its calls took, at least: the shortest gap between records that were
 * made one after the other is what a record costs with nothing between. */
static double recording_share(const struct vtr_measures *m, uint32_t i)
{
	const struct vtr_span *s = &m->t->span[i];
	const struct vtr_measured *p = &m->process[i];
	double event_s = EVENT_NS * 1e-9, cpu_s = p->cpu_s > 0 ? p->cpu_s : p->span_s * fmax(1, m->t->threads[i]);

	if (s->gap64 != UINT64_MAX) {
		event_s = fmin(event_s, (double)s->gap64 * m->t->resolution / 64);
	}
	return cpu_s > 0 ? fmin(1, (double)s->events * event_s / cpu_s) : 0;
}

double vtr_test_recording(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	double most = 0;
	char a[20], who[60];
	uint32_t i, worst = 0;

	for (i = 0; i < m->n; i++) {
		double share = recording_share(m, i);

		if (share > most) {
			most = share;
			worst = i;
		}
	}
	if (most <= rule->limit) {
		return VTR_NOTHING;
	}
	to->grade = most > 2 * rule->limit ? VTR_BAD : VTR_WARN;
	snprintf(to->text, sizeof(to->text),
		"To record the %.3g million calls of %s took at least %s of its CPU time: the times of short functions are "
		"mostly those of the recording.",
		(double)m->t->span[worst].events / 2e6, vtr_process_label(m, worst, who, sizeof(who)),
		vtr_share(a, sizeof(a), most, 1));
	return most;
}

double vtr_test_sampler(const struct vtr_measures *m, const struct vtr_rule *rule, struct vtr_finding *to)
{
	uint32_t worst = vtr_largest_value(m, VTR_SAMPLER);
	char a[60], who[60];

	if (worst >= m->n || !(m->process[worst].value[VTR_SAMPLER] > 100 * rule->limit)) {
		return VTR_NOTHING;
	}
	to->grade = VTR_WARN;
	snprintf(to->text, sizeof(to->text), "The sampler used %s of a core for %s.",
		vtr_value(a, sizeof(a), m->process[worst].value[VTR_SAMPLER], "percent"),
		vtr_process_label(m, worst, who, sizeof(who)));
	return m->process[worst].value[VTR_SAMPLER] / 100;
}
