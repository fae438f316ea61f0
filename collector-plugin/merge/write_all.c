/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the records of a trace that has several files: each set of files is read and written by a thread of its own.
 * The bytes of the trace are the same as with one thread. If no thread can be started, the caller does all the work. */
#include "config.h"
#include "collector-plugin/merge/common/private.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "collector-plugin/merge/records/idle.h"
#include "collector-plugin/merge/records/messages.h"

static int compare_sets(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int compare_served(const void *a, const void *b)
{
	const struct vt_merge_served *x = a, *y = b;

	return x->set != y->set ? (x->set < y->set ? -1 : 1) : x->file < y->file ? -1 : x->file > y->file;
}

/* Finds which files each part reads: those of its processes, and those with records of its node, or of groups. */
static int find_served(struct vt_merge_sharing *s)
{
	const struct vt_merge *m = s->m;
	size_t i, k, n = 0;

	s->served = calloc(3 * m->n + 1, sizeof(*s->served));
	if (!s->served) {
		return -1;
	}
	for (i = 0; i < m->n; i++) {
		const struct vt_merge_file *f = &m->file[i];

		s->served[n++] = (struct vt_merge_served){ f->set, (uint32_t)i };
		if ((f->of_groups & VT_MERGE_OF_NODE) && f->node_set != f->set) {
			s->served[n++] = (struct vt_merge_served){ f->node_set, (uint32_t)i };
		}
		if ((f->of_groups & VT_MERGE_OF_GROUPS) && f->set != 0 &&
			!((f->of_groups & VT_MERGE_OF_NODE) && f->node_set == 0)) {
			s->served[n++] = (struct vt_merge_served){ 0, (uint32_t)i };
		}
	}
	qsort(s->served, n, sizeof(*s->served), compare_served);
	for (i = 0, k = 0; i < s->n; i++) {
		while (k < n && s->served[k].set < s->set[i]) {
			k++;
		}
		s->part[i].set = s->set[i];
		s->part[i].served = &s->served[k];
		while (k < n && s->served[k].set == s->set[i]) {
			k++;
			s->part[i].n_served++;
		}
	}
	return 0;
}

/* Finds the sets. There is one set only if all processes share their files, or if the files are divided by the
 * threads of a single process. */
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
	qsort(s->set, m->n + 1, sizeof(*s->set), compare_sets);
	for (i = 1, k = 0; i <= m->n; i++) {
		if (s->set[i] != s->set[k]) {
			s->set[++k] = s->set[i];
		}
	}
	s->n = k + 1;
	s->part = calloc(s->n, sizeof(*s->part));
	s->text = calloc(s->n, sizeof(*s->text));
	return s->part && s->text ? find_served(s) : -1;
}

static void add_up(struct vt_merge *m, const struct vt_merge_part *p)
{
	m->out->samples += p->samples;
	m->out->changes += p->changes;
	m->out->callers += p->callers;
	m->out->lost += p->lost;
	m->repairs.moved += p->repairs.moved;
	m->repairs.left += p->repairs.left;
	m->repairs.closed += p->repairs.closed;
	m->repairs.late += p->repairs.late;
	m->repairs.unmatched += p->repairs.unmatched;
	m->repairs.undefined += p->repairs.undefined;
	m->repairs.largest = p->repairs.largest > m->repairs.largest ? p->repairs.largest : m->repairs.largest;
	m->repairs.farthest = p->repairs.farthest > m->repairs.farthest ? p->repairs.farthest : m->repairs.farthest;
	m->last = p->last > m->last ? p->last : m->last;
}

static int one_writer(struct vt_merge *m)
{
	struct vt_merge_part all = { .m = m, .w = m->w, .everything = 1 };
	int rc = 0;

	if (m->idle_ns) {
		all.idle = vt_idle_begin(m);
		rc = all.idle ? 0 : tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for the calls of MPI");
	}
	if (rc == 0 && vt_merge_part_data(&all) < 0) {
		rc = vt_merge_stf_error(m, &all.error);
	}
	if (rc == 0) {
		add_up(m, &all);
		m->out->changes = m->idle_ns ? 0 : m->out->changes;
		rc = vt_merge_write_messages(m, &all, 1, &m->out->messages);
	}
	vt_merge_messages_free(&all, 1);
	vt_idle_free(all.idle);
	return rc;
}

/* Adds the files of all parts to the trace, or removes them all. */
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
	/* a file had records of groups that its definitions do not announce. This is rare, so the merge begins again */
	return stray ? 1 : rc;
}

int vt_merge_data(struct vt_merge *m)
{
	struct vt_merge_sharing s = { .m = m };
	int rc = 1;
	size_t i;

	if (m->idle_ns) {
		/* waits are known when all is matched, so one writer writes all states */
		return one_writer(m);
	}
	if (find_sets(&s) == 0 && vt_merge_threads(m, s.n) > 1) {
		vt_merge_each(m, s.n, vt_merge_one_part, &s);
		rc = take_in(&s);
	}
	for (i = 0; s.text && i < s.n; i++) {
		free(s.text[i]);
	}
	vt_merge_messages_free(s.part, s.part ? s.n : 0);
	free(s.served);
	free(s.set);
	free(s.part);
	free(s.text);
	return rc > 0 ? one_writer(m) : rc;
}
