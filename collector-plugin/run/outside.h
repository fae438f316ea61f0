/* SPDX-License-Identifier: BSD-3-Clause */
/* Every trace that a program orders at its end is made by another process, so that the program needs no memory and no code for that: by
 * the sampler process of its job, or, where there is none, by a sampler process that is started for it. Both are of
 * one installation, so the order and its answer are structures. */
#ifndef COLLECTOR_PLUGIN_RUN_OUTSIDE_H
#define COLLECTOR_PLUGIN_RUN_OUTSIDE_H

#include <stdint.h>

#include "collector-plugin/merge/merge.h"

/* The body of VT_ATTACH_MERGE. It is followed by the set of CPUs, the name of the trace, NMCMD or "", and the path of each raw file. */
struct vt_merge_order {
	struct vt_merge_options o; /* without what its pointers point to */
	uint64_t device, inode;    /* of the trace's folder: a process may see another one under its name */
	uint32_t files, cpu_bytes;
	int32_t has_summary, verbose, rank, filler;
};

/* The body of its answer; lines for the user follow. */
struct vt_merge_answer {
	int32_t rc;
	struct tkm_err err;
	struct vt_merge_result result;
};

/* Like vt_merge_recorded(), by that process. err->code: TKM_ERR_TIMEOUT: it is still at work, or has written the trace and
 * then ended, and the raw files are not this process's any more; err->text says which. Any other: it has not made it, and does not
 * touch the raw files any more. */
int vt_outside_merge(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err);

#endif
