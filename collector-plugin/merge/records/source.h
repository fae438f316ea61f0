/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of the raw files as the merge reads them, and the quick way through records that are alike. */
#ifndef COLLECTOR_PLUGIN_MERGE_RECORDS_SOURCE_H
#define COLLECTOR_PLUGIN_MERGE_RECORDS_SOURCE_H

#include "collector-plugin/merge/records/events.h"
#include "collector-plugin/merge/common/types.h"

/* One stream and its present record, whose dt is already in `now` and whose global time is `time`. */
struct vt_merge_source {
	struct vt_raw_cursor c;
	const struct vt_merge_file *f;
	int foreign; /* belongs to another set, or to a process that is discarded: only records of groups are taken */
	uint64_t time;
	uint64_t floor;       /* global time of the record before it */
	struct cal_span span; /* the piece of the map that was used last */
	struct cal_walk walk; /* for a map that is split where the clock was set */
	double bound_s;       /* the bound from the walk */
	struct vt_merge_states states;
	uint16_t owner; /* the thread whose states these are */
	int closing;    /* all records have been read; only open states are left to close */
};

/* bulk.c: writes the records after the present one, up to the first of another kind or at `limit`. Returns 0, or -1 with the
 * writer's error. */
int vt_merge_run(struct vt_merge_part *part, struct vt_merge_source *s, uint64_t limit);

#endif
