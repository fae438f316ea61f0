/* SPDX-License-Identifier: BSD-3-Clause */
/* The history of a data file: the state that a reader must know when it begins at an anchor. */
#ifndef STF_WRITE_HISTORY_H
#define STF_WRITE_HISTORY_H

#include "stf/format/private.h"

struct stf_history_state;
struct stf_stream;

struct stf_history_state *stf_history_new(void);
void stf_history_free(struct stf_history_state *h);
/* Takes in the records [p, end), which begin at `offset` of a data file whose time is *now, and advances *now.
 * -1: no memory. */
int stf_history_absorb(
	struct stf_history_state *h, const uint8_t *p, const uint8_t *end, uint64_t offset, uint64_t *now, int big);
/* What n records of one thread, up to p, have done. */
struct stf_done {
	uint8_t *p;
	size_t n;
	uint64_t first, last; /* times */
	/* states only: so many of the states that were open before have been left, and these functions are open since */
	uint32_t enters, left, n_open;
	const uint32_t *open;
};

/* Takes in states of one thread, or values of which the last record is at `last`, without a walk (stf/write/batch.h). Return 1; 0: a walk is
 * needed, because a record before them is later than they are; -1: no memory. */
int stf_history_states(struct stf_history_state *h, uint32_t willy, const struct stf_done *d);
int stf_history_values(struct stf_history_state *h, const uint8_t *last, const struct stf_done *d);
/* Writes the anchor of the place `offset` of a data file, where the stream is now. Unless they would take too much room,
 * begin_of_history, the histories and end_of_history follow: the last value of each counter of all threads and those of each thread,
 * stacks, records under way. */
int stf_history_anchor(struct stf_stream *s, uint64_t offset);
/* Writes the state just before `from` to `to`: counter_value for each thread, counter_history of values whose
 * thread is unknown, stacks, records under way. */
int stf_history_state(struct stf_history_state *h, struct stf_stream *to, uint32_t file, uint64_t from);
/* The number of records of each id so far, and the smallest and largest time (none: min > max). */
const uint64_t *stf_history_counts(const struct stf_history_state *h);
void stf_history_times(const struct stf_history_state *h, uint64_t *min, uint64_t *max);

/* Returns everything that the index needs. */
struct stf_summary {
	uint64_t counts[256], min, max, n_late, most_late;
};
void stf_history_summary(const struct stf_history_state *h, struct stf_summary *m);
/* Makes a history that starts with only this. */
struct stf_history_state *stf_history_of(const struct stf_summary *m);

/* How many records had an earlier time than a record before them, and the largest such difference. */
uint64_t stf_history_late(const struct stf_history_state *h, uint64_t *most);
/* Prepares for a reader that begins with the histories of an anchor. -1: no memory. */
int stf_history_counter(struct stf_history_state *h, uint32_t id, uint64_t value);
int stf_history_thread_counter(struct stf_history_state *h, uint32_t willy, uint32_t id, uint64_t value);
int stf_history_push(struct stf_history_state *h, uint32_t willy, uint32_t function, uint32_t scl);
/* A reader takes in records one by one, and some of them are encoded anew. If the last record made the number of
 * open records grow beyond `before`, this sets its true offset in the file. */
size_t stf_history_n_open(const struct stf_history_state *h);
/* Takes in sample i of a batch. -1: no memory. */
int stf_history_sample(struct stf_history_state *h, const struct stf_counter_batch *b, size_t i);
/* Removes the records under way that have ended by then. */
void stf_history_drop_ended(struct stf_history_state *h, uint64_t time_prev);

/* history_compare.c. `told` is what an anchor states, one history record after the other. -1: no memory. */
int stf_history_take(struct stf_history_state *told, const struct stf_record *rec);
/* Says in `why` what an anchor states that is not as a walk up to the anchor found it; "": all is right. in_order 0: a record
 * came after a later one, so it is not clear which records are under way. */
void stf_history_compare(
	struct stf_history_state *known, struct stf_history_state *told, int in_order, char *why, size_t size);
/* What stf_history_take() adds. */
int stf_history_own_counter(struct stf_history_state *h, uint32_t willy, uint32_t id, uint64_t value);
int stf_history_open_record(struct stf_history_state *h, uint64_t offset, uint64_t prevtime);
void stf_history_place_open(struct stf_history_state *h, size_t before, uint64_t offset, uint64_t prevtime);

#endif
