/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the statistics of the raw files into the trace. Rows of the same thread and function are added up. */
#ifndef COLLECTOR_PLUGIN_MERGE_DEFINITIONS_STATISTICS_H
#define COLLECTOR_PLUGIN_MERGE_DEFINITIONS_STATISTICS_H

#include "collector-plugin/merge/common/types.h"

/* Takes in a definition VT_RAW_DEF_STATISTICS; function: its id in the trace. Returns 0, or -1 if there is no memory. */
int vt_merge_see_statistics(
	struct vt_merge *m, const struct vt_merge_file *f, const struct vt_raw_def *d, uint32_t function);
/* Writes all statistics. Returns 0, or -1 with the writer's error. */
int vt_merge_write_statistics(struct vt_merge *m);
/* Calls options.summary with the lines of a summary: the ten functions with the most time of their own, the share of
 * MPI, and messages by size. */
void vt_merge_say_summary(const struct vt_merge *m);

#endif
