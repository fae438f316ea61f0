/* SPDX-License-Identifier: BSD-3-Clause */
/* Replays the records of one data file to know the state at each point: last counter values, stacks, records
 * under way. Compares this state with the one that an anchor states (doc/stf-format.md section 7). */
#ifndef TOOLS_CHECK_REPLAY_H
#define TOOLS_CHECK_REPLAY_H

#include "include/stf.h"

struct stt_replay;

struct stt_replay *stt_replay_new(void); /* NULL: no memory */
void stt_replay_free(struct stt_replay *r);
/* Takes in the next record of the file that is not in a batch. -1: no memory. */
int stt_replay_record(struct stt_replay *r, const struct stf_record *rec);
/* Takes in record i of a batch. Earlier records of the batch with the same thread and counters may be left out.
 * -1: no memory. */
int stt_replay_sample(struct stt_replay *r, const struct stf_counter_batch *b, size_t i);

/* The last value of a counter on a thread. */
struct stt_value {
	uint32_t willy, counter;
	uint64_t value;
};

/* An anchor with its histories, as far as they were read. All zero means empty. */
struct stt_anchor {
	struct stf_anchor a;
	uint64_t offset, number;   /* of the anchor record in its file */
	int tells;                 /* histories follow the anchor */
	struct stt_value *counter; /* values whose willy is unknown */
	size_t n_counters, cap_counters;
	struct stt_value *own;
	size_t n_own, cap_own;
	uint32_t *stack; /* for each thread: willy, depth, functions */
	size_t n_stack, cap_stack;
	uint64_t *open, *prevtime; /* offsets of the records under way, and the times before them */
	size_t n_open, cap_open, cap_prevtimes;
};
/* Adds a history record that follows the anchor. -1: no memory. */
int stt_anchor_add(struct stt_anchor *a, const struct stf_record *rec);
void stt_anchor_clear(struct stt_anchor *a); /* keeps the memory */
void stt_anchor_free(struct stt_anchor *a);

/* Compares the anchor with the state, after the file was replayed up to the anchor. `why` says what is wrong, ""
 * if nothing. -1: no memory. */
int stt_replay_compare(struct stt_replay *r, const struct stt_anchor *a, char *why, size_t size);

#endif
