/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what each process did with its time. */
#include "config.h"
#include "report/findings/measure.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Samples of a shorter time say nothing of a process: its start, and that of the sampler, are most of it. */
#define LEAST_SAMPLED_S 0.1

/* thread_run and thread_wait of the first thread are main_run and main_wait under another name. */
static const struct {
	const char *name;
	enum vtr_role role;
} counters[] = {
	{ "main_run", VTR_MAIN_RUN },
	{ "thread_run", VTR_MAIN_RUN },
	{ "main_wait", VTR_MAIN_WAIT },
	{ "thread_wait", VTR_MAIN_WAIT },
	{ "proc_usr", VTR_USR },
	{ "proc_sys", VTR_SYS },
	{ "proc_nvcsw", VTR_NVCSW },
	{ "proc_nivcsw", VTR_NIVCSW },
	{ "proc_read", VTR_READ },
	{ "proc_write", VTR_WRITE },
	{ "proc_majflt", VTR_MAJFLT },
	{ "sampler_cpu", VTR_SAMPLER },
};

static int role_of_counter(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (!strcmp(counters[i].name, name)) {
			return (int)counters[i].role;
		}
	}
	return -1;
}

static void begin_process(struct vtr_measured *p)
{
	size_t k;

	*p = (struct vtr_measured){ .run_s = NAN, .wait_s = NAN, .cpu_s = NAN };
	for (k = 0; k < VTR_ROLES; k++) {
		p->value[k] = NAN;
	}
}

/* The time that counts of a process. */
static void find_span(const struct vtr_measures *m, uint32_t i, uint64_t *from, uint64_t *to)
{
	const struct vtr_span *s = &m->t->span[i];

	*from = m->t->axis.start;
	*to = m->t->axis.first <= m->t->axis.last ? m->t->axis.last : *from;
	if (m->mpi && s->known) {
		*from = s->begin;
		*to = s->finalize && m->finish > s->end ? m->finish : s->end;
	}
}

static void take_series(struct vtr_measures *m, const struct vtr_series *s)
{
	const struct vtr_trace *t = m->t;
	uint32_t i = stf_willy_process(s->willy);
	int role = role_of_counter(t->counter[s->counter].name);
	struct vtr_measured *p;
	uint64_t from, to;
	double weight, mean, last;

	if (stf_willy_is_group(s->willy) || i >= m->n) {
		return;
	}
	p = &m->process[i];
	last = vtr_seconds(t, s->last_time);
	p->sampled_s = s->begun ? fmax(p->sampled_s, last) : p->sampled_s;
	p->last_s = fmax(p->last_s, p->sampled_s);
	if (role < 0 || stf_willy_thread(s->willy) || !isnan(p->value[role])) {
		return;
	}
	find_span(m, i, &from, &to);
	mean = vtr_series_mean(&t->axis, s, from, to, &weight);
	if (weight * t->resolution < LEAST_SAMPLED_S) {
		m->is_short |= (double)(to - from) * t->resolution < 2 * LEAST_SAMPLED_S;
		return;
	}
	/* samples of less than half of the time say little about it */
	if (weight > 0.5 * (double)(to - from) || !m->mpi) {
		p->value[role] = mean;
	}
	if (!m->mpi && role == VTR_USR) {
		p->span_s = weight * t->resolution;
	}
}

/* What the first thread may have waited for others of its team, which is no sleep of the process. On a busy node they begin a region,
 * and let it go on after the last one has come to a barrier, when they get a processor. */
static double held_in_team(const struct vtr_trace *t, uint32_t process)
{
	double ticks = 0;
	size_t i;

	for (i = 0; t->analysis && i < t->analysis->n_teams; i++) {
		ticks += t->analysis->team[i].process == process ? (double)t->analysis->team[i].first_held : 0;
	}
	return ticks * t->resolution;
}

/* A rank that polls in MPI uses the CPU there, too. So what it slept outside is at least what is left of the time outside
 * when all of its time on a CPU, and all that it waited for one, was there. */
static void divide_time(struct vtr_measures *m, uint32_t i)
{
	const struct vtr_trace *t = m->t;
	const struct vtr_span *s = &t->span[i];
	struct vtr_measured *p = &m->process[i];
	double last = s->known ? vtr_seconds(t, s->last) : 0;
	uint64_t from, to;

	find_span(m, i, &from, &to);
	if (m->mpi && s->known && to > from) {
		p->span_s = (double)(to - from) * t->resolution;
		p->mpi_s = fmin((double)(s->mpi + (to - s->end)) * t->resolution, p->span_s);
	} else if (m->mpi) {
		p->span_s = 0;
	}
	p->last_s = fmax(p->last_s, last);
	p->outside_s = p->span_s - p->mpi_s;
	p->cpu_s = (p->value[VTR_USR] + p->value[VTR_SYS]) / 100 * p->span_s;
	p->run_s = p->value[VTR_MAIN_RUN] / 100 * p->span_s;
	p->wait_s = p->value[VTR_MAIN_WAIT] / 100 * p->span_s;
	if (isnan(p->run_s) && !isnan(p->cpu_s)) {
		p->run_s = fmin(p->cpu_s, p->span_s);
	}
	/* other threads may work while the first one waits for them */
	p->asleep_s = isnan(p->run_s) || isnan(p->wait_s)
		? 0
		: fmax(0,
			  p->outside_s - held_in_team(t, i) -
				  fmax(p->run_s + p->wait_s, isnan(p->cpu_s) ? 0 : p->cpu_s));
}

static void take_means(struct vtr_measures *m)
{
	const struct vtr_measured *p;
	uint32_t i;

	for (i = 0; i < m->n; i++) {
		p = &m->process[i];
		if (!(p->span_s > 0)) {
			continue;
		}
		if (!m->known++) {
			m->longest_outside = m->longest_asleep = m->longest_wait = i;
		}
		m->span_s += p->span_s;
		m->mpi_s += p->mpi_s;
		m->outside_s += p->outside_s;
		m->run_s += p->run_s;
		m->wait_s += p->wait_s;
		m->cpu_s += p->cpu_s;
		m->longest_outside = p->outside_s > m->process[m->longest_outside].outside_s ? i : m->longest_outside;
		m->longest_asleep = p->asleep_s > m->process[m->longest_asleep].asleep_s ? i : m->longest_asleep;
		m->longest_wait = p->wait_s > m->process[m->longest_wait].wait_s ? i : m->longest_wait;
	}
	if (m->known) {
		m->span_s /= m->known;
		m->mpi_s /= m->known;
		m->outside_s /= m->known;
		m->run_s /= m->known;
		m->wait_s /= m->known;
		m->cpu_s /= m->known;
	}
}

int vtr_measure(struct vtr_measures *m, const struct vtr_trace *t)
{
	uint32_t i;
	size_t k;

	memset(m, 0, sizeof(*m));
	m->t = t;
	m->n = t->processes;
	m->mpi = vtr_has_mpi(t);
	m->process = calloc((size_t)m->n + 1, sizeof(*m->process));
	if (!m->process) {
		return -1;
	}
	for (i = 0; i < m->n; i++) {
		begin_process(&m->process[i]);
		m->finish = t->span[i].finalize && t->span[i].end > m->finish ? t->span[i].end : m->finish;
	}
	for (k = 0; k < t->axis.n_series; k++) {
		take_series(m, &t->axis.series[k]);
	}
	for (i = 0; i < m->n; i++) {
		divide_time(m, i);
	}
	take_means(m);
	return 0;
}

void vtr_measures_free(struct vtr_measures *m)
{
	free(m->process);
	m->process = NULL;
}

double vtr_node_mean(const struct vtr_trace *t, const char *counter, const struct vtr_series **most)
{
	size_t i, n = 0;
	double sum = 0;

	*most = NULL;
	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *s = &t->axis.series[i];

		if (s->weight > 0 && !strcmp(t->counter[s->counter].name, counter)) {
			*most = !*most || s->sum / s->weight > (*most)->sum / (*most)->weight ? s : *most;
			sum += s->sum / s->weight;
			n++;
		}
	}
	return n ? sum / (double)n : NAN;
}

uint32_t vtr_largest_value(const struct vtr_measures *m, enum vtr_role role)
{
	uint32_t i, most = m->n;

	for (i = 0; i < m->n; i++) {
		if (!isnan(m->process[i].value[role]) &&
			(most == m->n || m->process[i].value[role] > m->process[most].value[role])) {
			most = i;
		}
	}
	return most;
}

char *vtr_process_label(const struct vtr_measures *m, uint32_t process, char *buf, size_t size)
{
	if (!m->mpi && m->n == 1) {
		snprintf(buf, size, "the program");
	} else {
		snprintf(buf, size, "%s %" PRIu32, vtr_process_word(m->t), process);
	}
	return buf;
}

char *vtr_process_title(const struct vtr_measures *m, uint32_t process, char *buf, size_t size)
{
	vtr_process_label(m, process, buf, size);
	buf[0] = (char)toupper((unsigned char)buf[0]);
	return buf;
}

char *vtr_share(char *buf, size_t size, double part, double whole)
{
	double share = 100 * part / whole;

	if (share > 0 && share < 1) {
		snprintf(buf, size, "< 1 %%");
	} else {
		snprintf(buf, size, "%.0f %%", share);
	}
	return buf;
}
