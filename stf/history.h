/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader must know when it begins at an anchor. */
#ifndef STF_HISTORY_H
#define STF_HISTORY_H

#include "stf/private.h"

struct stx_history;
struct stx_stream;

struct stx_history *stx_history_new(void);
void stx_history_free(struct stx_history *h);
/* Takes in the records [p, end) that are at `offset` of a data file whose time is *now; advances
 * *now. -1: no memory. */
int stx_history_absorb(
	struct stx_history *h, const uint8_t *p, const uint8_t *end, uint64_t offset, uint64_t *now, int big);
/* Writes an anchor to `anc`, and unless they would take too much room begin_of_history, the histories, end_of_history: the
 * last value of each counter of all threads, and, with still more room, those of each thread. */
int stx_history_anchor(
	struct stx_history *h, struct stx_stream *anc, uint32_t file, uint64_t time_prev, uint64_t offset);
/* Writes what is known just before `from` to `to`: counter_value for each thread, counter_history of the values of
 * which no thread is known, stacks, records under way. */
int stx_history_state(struct stx_history *h, struct stx_stream *to, uint32_t file, uint64_t from);
/* Records of each id so far, and the smallest and largest time (none: min > max). */
const uint64_t *stx_history_counts(const struct stx_history *h);
void stx_history_times(const struct stx_history *h, uint64_t *min, uint64_t *max);

/* All that the index needs. */
struct stx_summary {
	uint64_t counts[256], min, max, n_late, most_late;
};
void stx_history_summary(const struct stx_history *h, struct stx_summary *m);
/* A history that has nothing but this. */
struct stx_history *stx_history_of(const struct stx_summary *m);

/* How many records had an earlier time than one before them, and by how much at most. */
uint64_t stx_history_late(const struct stx_history *h, uint64_t *most);
/* For a reader that begins with the histories of an anchor. -1: no memory. */
int stx_history_counter(struct stx_history *h, uint32_t id, uint64_t value);
int stx_history_thread_counter(struct stx_history *h, uint32_t willy, uint32_t id, uint64_t value);
int stx_history_push(struct stx_history *h, uint32_t willy, uint32_t function, uint32_t scl);
/* A reader absorbs records one by one, maybe encoded anew: says where the one that was absorbed last really
 * stands, if it made the number of open records grow beyond `before`. */
size_t stx_history_n_open(const struct stx_history *h);
void stx_history_place_open(struct stx_history *h, size_t before, uint64_t offset, uint64_t prevtime);

#endif
