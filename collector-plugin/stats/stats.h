/* SPDX-License-Identifier: BSD-3-Clause */
/* STATISTICS (Intel Trace Collector guide, section 2.8): count and times of each function in each thread, in fixed memory, whether events are recorded or
 * not. Rows go into the raw file as definitions, what has changed each second and all at the end, so that a process that is killed
 * has them up to a second before its last event. */
#ifndef COLLECTOR_PLUGIN_STATS_STATS_H
#define COLLECTOR_PLUGIN_STATS_STATS_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/raw/writer.h"

struct vt_stats;

/* STATISTICS is on: threads that register from now on have a table of so many rows at most. */
VT_HIDDEN void vt_stats_start(int rows);
VT_HIDDEN int vt_stats_wanted(void);
/* THROTTLE: after so many calls of a function in a thread that took less on average, `stop` is called with it, maybe more than once. */
VT_HIDDEN int vt_stats_throttles(void);
VT_HIDDEN void vt_stats_throttle(unsigned long long calls, double seconds, void (*stop)(uint32_t function));
/* A table for the calling thread; NULL: STATISTICS is off, or no memory. `others`: the function that rows are counted with for which there is
 * no place. */
VT_HIDDEN struct vt_stats *vt_stats_thread(struct vt_collect *c, int thread, uint32_t others);
/* A call, or one of several communications in it, has ended at `now`: what to count it with (t: 0), and its ticks with and without what it
 * called. */
VT_HIDDEN void vt_stats_add(
	struct vt_stats *s, const struct vt_raw_row *key, int64_t now, int64_t inclusive, int64_t exclusive);
/* The same for a call, by its function alone. */
VT_HIDDEN void vt_stats_call(struct vt_stats *s, uint32_t function, int64_t now, int64_t inclusive, int64_t exclusive);
/* The thread ends. */
VT_HIDDEN void vt_stats_thread_ends(struct vt_stats *s);
/* The run ends: rows of all threads that are still there. */
VT_HIDDEN void vt_stats_finish(void);
/* In the child of a fork: the tables are the parent's. */
VT_HIDDEN VT_IN_CHILD void vt_stats_forked(void);

#endif
