/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampler process makes the trace of an MPI job for the rank that writes it, so that the program needs no memory for that. Both are of
 * one installation, so the order and its answer are structures. */
#ifndef COLLECTOR_PLUGIN_RUN_OUTSIDE_H
#define COLLECTOR_PLUGIN_RUN_OUTSIDE_H

#include <stdint.h>

#include "collector-plugin/merge/merge.h"

/* The body of VT_ATTACH_MERGE. It is followed by the set of CPUs, the name of the trace, and the path of each raw file. */
struct vt_merge_order {
	struct vt_merge_options o; /* without what its pointers point to */
	uint64_t device, inode;    /* of the trace's folder: a process may see another one under its name */
	uint32_t files, cpu_bytes;
	int32_t has_summary, filler;
};

/* The body of its answer; lines for the user follow. */
struct vt_merge_answer {
	int32_t rc;
	struct tkm_err err;
	struct vt_merge_result result;
};

/* Like vt_collect_merge() with the clock sessions in the raw files, by the sampler process of this program, and without NMCMD, which the
 * sampler process would run in another folder with other variables. skip: TIMER-SKIP, as for cal_solve(). err->code: TKM_ERR_UNAVAIL: it cannot do that, or has ended before
 * the trace was complete, and does not touch the raw files any more; TKM_ERR_TIMEOUT: it is still at work, or has written the trace and
 * then ended, and the raw files are not this process's any more. err->text says which. */
int vt_collect_merge_outside(struct vt_merge_input *in, size_t n, int skip, struct tkm_err *err);

#endif
