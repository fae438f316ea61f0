/* SPDX-License-Identifier: BSD-3-Clause */
/* The two communicators that always exist, and those of VT_attach(). Calls of MPI and VT_log_sendmsg() and the like use them. */
#ifndef COLLECTOR_PLUGIN_TRACE_WORLD_H
#define COLLECTOR_PLUGIN_TRACE_WORLD_H

#include <stdint.h>

#include "collector-plugin/core/thread.h"

/* Their numbers in the raw file. */
enum { VT_WORLD_ID = 1, VT_SELF_ID = 2 };

/* Defines all in the raw file of c, once. It does nothing with COUNTERS-ONLY, where no record refers to them. size:
 * number of processes of the world. Any thread may call. */
VT_HIDDEN void vt_world_define(struct vt_collect *c, int rank, int size);

/* The world of this process, before it starts: ranks first to first + size - 1 of the job. size 0: as the collector knows; parent -1:
 * none, else the parent's communicator is the first of VT_attach(). Forgets all communicators. */
VT_HIDDEN void vt_world_join(int first, int size, int parent);
/* Adds a communicator of the process with rank `parent` and those with ranks first to first + n - 1. Returns its place in the list, or
 * -1: there are too many. */
VT_HIDDEN int vt_world_attach(int parent, int first, int n);
/* Number of members of communicator i of VT_attach(), from 0; 0: there is none. */
VT_HIDDEN int vt_world_attached(int i);
/* Is the first one that of a parent? */
VT_HIDDEN int vt_world_has_parent(void);
/* Ranks in the world of this process: the number of them, its own, and the first in the job. */
VT_HIDDEN int vt_world_size(const struct vt_collect *c);
VT_HIDDEN int vt_world_rank(const struct vt_collect *c);
VT_HIDDEN int vt_world_first(void);

/* Collective operations begun so far on each communicator, by its number less 1. */
enum { VT_WORLD_MOST = 254 };
extern _Atomic uint32_t vt_world_operations[2 + VT_WORLD_MOST] VT_HIDDEN;

#endif
