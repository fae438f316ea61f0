/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds waits at barriers of OpenMP: a thread waits for the last one of its team. The collector records both as states of class OMP. */
#ifndef STF_ANALYSIS_TEAMS_H
#define STF_ANALYSIS_TEAMS_H

#include "stf/analysis/threads.h"

struct stf_teams {
	struct tkm_table members; /* struct stf_team_member */
	/* barriers that were left at this time: how many waits they were is decided when all events of it were passed */
	struct stf_left_barrier *left;
	size_t n_left, left_room;
	uint64_t left_at;
};

/* The thread is about to enter a function, or to leave the one that is on top of its stack. All events before were passed. Both return
 * 0 or -1: no memory. */
int stf_team_enters(
	struct stf_teams *m, struct stf_threads *t, uint32_t willy, uint64_t time, const struct stf_frame *f);
int stf_team_leaves(struct stf_teams *m, struct stf_threads *t, uint32_t willy, uint64_t time);
/* Sets a->team at the end of the reading. Returns 0 or -1: no memory. */
int stf_teams_end(struct stf_teams *m, struct stf_threads *t, struct stf_analysis *a);
void stf_teams_free(struct stf_teams *m);

#endif
