/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader of one data file knows at each point of it, kept by reading its records, and compared with what an anchor
 * says that he should know: last counter values, stacks, records under way (doc/stf-format.md section 7). */
#ifndef TOOLS_REPLAY_H
#define TOOLS_REPLAY_H

#include "stf/stf.h"

struct stt_replay;

struct stt_replay *stt_replay_new(void); /* NULL: no memory */
void stt_replay_free(struct stt_replay *r);
/* The next record of the file that is not in a batch. -1: no memory. */
int stt_replay_record(struct stt_replay *r, const struct stf_record *rec);
/* Record i of a batch; those before it of the same thread and counters may be left out. -1: no memory. */
int stt_replay_sample(struct stt_replay *r, const struct stf_counter_batch *b, size_t i);

/* The last value of a counter in a thread. */
struct stt_value {
	uint32_t willy, counter;
	uint64_t value;
};

/* An anchor with its histories, as far as they were read. All zero is empty. */
struct stt_anchor {
	struct stf_anchor a;
	uint64_t offset, number;   /* of the anchor record in its file */
	int tells;                 /* histories follow it */
	struct stt_value *counter; /* whose willy it does not say */
	size_t n_counters, cap_counters;
	struct stt_value *own;
	size_t n_own, cap_own;
	uint32_t *stack; /* for each thread: willy, depth, functions */
	size_t n_stack, cap_stack;
	uint64_t *open, *prevtime; /* of records under way: offsets, times before them */
	size_t n_open, cap_open, cap_prevtimes;
};
/* Adds a history record that follows the anchor. -1: no memory. */
int stt_anchor_add(struct stt_anchor *a, const struct stf_record *rec);
void stt_anchor_clear(struct stt_anchor *a); /* keeps the memory */
void stt_anchor_free(struct stt_anchor *a);

/* Says in `why` what the anchor has wrong, "" if nothing. The file has been replayed up to it. -1: no memory. */
int stt_replay_compare(struct stt_replay *r, const struct stt_anchor *a, char *why, size_t size);

#endif
