/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one set of the trace's files: opens its writer, writes its records, and keeps the text that the writer
 * leaves for the one that completes the trace. */
#include "config.h"
#include "collector-plugin/merge/common/private.h"

#include <stdatomic.h>

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
	p->m = s->m;
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
