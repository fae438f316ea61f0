/* SPDX-License-Identifier: BSD-3-Clause */
/* Many states of one thread at once, for the merge: what is alike in all of them is looked up once. */
#ifndef STF_STATES_H
#define STF_STATES_H

#include "stf/stf.h"

struct stx_state {
	uint64_t time;
	uint32_t function;
	uint32_t enter; /* 1; 0: the innermost state is left, `function` says nothing */
};

/* The same as stf_write_enter_function() and stf_write_leave_function() for each of n, in their order. Returns 0, or -1 with the
 * writer's error. */
int stx_write_states(struct stf_writer *w, uint32_t willy, const struct stx_state *s, size_t n);

#endif
