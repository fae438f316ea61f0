/* SPDX-License-Identifier: BSD-3-Clause */
/* The two communicators that are always there, for MPI's calls and for VT_log_sendmsg() and the like. */
#ifndef COLLECTOR_PLUGIN_TRACE_WORLD_H
#define COLLECTOR_PLUGIN_TRACE_WORLD_H

#include <stdint.h>

#include "collector-plugin/core/thread.h"

/* Their numbers in the raw file. */
enum { VT_WORLD_ID = 1, VT_SELF_ID = 2 };

/* Defines both in the raw file of c, once; not with COUNTERS-ONLY, where nothing refers to them. size: processes of the world. Any
 * thread. */
VT_HIDDEN void vt_world_define(struct vt_collect *c, int rank, int size);

/* Collective operations begun on each so far, by number less 1. */
extern _Atomic uint32_t vt_world_operations[2] VT_HIDDEN;

#endif
