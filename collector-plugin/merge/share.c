/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a trace of several files, each set of files read and written by a thread of its own. The trace's bytes
 * are those of one thread. Where no thread can be had the caller does it all. */
#include "config.h"
#include "collector-plugin/merge/private.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collector-plugin/merge/merge.h"
#include "collector-plugin/merge/messages.h"

enum { MOST_THREADS = 64 };

/* ---- threads ---- */

struct each {
	_Atomic size_t next;
	size_t n;
	void (*fn)(void *ctx, size_t i);
	void *ctx;
};

static void *take_turns(void *arg)
{
	struct each *e = arg;
	size_t i;

	while ((i = atomic_fetch_add(&e->next, 1)) < e->n) {
		e->fn(e->ctx, i);
	}
	return NULL;
}

/* As many as there are CPUs for them, and no more than there is work. */
static size_t how_many(const struct vt_merge *m, size_t n)
{
	size_t most = m->o->threads > 0 ? (size_t)m->o->threads : MOST_THREADS, cpus = 1;
	cpu_set_t own;

	if (m->o->cpus) {
		cpus = (size_t)CPU_COUNT_S(m->o->cpus_size, (const cpu_set_t *)m->o->cpus);
	} else if (sched_getaffinity(0, sizeof(own), &own) == 0) {
		cpus = (size_t)CPU_COUNT(&own);
	}
	most = most < cpus ? most : cpus;
	most = most < MOST_THREADS ? most : MOST_THREADS;
	return most < n ? most : n;
}

/* The caller's own CPUs may be fewer than those of its ranks together. */
static void spread(const struct vt_merge *m, pthread_attr_t *attr)
{
	if (m->o->cpus) {
		pthread_attr_setaffinity_np(attr, m->o->cpus_size, m->o->cpus);
	}
}

void vt_merge_each(const struct vt_merge *m, size_t n, void (*fn)(void *ctx, size_t i), void *ctx)
{
	struct each e = { .n = n, .fn = fn, .ctx = ctx };
	size_t more = how_many(m, n), started = 0;
	pthread_t thread[MOST_THREADS];
	sigset_t all, before;
	pthread_attr_t attr;

	if (more > 1 && pthread_attr_init(&attr) == 0) {
		spread(m, &attr);
		/* the program's handlers run in the program's threads */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		while (started < more - 1 && pthread_create(&thread[started], &attr, take_turns, &e) == 0) {
			started++;
		}
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_attr_destroy(&attr);
	}
	take_turns(&e);
	while (started > 0) {
		pthread_join(thread[--started], NULL);
	}
}

/* ---- parts ---- */

struct stf_writer *vt_merge_writer(const struct vt_merge *m, int part, struct stf_err *e)
{
	struct stf_writer_options w = { .resolution = m->period_s,
		.procs_per_file = m->o->procs_per_file,
		.node = m->node_of,
		.n_node = m->n_node_of,
		.group_home = m->group_home,
		.n_group_home = m->n_homes,
		.force = m->o->force,
		.compress = m->o->compress,
		.single = m->o->single ? STF_SINGLE_FILE : 0,
		.comment = PACKAGE_STRING,
		.part = part };

	return stf_writer_create(m->o->trace, &w, e);
}

void vt_merge_one_part(void *ctx, size_t i)
{
	struct vt_merge_sharing *s = ctx;
	struct vt_merge_part *p = &s->part[i];
	int rc = -1;

	if (atomic_load(&s->failed)) {
		return;
	}
	*p = (struct vt_merge_part){ .m = s->m, .set = s->set[i] };
	p->w = vt_merge_writer(s->m, 1, &p->error);
	if (p->w) {
		rc = stf_writer_processes(p->w, s->m->threads, s->m->n_processes);
		p->error = *stf_writer_error(p->w);
		rc = rc < 0 ? rc : vt_merge_part_data(p);
	}
	if (rc == 0 && !p->stray) {
		s->text[i] = stf_writer_finish_part(p->w, &p->error);
		rc = s->text[i] ? 0 : -1;
	} else {
		stf_writer_abort(p->w);
	}
	p->w = NULL;
	if (rc < 0 || p->stray) {
		atomic_store(&s->failed, 1);
	}
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Which sets there are; only one where all processes share their files, or one process's threads have some each. */
static int find_sets(struct vt_merge_sharing *s)
{
	struct vt_merge *m = s->m;
	size_t i, k;

	s->set = calloc(m->n + 1, sizeof(*s->set));
	if (!s->set) {
		return -1;
	}
	for (i = 0; i < m->n; i++) {
		m->file[i].set = m->n_processes > 1 ? stf_writer_set(m->w, STF_WILLY(m->file[i].process, 0)) : 0;
		m->file[i].node_set =
			m->n_processes > 1 ? stf_writer_set(m->w, STF_GROUP(VT_MERGE_FIRST_NODE + m->file[i].node)) : 0;
		s->set[i + 1] = m->file[i].set;
	}
	qsort(s->set, m->n + 1, sizeof(*s->set), ascending);
	for (i = 1, k = 0; i <= m->n; i++) {
		if (s->set[i] != s->set[k]) {
			s->set[++k] = s->set[i];
		}
	}
	s->n = k + 1;
	s->part = calloc(s->n, sizeof(*s->part));
	s->text = calloc(s->n, sizeof(*s->text));
	s->host = calloc(s->n, sizeof(*s->host));
	return s->part && s->text && s->host ? 0 : -1;
}

static void add_up(struct vt_merge *m, const struct vt_merge_part *p)
{
	m->out->samples += p->samples;
	m->out->changes += p->changes;
	m->out->lost += p->lost;
	m->repairs.moved += p->repairs.moved;
	m->repairs.left += p->repairs.left;
	m->repairs.closed += p->repairs.closed;
	m->repairs.unmatched += p->repairs.unmatched;
	m->repairs.undefined += p->repairs.undefined;
	m->repairs.largest = p->repairs.largest > m->repairs.largest ? p->repairs.largest : m->repairs.largest;
	m->repairs.farthest = p->repairs.farthest > m->repairs.farthest ? p->repairs.farthest : m->repairs.farthest;
	m->last = p->last > m->last ? p->last : m->last;
}

static int alone(struct vt_merge *m)
{
	struct vt_merge_part all = { .m = m, .w = m->w, .everything = 1 };

	int rc;

	if (vt_merge_part_data(&all) < 0) {
		vt_merge_messages_free(&all, 1);
		return vt_merge_stf_error(m, &all.error);
	}
	add_up(m, &all);
	rc = vt_merge_write_messages(m, &all, 1, &m->out->messages);
	vt_merge_messages_free(&all, 1);
	return rc;
}

/* All parts are in, or none of their files is left. */
static int take_in(struct vt_merge_sharing *s)
{
	struct vt_merge *m = s->m;
	int rc = atomic_load(&s->failed) ? -1 : 0, stray = 0;
	const struct stf_err *why = NULL;
	size_t i;

	for (i = 0; i < s->n; i++) {
		why = !why && s->part[i].error.code != STF_OK ? &s->part[i].error : why;
		stray |= s->part[i].stray;
		if (rc < 0 && s->text[i]) {
			stf_part_discard(s->text[i]);
		} else if (rc == 0 && stf_writer_adopt(m->w, s->text[i]) < 0) {
			why = stf_writer_error(m->w);
			rc = -1;
		}
	}
	for (i = 0; rc == 0 && i < s->n; i++) {
		add_up(m, &s->part[i]);
	}
	if (why) {
		return vt_merge_stf_error(m, why);
	}
	if (rc == 0 && !stray && vt_merge_write_messages(m, s->part, s->n, &m->out->messages) < 0) {
		return -1;
	}
	/* records of groups that their files do not announce: rare enough to begin anew for */
	return stray ? 1 : rc;
}

int vt_merge_data(struct vt_merge *m)
{
	struct vt_merge_sharing s = { .m = m };
	int rc = 1;
	size_t i;

	if (find_sets(&s) == 0 && m->o->hosts && s.n > 1) {
		if (vt_merge_by_hosts(&s) < 0) {
			atomic_store(&s.failed, 1);
		}
		rc = take_in(&s);
		rc = rc > 0
			? tkm_fail(m->err, TKM_ERR_DATA, "merge: records of groups that their file does not announce")
			: rc;
	} else if (s.host && how_many(m, s.n) > 1) {
		vt_merge_each(m, s.n, vt_merge_one_part, &s);
		rc = take_in(&s);
	}
	for (i = 0; s.text && i < s.n; i++) {
		free(s.text[i]);
	}
	vt_merge_messages_free(s.part, s.part ? s.n : 0);
	free(s.set);
	free(s.host);
	free(s.part);
	free(s.text);
	return rc > 0 ? alone(m) : rc;
}
