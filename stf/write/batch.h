/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes many records of one thread at once, for the merge: straight into the buffer of their stream. What all of them have in common is
 * looked up only once, and the history of the anchors learns only what is left of them at their end. */
#ifndef STF_WRITE_BATCH_H
#define STF_WRITE_BATCH_H

#include "base/bytes.h"
#include "stf/write/history.h"

/* bytes of a state, and of a record of values without the 12 bytes of each value */
enum { STX_LEAVE = 9, STX_ENTER = 13, STX_VALUES = 10 };

struct stf_batch {
	uint8_t *p; /* place of the next record; the first `room` bytes may be used */
	size_t room;
	uint64_t now; /* time of the record before it. The next one is at most UINT32_MAX later, and not earlier */
	struct stf_stream *to;
	uint32_t willy;
};

/* Prepares for records of that thread. The room may be too small for even one record. Then, and for a record that is not like the others,
 * the functions stf_write_NAME() must be used. */
struct stf_batch stf_batch_states(struct stf_writer *w, uint32_t willy);
struct stf_batch stf_batch_values(struct stf_writer *w, uint32_t willy);

/* Puts a state at p; d: ticks since the record before it. Returns the place of the next one. Whether a state is an enter cannot be
 * predicted, so there is no branch for it: the bytes that an enter has in addition are always stored, and after a leave the next record
 * overwrites them. So the room must be that of an enter. */
static inline uint8_t *stf_put_state(uint8_t *p, uint32_t d, uint32_t willy, uint32_t function, uint32_t enter)
{
	*p = (uint8_t)(STF_ID_leave_function ^ ((STF_ID_leave_function ^ STF_ID_enter_function) & -enter));
	tkm_put64(p + 1, d | (uint64_t)willy << 32, 0);
	tkm_put32(p + STX_LEAVE, function, 0);
	return p + STX_LEAVE + (STX_ENTER - STX_LEAVE) * enter;
}

/* Puts a record of k values at p, without the values: those are stored by the caller at p + STX_VALUES. Returns the place of the next
 * one. */
static inline uint8_t *stf_put_values(uint8_t *p, uint32_t d, uint32_t willy, uint32_t k, const uint32_t *counters)
{
	uint32_t i;

	*p = STF_ID_counter_value;
	tkm_put64(p + 1, d | (uint64_t)willy << 32, 0);
	p[STX_VALUES - 1] = (uint8_t)k;
	p += STX_VALUES + 8 * (size_t)k;
	for (i = 0; i < k; i++, p += 4) {
		tkm_put32(p, counters[i], 0);
	}
	return p;
}

/* Makes the records part of the stream. Return 0, or -1 with the writer's error. */
int stf_batch_end_states(const struct stf_batch *b, const struct stf_done *d);
int stf_batch_end_values(const struct stf_batch *b, const struct stf_done *d);

#endif
