/* SPDX-License-Identifier: BSD-3-Clause */
/* Source locations by the call stack (PCTRACE, VT_sclstack(); Intel Trace Collector guide, sections 2.9 and 3.1.4).
 * The raw file has addresses: each different stack is recorded once, as a definition with a number. Events refer to
 * this number like to one of VT_scldef(). The merge finds the source lines. */
#ifndef COLLECTOR_PLUGIN_TRACE_CALLSTACK_H
#define COLLECTOR_PLUGIN_TRACE_CALLSTACK_H

#include <stdint.h>

#include "collector-plugin/core/thread.h"

/* For each thread: the range of its stack, in which a walk may read, and its cache. Addresses outside it (signal handlers
 * with their own stack, coroutines) cannot be compared with it. */
struct vt_callstack_thread {
	uintptr_t low; /* 0: not known yet */
	uintptr_t high;
	struct vt_callstack_cache *cache; /* NULL: not used so far */
};

enum { VT_CALLSTACK_MOST = 15 }; /* return addresses of a stack, at most */

/* PCTRACE: applies to functions for which no rule says otherwise. levels 0: off. */
struct vt_callstack_levels {
	unsigned skip, levels;
};

/* Reads PCTRACE, PCTRACE-FAST and PCTRACE-CACHE. Must be called before the first definition. */
VT_HIDDEN void vt_callstack_start(void);
/* The code around this address belongs to the collector, too, in one of two libraries. After vt_callstack_start(). */
VT_HIDDEN void vt_callstack_own(const void *address);
VT_HIDDEN struct vt_callstack_levels vt_callstack_default(void);
/* Takes the call stack of the calling thread, beginning at the caller of this library: leaves out `skip` return
 * addresses and takes up to `levels`. Returns the stack's number; 0: there is none. For a stack that was seen before,
 * this takes no lock, allocates nothing and makes no system call. */
VT_HIDDEN uint32_t vt_callstack(struct vt_callstack_thread *t, unsigned skip, unsigned levels);
/* The same for VT_sclstack(): the stack begins with the address pc unless that is 0, and at a stack frame unless that
 * is NULL. */
VT_HIDDEN uint32_t vt_callstack_from(
	struct vt_callstack_thread *t, uintptr_t pc, const uintptr_t *frame, unsigned skip, unsigned levels);
/* Called when a library has been unloaded, with vt_objects_lock. */
VT_HIDDEN void vt_callstack_unloaded(void);
/* Finds the stack of the calling thread. Allocates nothing and takes no lock: a signal handler may have interrupted malloc(). */
VT_HIDDEN void vt_callstack_thread_begins(struct vt_callstack_thread *t, int is_process);
VT_HIDDEN uintptr_t vt_callstack_find_low(struct vt_callstack_thread *t);
static inline uintptr_t vt_callstack_low(struct vt_callstack_thread *t)
{
	return t->low ? t->low : vt_callstack_find_low(t);
}
/* Can the addresses be compared, because they are on one stack? Two outside the thread's stack are if they are near. */
VT_HIDDEN int vt_callstack_has_both(struct vt_callstack_thread *t, uintptr_t a, uintptr_t b);
/* The thread jumps to the stack pointer sp: has it then left the frame at `at`, here or on the stack of a signal handler? */
VT_HIDDEN int vt_callstack_leaves(struct vt_callstack_thread *t, uintptr_t at, uintptr_t sp);
/* 0: an exception or a jump has left the function that has this frame; its caller is deeper in the stack. Costs a
 * microsecond for each function between. */
VT_HIDDEN int vt_callstack_returns_to(uintptr_t frame);
/* The thread is or was at `from`, in states, and goes on at `to`; UINTPTR_MAX and 0: unknown. A thread has one row in the
 * trace: if that is another stack (coroutines), its functions are shown inside those of the stack that was left. */
VT_HIDDEN void vt_callstack_goes_on(struct vt_callstack_thread *t, uintptr_t from, uintptr_t to);
/* Did any thread go on on another stack, as far as it was seen? */
VT_HIDDEN int vt_callstack_switched(void);
/* Called when the thread has ended: frees its cache. */
VT_HIDDEN void vt_callstack_thread_ended(struct vt_callstack_thread *t);

#endif
