/* SPDX-License-Identifier: BSD-3-Clause */
/* STATISTICS (Intel Trace Collector guide, section 2.8): number and times of the calls of each function in each
 * thread, in fixed memory, whether events are recorded or not. The rows are in the raw file, which is mapped, so a
 * process that is killed has counted all calls that had ended. */
#ifndef COLLECTOR_PLUGIN_STATS_STATS_H
#define COLLECTOR_PLUGIN_STATS_STATS_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/raw/writer.h"

struct vt_stats;

/* Turns STATISTICS on: threads that register from now on get a table of at most this many rows. */
VT_HIDDEN void vt_stats_start(int rows);
VT_HIDDEN int vt_stats_wanted(void);
/* THROTTLE: `stop` is called with a function, maybe more than once, when a thread has called it this many times and
 * the calls took less than the limit on average. */
VT_HIDDEN int vt_stats_throttles(void);
VT_HIDDEN void vt_stats_throttle(unsigned long long calls, double seconds, void (*stop)(uint32_t function));
/* Makes a table for the calling thread; NULL: STATISTICS is off, or no memory. late: it counts what is left out after
 * FLUSH-LIMIT, whether STATISTICS is on or not. */
VT_HIDDEN struct vt_stats *vt_stats_thread(struct vt_collect *c, int thread, int late);
/* A call, or one of several communications in it, has ended. The arguments are the key of its row (with t:
 * 0), and the ticks with and without what it called. */
VT_HIDDEN void vt_stats_add(struct vt_stats *s, const struct vt_raw_row *key, int64_t inclusive, int64_t exclusive);
/* The same for a call, counted by its function alone. */
VT_HIDDEN void vt_stats_call(struct vt_stats *s, uint32_t function, int64_t inclusive, int64_t exclusive);
/* Called when the thread ends. */
VT_HIDDEN void vt_stats_thread_ends(struct vt_stats *s);
/* Called when the run ends: writes the rows of all threads that still exist. */
VT_HIDDEN void vt_stats_finish(void);
/* Called in the child of a fork, because the tables belong to the parent. */
VT_HIDDEN VT_IN_CHILD void vt_stats_forked(void);

#endif
