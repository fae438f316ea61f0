/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the phases of a job: the outermost functions and regions of its ranks, outside MPI and OpenMP, and those that they call. Finds the
 * outermost loop by the calls of MPI that come back at regular intervals. */
#ifndef STF_ANALYSIS_PHASES_H
#define STF_ANALYSIS_PHASES_H

#include "stf/replay/recent.h"
#include "stf/analysis/threads.h"

enum { STF_PHASE_LEVELS = 2 };

struct stf_phases {
	struct tkm_table open;  /* by willy: where the thread is in its phases */
	struct tkm_table parts; /* by willy, function and level: the part of a thread in a phase */
	struct tkm_table calls; /* by willy and function: the intervals between calls of MPI */
	struct stf_recent recent_open, recent_parts, recent_calls;
};

/* The thread is about to enter a function, or to leave the one that is on top of its stack. All events before were passed. Both return
 * 0 or -1: no memory. */
int stf_phase_enters(
	struct stf_phases *p, const struct stf_threads *t, uint32_t willy, uint64_t time, uint32_t function);
int stf_phase_leaves(struct stf_phases *p, const struct stf_threads *t, uint32_t willy, uint64_t time);
/* Sets a->phase and a->iterations at the end of the reading; a->processes, begin and finish are there. Returns 0 or -1: no memory. */
int stf_phases_end(struct stf_phases *p, const struct stf_threads *t, struct stf_analysis *a);
void stf_phases_free(struct stf_phases *p);

#endif
