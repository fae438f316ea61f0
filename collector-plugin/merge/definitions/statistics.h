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
/* Writes the row s of so many messages with so many bytes together. Such a row is written as two: messages of the mean
 * size, rounded down, and messages with one byte more, so many that the total number of bytes is right. The times are in the
 * first of the two rows that exists. Returns 0, or -1 with the writer's error. */
int vt_merge_write_mean(const struct vt_merge *m, struct stf_lw_statistics *s, uint64_t count, uint64_t bytes);
/* Values of stf_lw_statistics for rows without a message and for collective operations (Intel Trace Collector guide, section
 * 2.8.2). */
#define VT_NO_MESSAGE 0xffffffffu
#define VT_NO_RECEIVER 0xffffffffu
#define VT_COLLECTIVE 0xfffffffeu
/* Calls options.summary with the lines of a summary: the ten functions with the most time of their own, the share of
 * MPI, and messages by size. */
void vt_merge_say_summary(const struct vt_merge *m);

#endif
