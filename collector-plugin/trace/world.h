/* SPDX-License-Identifier: BSD-3-Clause */
/* The two communicators that always exist. Calls of MPI and VT_log_sendmsg() and the like use them. */
#ifndef COLLECTOR_PLUGIN_TRACE_WORLD_H
#define COLLECTOR_PLUGIN_TRACE_WORLD_H

#include <stdint.h>

#include "collector-plugin/core/thread.h"

/* Their numbers in the raw file. */
enum { VT_WORLD_ID = 1, VT_SELF_ID = 2 };

/* Defines both in the raw file of c, once. It does nothing with COUNTERS-ONLY, where no record refers to them. size:
 * number of processes of the world. Any thread may call. */
VT_HIDDEN void vt_world_define(struct vt_collect *c, int rank, int size);

/* Collective operations begun so far on each communicator, by its number less 1. */
extern _Atomic uint32_t vt_world_operations[2] VT_HIDDEN;

#endif
