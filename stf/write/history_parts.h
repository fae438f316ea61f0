/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of a history, shared by history.c and history_put.c. */
#ifndef STF_WRITE_HISTORY_PARTS_H
#define STF_WRITE_HISTORY_PARTS_H

#include <stddef.h>
#include <stdint.h>

struct stf_last {
	uint32_t id;
	uint32_t by_thread; /* in the set of all threads: the value's thread is known */
	uint64_t value;
};

/* Sorted by id, as counter_history requires. */
struct stf_lasts {
	struct stf_last *c;
	size_t n, cap, next;
};

/* The last samples of one thread or group. */
struct stf_thread_values {
	uint32_t willy;
	struct stf_lasts set;
};

struct stf_stack {
	uint32_t willy;
	uint32_t n;
	size_t cap;
	uint32_t *function, *scl;
};

/* A hash table of threads and groups, for an array whose elements begin with their number: index + 1; 0: free. n
 * is a power of two. */
struct stf_places {
	uint32_t *slot;
	size_t n;
	int disordered; /* the numbers in the array are not ascending */
};

struct stf_open_record {
	uint64_t offset, prevtime;
	uint64_t end;    /* when it ends; UINT64_MAX: when its counterpart comes */
	uint64_t key[2]; /* what the counterpart must match */
};

struct stf_history_state {
	uint64_t counts[256];
	uint64_t min, max;
	uint64_t latest;            /* largest time of all records so far */
	uint64_t n_late, most_late; /* records earlier than a record before them, and by how much at most */
	struct stf_lasts all;
	struct stf_thread_values *thread;
	size_t n_threads, cap_threads, next_thread;
	struct stf_places thread_at;
	uint64_t told; /* bytes of data, as stored, before the last anchor that had histories */
	struct stf_stack *stack;
	size_t n_stacks, cap_stacks, last_stack;
	struct stf_places stack_at;
	struct stf_open_record *open;
	size_t n_open, cap_open;
};

/* Threads and stacks sorted by number, the order in which they are written. */
void stf_history_sort(struct stf_history_state *h);

#endif
