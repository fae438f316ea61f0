/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective operations: collected while the records are read, matched and written when all are. */
#ifndef COLLECTOR_PLUGIN_MERGE_MESSAGES_H
#define COLLECTOR_PLUGIN_MERGE_MESSAGES_H

#include "collector-plugin/merge/events.h"
#include "collector-plugin/merge/types.h"

/* One of raw/events.h. Returns 0, or -1 with part->error. */
int vt_merge_message(struct vt_merge_part *part, const struct vt_merge_event *e);
int vt_merge_collective(struct vt_merge_part *part, const struct vt_merge_event *e);
/* The thread leaves the call that posted what it has sent last. */
void vt_merge_posted(struct vt_merge_part *part, const struct vt_merge_event *e);

/* All parts are read: their messages and operations into m->w, and what was found into the trace. Returns 0, or -1 with m->err. */
int vt_merge_write_messages(struct vt_merge *m, struct vt_merge_part *part, size_t n, struct vt_match_counts *counts);
void vt_merge_messages_free(struct vt_merge_part *part, size_t n);

#endif
