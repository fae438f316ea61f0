/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns events of a thread (raw/events.h) into records of the trace. */
#ifndef COLLECTOR_PLUGIN_MERGE_RECORDS_EVENTS_H
#define COLLECTOR_PLUGIN_MERGE_RECORDS_EVENTS_H

#include "collector-plugin/merge/common/types.h"

/* Returns the number of a thread or group in the trace, from that in the file. */
uint32_t vt_merge_willy(const struct vt_merge_file *f, uint16_t where);
/* Writes the records of the event. Returns 0, or -1 with the writer's error or part->error. */
int vt_merge_event(struct vt_merge_part *part, const struct vt_merge_event *e);
/* Leaves the innermost state, which is still open at the end of the records. */
int vt_merge_close_state(struct vt_merge_part *part, const struct vt_merge_event *e);

#endif
