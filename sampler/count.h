/* SPDX-License-Identifier: BSD-3-Clause */
/* The running total of one count of one device, made of what the kernel shows of it. Every source feeds its readings
 * here; the total never falls, and never grows by what was not counted:
 *
 * - A count that falls, or jumps beyond what its class can do, is in doubt. The total waits. The readings that follow
 *   decide: back on the line of before, what contradicted it was a bad reading; two more that go on from the new value,
 *   the count began anew there, and what it grew by since is added.
 * - A count that turns at a known width, or at 64 bits, goes on. One of 32 bits is recognised by how near its end it was.
 *
 * A sum of several counts is a sum of such totals, never the total of a sum. */
#ifndef SAMPLER_COUNT_H
#define SAMPLER_COUNT_H

#include <stdint.h>

/* What a class of counts can do. */
struct smp_physics {
	uint64_t fastest; /* the largest plausible growth per second; 0: of any count */
	uint64_t late; /* what may be added late beyond that; 0: that of 2 s, as drivers ask their cards that seldom */
	uint64_t turn; /* it begins again at 0 after this; 0: at its end of 64 bits, perhaps 32 */
	uint64_t back; /* so much is taken back at times; then the total waits, and that is no fault */
};

struct smp_count {
	uint64_t sum; /* the total */
	uint64_t raw; /* the last reading that was believed */
	int64_t at_ms;
	uint64_t most; /* the largest growth between two readings so far */
	/* readings that contradict it: the first and the last of them */
	uint64_t doubt, doubt_first;
	int64_t doubt_ms;
	/* the count before it began anew, in case it did not */
	uint64_t former, former_sum;
	int64_t former_ms;
	uint8_t begun, doubts, moved, has_former;
};

/* The first reading. counted: the part of it that belongs to the total: all that the kernel shows when recording begins or
 * of a device that is known to be new, 0 of one that came from elsewhere. */
static inline void smp_count_begin(struct smp_count *c, uint64_t raw, uint64_t counted, int64_t now_ms)
{
	*c = (struct smp_count){ .sum = c->sum + counted, .raw = raw, .at_ms = now_ms, .begun = 1 };
}

/* A further reading, at a time of a clock that never steps. Returns enum smp_state. */
uint8_t smp_count_add(struct smp_count *c, const struct smp_physics *p, uint64_t raw, int64_t now_ms);

#endif
