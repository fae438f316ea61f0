/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays a trace again, with other times in MPI or in a function. Each thread has a clock for each way of playing; what the thread
 * needs from others moves it forward. */
#ifndef STF_REPLAY_REPLAY_H
#define STF_REPLAY_REPLAY_H

#include <stddef.h>

#include "include/analysis.h"

enum {
	STF_PLAY_IDEAL,   /* MPI takes the time of the given network only */
	STF_PLAY_CHANGED, /* MPI takes the time that it took, a function another one */
	STF_PLAYS
};

struct stf_play_times {
	uint64_t at[STF_PLAYS];
};

/* What a thread gets from others: complete at `done` of the trace; possible at `ready` of the trace, and at `times` when played. */
struct stf_play_arrival {
	uint64_t done, ready;
	struct stf_play_times times;
	int is_message;
};

/* A thread. */
struct stf_player {
	int begun;
	struct stf_play_times now, end; /* end: at the begin of MPI_Finalize */
	struct stf_play_arrival *heap;  /* the one that is complete first is first */
	size_t n, room;
};

struct stf_replay {
	double latency, per_byte; /* of a message in the ideal run, in time-stamp units */
	uint32_t function;        /* that takes another time; 0: none */
	double keeps;             /* the part of its time that it still takes */
	int (*moved)(void *user, uint32_t willy, uint64_t time, uint64_t ideal);
	void *user;
};

/* How a call of MPI was played: it began at these times, of the trace and when played. */
struct stf_play_call {
	uint64_t enter, leave;
	struct stf_play_times entered;
	int keeps_time; /* also in the ideal run: it works on files */
	int waited;     /* for a receiver that came then */
	uint64_t receiver_came;
	struct stf_play_times receiver;
};

/* The thread spends time in a function outside MPI. */
void stf_play_time(const struct stf_replay *r, struct stf_player *t, uint32_t function, uint64_t ticks);
/* Something arrives. Returns 0 or -1: no memory. */
int stf_play_arrives(struct stf_player *t, const struct stf_play_arrival *a);
/* The call ends. */
void stf_play_leave(const struct stf_replay *r, struct stf_player *t, const struct stf_play_call *c);
/* The times of a message of that size, or of an operation of n members, when it was sent at these times. */
struct stf_play_times stf_play_message(const struct stf_replay *r, const struct stf_play_times *sent, uint64_t bytes);
struct stf_play_times stf_play_operation(
	const struct stf_replay *r, const struct stf_play_times *ready, uint32_t n, uint64_t bytes);
void stf_play_latest(struct stf_play_times *a, const struct stf_play_times *b);
void stf_player_free(struct stf_player *t);

#endif
