/* SPDX-License-Identifier: BSD-3-Clause */
/* TRACE-IMBALANCE: calls of MPI that waited for another process become states of the trace, from their beginning to the end of
 * the wait, which the matched messages and operations tell. All other calls are counted, with their time, by partner. */
#ifndef COLLECTOR_PLUGIN_MERGE_RECORDS_IDLE_H
#define COLLECTOR_PLUGIN_MERGE_RECORDS_IDLE_H

#include "collector-plugin/merge/common/types.h"

/* NULL: no memory. The processes of m are known. */
struct vt_merge_idle *vt_idle_begin(const struct vt_merge *m);
void vt_idle_free(struct vt_merge_idle *d);

/* The thread enters and leaves a state. closes: its records end. The second returns 0, or -1 with part->error. */
void vt_idle_enter(struct vt_merge_part *part, const struct vt_merge_event *e, uint32_t function, uint32_t scl);
int vt_idle_leave(struct vt_merge_part *part, const struct vt_merge_event *e, int closes);
/* The latest end, or share, of the part belongs to the present call of the thread. */
void vt_idle_message_end(struct vt_merge_part *part, struct vt_merge_states *states);
void vt_idle_share(struct vt_merge_part *part, struct vt_merge_states *states);
/* The number of the call of MPI_Win_start that the thread left at that tick of its own clock; 0: it was short. */
uint32_t vt_idle_call_until(const struct vt_merge_idle *d, uint32_t willy, int64_t ticks);

/* A message with both ends, and an operation, as vt_match_messages() and vt_match_operations() report them. Return 1 if a
 * call waited for it, else 0. */
int vt_idle_message(struct vt_merge_part *part, const struct vt_match_end *send, const struct vt_match_end *receive);
int vt_idle_operation(struct vt_merge_part *part, const struct vt_match_share *share, size_t n);

/* When all were matched: writes the states, the counts and the infos. Returns 0 or -1, with the writer's error or without
 * memory. */
int vt_idle_write(struct vt_merge *m, struct vt_merge_part *part);

#endif
