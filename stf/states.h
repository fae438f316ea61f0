/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes many states of one thread at once, for the merge. What all of them have in common is looked up only once. */
#ifndef STF_STATES_H
#define STF_STATES_H

#include "stf/stf.h"

struct stx_state {
	uint64_t time;
	uint32_t function;
	uint32_t enter; /* 1: enter; 0: leave the innermost state, and ignore `function` */
};

/* Does the same as stf_write_enter_function() and stf_write_leave_function() for each of n states, in their
 * order. Returns 0, or -1 with the writer's error. */
int stx_write_states(struct stf_writer *w, uint32_t willy, const struct stx_state *s, size_t n);

#endif
