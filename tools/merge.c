/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "tools/merge.h"

#include <stdlib.h>

#include "base/text.h"
#include "collector-plugin/merge/merge.h"

static void say(void *ctx, const char *line)
{
	const struct stt_options *o = ctx;

	stt_say(o, 1, "%s", line);
}

int stt_merge(const struct stt_options *o, const char *name)
{
	struct vt_merge_options m = { .trace = name,
		.single = stt_output_format(o, name) == STT_SINGLE,
		.force = o->force,
		.procs_per_file = (uint32_t)o->procs_per_file,
		.by_node = o->use_hw_structure,
		.compress = o->compress_trace > 0 ? (int)o->compress_trace : 0,
		.delete_raw = o->delete_raw_data,
		.say = say,
		.ctx = (void *)(uintptr_t)o };
	struct vt_merge_input *in = calloc((size_t)o->n_inputs, sizeof(*in));
	struct vt_merge_result r;
	struct tkm_err e;
	char length[40];
	int i, rc;

	if (stt_only_stf(o, "--merge", name) < 0) {
		free(in);
		return STT_USAGE;
	}
	if (!in) {
		return stt_fault(o, "out of memory");
	}
	for (i = 0; i < o->n_inputs; i++) {
		in[i].path = o->inputs[i];
	}
	rc = o->clock ? vt_merge_corrected(in, (size_t)o->n_inputs, o->clock, &m, &r, &e)
		      : vt_merge_recorded(in, (size_t)o->n_inputs, &m, &r, &e);
	free(in);
	if (rc < 0) {
		return stt_fault(o, "%s", e.text);
	}
	stt_say(o, 1, "%s: %llu samples and %llu state changes of %u %s with %u %s in %s", name,
		(unsigned long long)r.samples, (unsigned long long)r.changes, r.processes,
		r.processes == 1 ? "process" : "processes", r.threads, r.threads == 1 ? "thread" : "threads",
		tkm_print_time(length, sizeof(length), r.duration_s, 3));
	return STT_OK;
}
