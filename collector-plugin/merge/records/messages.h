/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective operations. They are collected while the records are read, and matched and written when all
 * records have been read. */
#ifndef COLLECTOR_PLUGIN_MERGE_RECORDS_MESSAGES_H
#define COLLECTOR_PLUGIN_MERGE_RECORDS_MESSAGES_H

#include "collector-plugin/merge/common/types.h"

/* Takes in one event of raw/events.h. Returns 0, or -1 with part->error. */
int vt_merge_message(struct vt_merge_part *part, const struct vt_merge_event *e);
int vt_merge_collective(struct vt_merge_part *part, const struct vt_merge_event *e);
/* Called at each event, in order, that tells where the thread is: it sees when the thread's clock is set back. */
void vt_merge_see_ticks(const struct vt_merge_event *e);
/* Called when the thread leaves the call that posted its latest sends. */
void vt_merge_posted(struct vt_merge_part *part, const struct vt_merge_event *e);

/* Called when all parts have been read: writes their messages and operations into m->w, and infos about the matching
 * into the trace. Returns 0, or -1 with m->err. */
int vt_merge_write_messages(struct vt_merge *m, struct vt_merge_part *part, size_t n, struct vt_match_counts *counts);
void vt_merge_messages_free(struct vt_merge_part *part, size_t n);

#endif
