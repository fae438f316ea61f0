/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport of the calibration's messages. All code above it is written once, for every process of the run
 * together: each process makes the same calls in the same order, and a call that does not concern it returns at once. A
 * simulation is one process that acts for all ranks. */
#ifndef CALIB_LINK_H
#define CALIB_LINK_H

#include <stddef.h>

#include "calib/map/sample.h"
#include "timers/timer.h"

struct cal_link_ops;

/* How a process waits: its turn in spinning, then asleep; giving its core to others, then asleep, for short exchanges of all
 * ranks; or asleep at once. */
enum cal_wait { CAL_WAIT_SPIN, CAL_WAIT_YIELD, CAL_WAIT_SLEEP };

struct cal_link {
	const struct cal_link_ops *ops;
	int rank; /* of this process; -1: all of them (simulation) */
	int size;
	int first_near;          /* lowest rank on the node of this process, as far as the link can tell */
	struct tmr_timer *timer; /* of this process; the caller sets it, before the first stamp */
	void *impl;
	/* Every wait has a limit. It ends with TKM_ERR_TIMEOUT and a text that names the rank waited for. */
	double patience_s;      /* the limit for a process that has answered before: 10 */
	double gathering_s;     /* that a process may take to reach the point where all ranks meet: 120 */
	long long messages;     /* sent by this process (simulation: by all) */
	unsigned epoch;         /* cal_link_new_epoch() */
	void (*idle)(void *of); /* called now and then while this process waits asleep for others; NULL: nothing */
	void *idle_of;
	enum cal_wait wait; /* how a process waits for a message */
	int by_mpi;         /* cal_link_ping() is cal_link_message(): to compare methods by the same messages */
};

/* Begins a new epoch: messages of an earlier one, from processes that had been given up, are not taken for answers. All
 * processes call it at the same points, without exchanging messages. */
static inline void cal_link_new_epoch(struct cal_link *l)
{
	l->epoch++;
}

/* A piece of memory from each process; data[i] belongs to the struct. */
struct cal_blobs {
	int n;
	char **data;
	size_t *length;
};

/* The link of this program: over MPI (link_mpi.c) or for one process alone (link_none.c), by what it is
 * linked with. Takes what belongs to MPI out of argv. Returns NULL with the reason. */
struct cal_link *cal_link_start(int *argc, char ***argv, struct tkm_err *err);

/* Sets whether a process that waits in MPI keeps its core. An oversubscribed MPI would otherwise hand it to other
 * programs for milliseconds. 0: it waits as the launcher has set it. For programs that measure methods with different
 * ways of waiting; a pair that exchanges messages by MPI keeps its cores in any case. Does nothing where MPI has no
 * such switch, or there is one processing unit only. */
void cal_link_hold_cores(struct cal_link *l, int hold);

/* Rank and size of this process as the launcher's environment tells them, for messages before
 * cal_link_start(); 0 and 1 when it does not. */
void cal_link_hint(int *rank, int *size);

/* 1 if this process is that rank. */
static inline int cal_link_is(const struct cal_link *l, int rank)
{
	return l->rank == rank || l->rank < 0;
}

/* Sends *word from one process to another, which may sleep until it comes, for at most patience_s. The word tells whose
 * turn it is. Returns 0 or -1. */
int cal_link_turn(struct cal_link *l, int from, int to, long long *word, struct tkm_err *err);

/* The same for the first word of a process that may be late: waits up to limit_s. */
int cal_link_rendezvous(struct cal_link *l, int from, int to, long long *word, double limit_s, struct tkm_err *err);

/* `who` no longer waits for `whom`, and tells it: whatever `whom` waits for from `who` in this epoch ends at once
 * with TKM_ERR_TIMEOUT. Never waits. */
void cal_link_give_up(struct cal_link *l, int who, int whom);

/* One ping-pong (struct cal_sample); the child has *s filled in, in a simulation the only process.
 * Returns 0, 1 when a message was lost, or -1. */
int cal_link_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err);

/* One 8-byte message; each of the two processes gets its own stamp, next to its call. In a simulation
 * both are filled in. Returns 0, 1 when it was lost, or -1. */
int cal_link_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err);

/* The same over the fastest transport between the two: shared cache lines if they are on one node, else MPI. Between
 * cal_link_pair_begin() and cal_link_pair_end(), with an answer to every word (cal_link_turn()) and piece of memory
 * (cal_link_send()) that goes between them meanwhile, before the next in the same direction. */
int cal_link_ping(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err);

/* size bytes at data, from one process to another; in a simulation they share memory and nothing moves. */
int cal_link_send(struct cal_link *l, int from, int to, void *data, size_t size, struct tkm_err *err);

/* Two processes are about to exchange messages for a while. If they are on one node, each is pinned to a processing
 * unit of its own, the unit_a-th and unit_b-th (from 0) of those that it may use. If pinning fails, nothing changes.
 * Where MPI carries their messages, its waits keep their core. Process a never waits here, and may be early.
 * cal_link_pair_end() undoes it all. */
int cal_link_pair_begin(struct cal_link *l, int a, int b, int unit_a, int unit_b, struct tkm_err *err);
void cal_link_pair_end(struct cal_link *l, int a, int b);

/* Waits asleep until all processes are here, up to gathering_s for each. */
int cal_link_barrier(struct cal_link *l, struct tkm_err *err);

/* size bytes at data, from rank 0 to all. */
int cal_link_bcast(struct cal_link *l, void *data, size_t size, struct tkm_err *err);

/* The bytes of every process go to rank 0, where *all is to be freed with cal_blobs_free(); elsewhere it
 * is empty. */
int cal_link_gather(struct cal_link *l, const void *data, size_t length, struct cal_blobs *all, struct tkm_err *err);
void cal_blobs_free(struct cal_blobs *b);

/* A value of `size` bytes of every process goes to rank 0, into all[], which has room for one of each rank; in a simulation
 * there is one. cal_link_share() gives all[] to all processes. TKM_ERR_DATA: a rank has a value of another size. */
int cal_link_collect(struct cal_link *l, const void *mine, size_t size, void *all, struct tkm_err *err);
int cal_link_share(struct cal_link *l, const void *mine, size_t size, void *all, struct tkm_err *err);

/* *value becomes the largest of all processes, on all of them. */
int cal_link_largest(struct cal_link *l, double *value, struct tkm_err *err);

/* Seconds on a clock that only goes forward. In a simulation: the largest virtual time of any process. */
double cal_link_seconds(struct cal_link *l);

/* The same on the clock of one process: this one, or in a simulation any. */
double cal_link_seconds_at(struct cal_link *l, int rank);

/* Lets that much time pass. */
void cal_link_sleep(struct cal_link *l, double seconds);

/* Closes the link (calls MPI_Finalize if cal_link_start() started MPI) and frees l. */
void cal_link_close(struct cal_link *l);

/* Ends all processes with that exit status (MPI_Abort): for programs whose peers do not answer, since
 * cal_link_close() would wait for them. Returns only where there are no others. */
void cal_link_abort(struct cal_link *l, int status);

/* TKM_ERR_TIMEOUT with "rank FROM did not answer rank TO within LIMIT s". */
int cal_link_silent(int from, int to, double limit_s, struct tkm_err *err);

#endif
