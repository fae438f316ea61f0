/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the VT interface share, and what the MPI wrappers call. */
#ifndef COLLECTOR_PLUGIN_API_PRIVATE_H
#define COLLECTOR_PLUGIN_API_PRIVATE_H

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"

/* Takes the collector's options out of the program's arguments; before vt_collect_start(). */
VT_HIDDEN void vt_take_arguments(int *argc, char ***argv);

/* clients.c: joins the job of VT_serverinit() or VT_clientinit(), if one of them was called; before vt_collect_start(). */
VT_HIDDEN VT_ErrorCode vt_join_job(const char *argv0);

/* counters.c: defines a counter of the collector itself, of the calling thread, in the raw file. Sets its id, and returns it;
 * 0: no memory. COUNTER does not switch it off. */
struct vt_raw_counter_def;
VT_HIDDEN uint32_t vt_counter_of_ours(struct vt_collect *c, struct vt_raw_counter_def *d);

/* groups.c: under which thread or group a value of a counter with this target is stored when the calling thread sets
 * it. */
enum { VT_WHERE_THREAD = -1, VT_WHERE_ELSEWHERE = -2, VT_WHERE_NOTHING = -3 /* no such target */ };
VT_HIDDEN int vt_target_where(const struct vt_collect *c, int target);
/* The handle of the latest group of this name, upper and lower case alike; 0: there is none. */
VT_HIDDEN int vt_group_named(const char *name);

#endif
