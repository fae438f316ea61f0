/* SPDX-License-Identifier: BSD-3-Clause */
/* --merge: makes a trace from raw files. */
#include "config.h"
#include "tools/convert/merge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"
#include "base/text/text.h"
#include "collector-plugin/merge/merge.h"

static void say_merge_line(void *ctx, const char *line)
{
	const struct stt_options *o = ctx;

	stt_say(o, 1, "%s", line);
}

struct inputs {
	struct vt_merge_input *in;
	size_t n;
	struct tkm_table known; /* their paths */
};

static int add_merge_input(struct inputs *all, char *path, struct tkm_err *e)
{
	struct vt_merge_input *new = NULL;
	char *known = path ? tkm_table_put(&all->known, path, strlen(path), 1) : NULL;

	if (known && *known) {
		free(path); /* a protocol has already listed this file */
		return 0;
	}
	if (known) {
		*known = 1;
		new = TKM_APPEND(all->in, all->n);
	}
	if (!new) {
		free(path);
		return tkm_fail(e, TKM_ERR_NOMEM, "out of memory");
	}
	new->path = path;
	return 0;
}

/* Adds the named raw files, and those that belong to a named protocol. */
static int find_inputs(const struct stt_options *o, struct inputs *all, struct tkm_err *e)
{
	char **path;
	size_t n, k;
	int i, rc = 0;

	for (i = 0; i < o->n_inputs && rc >= 0; i++) {
		path = NULL;
		n = 0;
		rc = vt_merge_is_raw(o->inputs[i]) ? 1 : vt_merge_find(o->inputs[i], &path, &n, e);
		if (rc == 1) {
			rc = add_merge_input(all, strdup(o->inputs[i]), e);
		}
		for (k = 0; k < n; k++) {
			rc = add_merge_input(all, path[k], e) < 0 ? -1 : rc;
		}
		free(path);
	}
	return rc < 0 ? -1 : 0;
}

static void free_inputs(struct inputs *all)
{
	while (all->n) {
		free((void *)(uintptr_t)all->in[--all->n].path);
	}
	free(all->in);
	tkm_table_free(&all->known);
}

int stt_merge(const struct stt_options *o, const char *name)
{
	struct vt_merge_options m = { .trace = name,
		.single = stt_output_format(o, name) == STT_SINGLE,
		.force = o->force,
		.procs_per_file = (uint32_t)o->procs_per_file,
		.by_node = o->use_hw_structure,
		.compress = o->compress_trace < 0 ? TM_COMPRESS_TRACE : (int)o->compress_trace,
		.delete_raw = o->delete_raw_data,
		.say = say_merge_line,
		.ctx = (void *)(uintptr_t)o };
	struct inputs all = { NULL, 0, { 0 } };
	struct vt_merge_result r;
	struct tkm_err e;
	char length[40];
	int rc;

	if (stt_only_stf(o, "--merge", name) < 0) {
		return STT_USAGE;
	}
	rc = find_inputs(o, &all, &e);
	if (rc == 0) {
		rc = o->clock ? vt_merge_corrected(all.in, all.n, o->clock, &m, &r, &e)
			      : vt_merge_recorded(all.in, all.n, &m, &r, &e);
	}
	free_inputs(&all);
	if (rc < 0) {
		return stt_fault(o, "%s", e.text);
	}
	stt_say(o, 1, "%s: %llu samples and %llu state changes of %u %s with %u %s in %s", name,
		(unsigned long long)r.samples, (unsigned long long)r.changes, r.processes,
		r.processes == 1 ? "process" : "processes", r.threads, r.threads == 1 ? "thread" : "threads",
		tkm_print_time(length, sizeof(length), r.duration_s, 3));
	return STT_OK;
}
