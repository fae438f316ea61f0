/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns events of a thread (raw/events.h) into records of the trace. */
#ifndef COLLECTOR_PLUGIN_MERGE_RECORDS_EVENTS_H
#define COLLECTOR_PLUGIN_MERGE_RECORDS_EVENTS_H

#include "collector-plugin/merge/common/types.h"

struct vt_merge_states {
	uint32_t *function; /* [n] of the trace, outermost first */
	uint32_t n;
	size_t room;
	uint32_t scl; /* location of the innermost state that was entered last; 0: none */
	struct {
		/* level: how many states were open when the innermost one began to move bytes, 0: it moves none */
		uint32_t level, file;
		uint8_t type;
	} io;
	/* for a clock that is set back: local ticks of the last event, by how much the clock went back so far and
	 * before the last time, and what it showed then */
	struct {
		int64_t last, back, back_before, first;
	} clock;
	size_t posted; /* 1 + index of the first of the part's message ends that the present call has sent; 0: none */
};

struct vt_merge_event {
	uint64_t time; /* global time, in units of the trace */
	int64_t ticks; /* local ticks of the file */
	uint32_t willy;
	const struct vt_merge_file *f;
	const struct vt_raw_record *h;
	const uint8_t *body;            /* after the record's first 8 bytes; not aligned */
	struct vt_merge_states *states; /* of the thread */
};
/* Returns the number of a thread or group in the trace, from that in the file. */
uint32_t vt_merge_willy(const struct vt_merge_file *f, uint16_t where);
/* Writes the records of the event. Returns 0, or -1 with the writer's error or part->error. */
int vt_merge_event(struct vt_merge_part *part, const struct vt_merge_event *e);
/* Leaves the innermost state, which is still open at the end of the records. */
int vt_merge_close_state(struct vt_merge_part *part, const struct vt_merge_event *e);

#endif
