/* SPDX-License-Identifier: BSD-3-Clause */
/* What each thread does at the moment of the reading: its functions, its call of MPI and what that call may wait for. */
#ifndef STF_ANALYSIS_THREADS_H
#define STF_ANALYSIS_THREADS_H

#include "stf/analysis/names.h"
#include "stf/replay/path.h"
#include "stf/replay/replay.h"
#include "stf/analysis/waits.h"

enum { STF_MOST_NEEDS = 6, STF_MOST_BUSY = 8, STF_LAST_CALLS = 8, STF_MOST_STARTED = 16 };

/* What a call waits for: something that is complete at `done` in the thread's own time, and was possible from `ready` on.
 * It belongs to the call that is left at `done`, or soon after. */
struct stf_need {
	uint64_t ready, done;
	uint32_t cause, cause_function;
	enum stf_wait_kind kind;
	struct stf_path_point at; /* of the cause, when it was ready; filled in by stf_thread_needs() */
};

struct stf_open_call {
	uint64_t enter, leave;
	uint32_t function, scl;
	uint32_t before;  /* the function in which most of the time since the last wait was spent; 0: none */
	unsigned flags;   /* STF_CALL_...; 0: no call */
	uint64_t counted; /* time of this call that was counted as a wait */
	uint64_t
		settled; /* time of this call in which it is known who worked, so that it waited; all of one that works on files */
	/* calls before it that looked in vain, with no other event between: when the first began, and the time in them together */
	uint64_t polling_since, polled;
	struct stf_play_times entered, polling; /* when it began, and when those calls began, as the trace is played */
	struct stf_path_node *path; /* held: the path up to its begin, if a sender waited then; NULL: not known */
};

/* A call that has sent, and came back before it was known whether its receiver had come by then. */
struct stf_sender {
	struct stf_open_call call;
	uint32_t willy;
	uint64_t received, bytes;
	struct stf_path_node *path; /* held: up to the end of the call */
	uint64_t until; /* a receiver that enters its call later, by its clock, came when the message had been sent */
};

/* A message that a call has started to send. */
struct stf_started {
	uint32_t to;
	uint64_t received, bytes;
};

struct stf_frame {
	uint32_t function, scl;
};

struct stf_thread {
	struct stf_mpi_thread sum;
	int is_main;                      /* it called MPI_Init */
	struct stf_open_call init, final; /* MPI_Init; MPI_Finalize, which may not have been left */
	struct stf_frame *stack;
	size_t depth, room;
	size_t call_depth; /* depth of the stack in the call; 0: in no call of MPI */
	uint64_t since;    /* time of the last event */
	size_t held; /* events of the stamp that was reached that were not passed: others may let the thread go on first */
	uint64_t left; /* time at which it left MPI last */
	struct {
		uint32_t function;
		uint64_t ticks;
	} busy[STF_MOST_BUSY];
	struct stf_open_call call; /* the one that is open, or was last */
	int polls;                 /* that one looked in vain, and no event came after it */
	/* of this call, in the order of `ready` and of `done` */
	struct stf_need need[STF_MOST_NEEDS];
	unsigned n_needs;
	uint64_t received; /* it sends: when its message was received; UINT64_MAX: unknown */
	uint32_t receiver;
	uint64_t sent_bytes; /* of that message */
	/* the calls before; by their stamps what they waited for may come after they have ended */
	struct stf_open_call last[STF_LAST_CALLS];
	unsigned next_last;
	struct stf_sender *sender;
	size_t n_senders, sender_room;
	unsigned
		awaited; /* threads that are in a call that sends to it, and messages that others have started to send to it */
	struct stf_started started[STF_MOST_STARTED]; /* the last ones, the oldest first */
	unsigned n_started;
	struct stf_past past;
	struct stf_coming coming;
	struct stf_path_node *path, *path_end; /* the second one at the begin of MPI_Finalize; held */
	struct stf_player play;
};

struct stf_threads {
	struct stf_names names;
	struct stf_waits waits;
	struct stf_paths paths;
	struct stf_replay replay;
	uint32_t n_processes;
	const uint32_t *n_threads;
	uint64_t *first;            /* number of each process's first thread */
	struct stf_thread **thread; /* by number; NULL: no event yet */
	uint64_t n;
	uint64_t start, end; /* of what is analysed */
	uint64_t reversed;
	uint32_t *in_mpi; /* by process: its threads that are in MPI */
	uint64_t lock_alls, beside;
	int stopped; /* by who takes the times that are played */
};

/* -1: no memory. The caller calls stf_threads_free() all the same. */
int stf_threads_read(struct stf_threads *t, const struct stf_reader *r);
void stf_threads_free(struct stf_threads *t);
/* NULL: not a thread of the trace, or no memory. The second function only finds one that had an event. */
struct stf_thread *stf_threads_get(struct stf_threads *t, uint32_t willy);
struct stf_thread *stf_threads_find(const struct stf_threads *t, uint32_t willy);
/* The thread of this process that has entered its call of MPI then; else the thread `willy`, which may be NULL. */
struct stf_thread *stf_threads_in_call(const struct stf_threads *t, uint32_t willy, uint64_t enter);

/* Events, in the order of time for each thread. All return 0 or -1: no memory. */
int stf_thread_enter(struct stf_threads *t, uint32_t willy, uint64_t time, uint32_t function, uint32_t scl);
int stf_thread_leave(struct stf_threads *t, uint32_t willy, uint64_t time);
/* The thread needs this in the call that is left at `done`. To be called when all events up to need->ready were passed. */
int stf_thread_needs(struct stf_threads *t, struct stf_thread *h, const struct stf_need *need);
/* The thread sends this in the call that it was in at `time`. */
void stf_thread_sends(struct stf_threads *t, struct stf_thread *h, uint64_t time, const struct stf_started *s);
/* When the thread is at that time of the trace, as it is played. All events up to then were passed. */
struct stf_play_times stf_thread_played(const struct stf_threads *t, const struct stf_thread *h, uint64_t time);
/* The function in which the thread was before the call of MPI in which it is, or was last. */
uint32_t stf_thread_busy(const struct stf_thread *h);
/* The function in which most of the time since its last wait was spent. */
uint32_t stf_thread_does(const struct stf_thread *h);
/* The end of the reading. Returns 0 or -1: no memory. */
int stf_threads_end(struct stf_threads *t, uint64_t time);

#endif
