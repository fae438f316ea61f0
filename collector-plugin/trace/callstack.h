/* SPDX-License-Identifier: BSD-3-Clause */
/* Source locations by the call stack (PCTRACE, VT_sclstack(); Intel Trace Collector guide, sections 2.9 and 3.1.4). What is recorded are addresses: each
 * different stack once, as a definition with a number that events refer to like one of VT_scldef(). The merge finds the source lines. */
#ifndef COLLECTOR_PLUGIN_TRACE_CALLSTACK_H
#define COLLECTOR_PLUGIN_TRACE_CALLSTACK_H

#include <stdint.h>

#include "collector-plugin/core/thread.h"

/* Of a thread: its stack, where the walk may read, and what it has seen. */
struct vt_callstack_thread {
	uintptr_t low, high;
	struct vt_callstack_cache *cache; /* NULL: not needed so far */
};

enum { VT_CALLSTACK_MOST = 15 }; /* return addresses of a stack at most */

/* PCTRACE: what holds for functions of which no rule says otherwise. levels 0: off. */
struct vt_callstack_levels {
	unsigned skip, levels;
};

/* Reads PCTRACE, PCTRACE-FAST and PCTRACE-CACHE. Before the first definition. */
VT_HIDDEN void vt_callstack_start(void);
/* The code around this address is ours, too. After vt_callstack_start(). */
VT_HIDDEN void vt_callstack_own(const void *address);
VT_HIDDEN struct vt_callstack_levels vt_callstack_default(void);
/* The stack of the calling thread, from the caller of this library on: `skip` return addresses are left out, up to `levels` taken.
 * Returns its number; 0: there is none. No lock, allocation or system call for a stack that was seen before. */
VT_HIDDEN uint32_t vt_callstack(struct vt_callstack_thread *t, unsigned skip, unsigned levels);
/* The same for VT_sclstack(): begins with the address pc unless it is 0, and at a stack frame unless it is NULL. */
VT_HIDDEN uint32_t vt_callstack_from(
	struct vt_callstack_thread *t, uintptr_t pc, const uintptr_t *frame, unsigned skip, unsigned levels);
/* A library has been unloaded; under vt_objects_lock. */
VT_HIDDEN void vt_callstack_unloaded(void);
/* The thread has ended: its cache. */
VT_HIDDEN void vt_callstack_thread_ended(struct vt_callstack_thread *t);

#endif
