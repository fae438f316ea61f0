/* SPDX-License-Identifier: BSD-3-Clause */
/* What carries the calibration's messages. All code above it is written once, for every process of the
 * run together: each process makes the same calls in the same order, and a call in which it has no part
 * returns at once. A simulation is one process that has part in everything. */
#ifndef CALIB_LINK_H
#define CALIB_LINK_H

#include <stddef.h>

#include "calib/sample.h"
#include "timers/timer.h"

struct cal_link_ops;

struct cal_link {
	const struct cal_link_ops *ops;
	int rank;                 /* of this process; -1: all of them (simulation) */
	int size;
	struct tmr_timer *timer;  /* of this process; the caller sets it, before the first stamp */
	void *impl;
};

/* A piece of memory from each process; data[i] belongs to the struct. */
struct cal_blobs {
	int n;
	char **data;
	size_t *length;
};

/* The link of this program: over MPI (link_mpi.c) or for one process alone (link_none.c), by what it is
 * linked with. Takes what belongs to MPI out of argv. Returns NULL with the reason. */
struct cal_link *cal_link_start(int *argc, char ***argv, struct tkm_err *err);

/* Call it before cal_link_start() when only the two processes of a pair wait for each other at any time: who
 * waits then keeps its core, where an oversubscribed MPI would hand it to other programs for milliseconds.
 * Does nothing where there is one processing unit only. */
void cal_link_keep_cores(void);

/* The same from now on, or no longer: then who waits does as the launcher has set it. For programs that measure
 * methods with different ways of waiting. Does nothing where MPI has no such switch. */
void cal_link_hold_cores(struct cal_link *l, int hold);

/* Rank and size of this process as the launcher's environment tells them, for messages before
 * cal_link_start(); 0 and 1 when it does not. */
void cal_link_hint(int *rank, int *size);

/* 1 if this process is that rank. */
static inline int cal_link_is(const struct cal_link *l, int rank)
{
	return l->rank == rank || l->rank < 0;
}

/* *word goes from one process to another, who may sleep until it comes: it says whose turn it is. Returns
 * 0 or -1. */
int cal_link_turn(struct cal_link *l, int from, int to, long long *word, struct tkm_err *err);

/* One ping-pong (struct cal_sample); the child has *s filled in, in a simulation the only process.
 * Returns 0, 1 when a message was lost, or -1. */
int cal_link_exchange(struct cal_link *l, int master, int child, struct cal_sample *s, struct tkm_err *err);

/* One 8-byte message; each of the two processes gets its own stamp, next to its call. In a simulation
 * both are filled in. Returns 0, 1 when it was lost, or -1. */
int cal_link_message(struct cal_link *l, int from, int to, ltick_t *sent, ltick_t *received, struct tkm_err *err);

/* size bytes at data, from one process to another; in a simulation they share memory and nothing moves. */
int cal_link_send(struct cal_link *l, int from, int to, void *data, size_t size, struct tkm_err *err);

/* Two processes are about to exchange messages for a while: if they sit on one node, each is pinned to a
 * processing unit of its own. cal_link_pair_end() undoes it. Both may fail to pin; then nothing happens. */
int cal_link_pair_begin(struct cal_link *l, int a, int b, struct tkm_err *err);
void cal_link_pair_end(struct cal_link *l, int a, int b);

/* Waits asleep until all processes are here. */
int cal_link_barrier(struct cal_link *l, struct tkm_err *err);

/* size bytes at data, from rank 0 to all. */
int cal_link_bcast(struct cal_link *l, void *data, size_t size, struct tkm_err *err);

/* The bytes of every process go to rank 0, where *all is to be freed with cal_blobs_free(); elsewhere it
 * is empty. */
int cal_link_gather(struct cal_link *l, const void *data, size_t length, struct cal_blobs *all, struct tkm_err *err);
void cal_blobs_free(struct cal_blobs *b);

/* Seconds on a clock that only goes forward; virtual in a simulation. */
double cal_link_seconds(struct cal_link *l);

/* Lets that much time pass. */
void cal_link_sleep(struct cal_link *l, double seconds);

/* Ends it (MPI_Finalize) and frees l. */
void cal_link_close(struct cal_link *l);

#endif
