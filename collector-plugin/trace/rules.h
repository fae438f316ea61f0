/* SPDX-License-Identifier: BSD-3-Clause */
/* What to do at the events of each function. It is decided when the function is defined; an event only needs a load
 * and a branch. */
#ifndef COLLECTOR_PLUGIN_TRACE_RULES_H
#define COLLECTOR_PLUGIN_TRACE_RULES_H

#include <stdint.h>

#include "collector-plugin/core/thread.h"

/* Are events recorded at all? 0: COUNTERS-ONLY. */
extern int vt_trace_wanted VT_HIDDEN;
/* TRACE-IMBALANCE: 1: no events of the program, and of MPI only calls whose waits the merge can find; but all messages. */
extern int vt_trace_idle VT_HIDDEN;

/* The rule of a function, indexed by its id less VT_FIRST_ID; 0: the function is not defined. */
enum {
	VT_TRACE_KNOWN = 1,
	VT_TRACE_RECORD = 2, /* its states are recorded, unless a caller folds them */
	VT_TRACE_PUSH = 4,   /* its states are kept on the stack of states, recorded or not */
	VT_TRACE_RULED =
		8, /* vt_trace_verdict() has more; bits from VT_FILTER_FIRST_CALLER on: patterns of callers it matches */
	VT_TRACE_KEEP = 16, /* a call of MPI: its messages need it, so it is not throttled */
	/* four bits each: how much of the call stack is recorded, and how much of it is left out first */
	VT_TRACE_LEVELS = 0xf00,
	VT_TRACE_LEVELS_SHIFT = 8,
	VT_TRACE_SKIP = 0xf000,
	VT_TRACE_SKIP_SHIFT = 12,
};
enum { VT_TRACE_FUNCTIONS = 1 << 22 }; /* functions, at most */
extern uint32_t *vt_trace_rules VT_HIDDEN;
/* Makes the table; must be called before the first definition. skip, levels: how much of the call stack to leave out
 * and to record, if no rule says otherwise. Returns 0 or -1. */
VT_HIDDEN int vt_rules_start(unsigned skip, unsigned levels);
/* Zeroed memory that does not come from malloc(). Pages that are never touched cost nothing. NULL: no memory. */
VT_HIDDEN void *vt_trace_memory(size_t size);

/* A call of MPI that may be throttled all the same. */
VT_HIDDEN void vt_trace_may_throttle(uint32_t function);
/* THROTTLE: the function's states are no longer recorded, but still counted. */
VT_HIDDEN void vt_trace_throttle(uint32_t function);
/* How many functions have been throttled. */
VT_HIDDEN unsigned vt_trace_throttled(void);

struct vt_verdict;
/* The filter's decision on a function with VT_TRACE_RULED. */
VT_HIDDEN const struct vt_verdict *vt_trace_verdict(uint32_t function);
/* Called when a function has been defined. */
VT_HIDDEN void vt_trace_defined(uint32_t function, const char *class_name, const char *name);

static inline uint32_t vt_trace_rule(uint32_t function)
{
	uint32_t i = function - VT_FIRST_ID;

	return i < VT_TRACE_FUNCTIONS ? __atomic_load_n(&vt_trace_rules[i], __ATOMIC_RELAXED) : 0;
}

#endif
