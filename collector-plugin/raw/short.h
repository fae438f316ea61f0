/* SPDX-License-Identifier: BSD-3-Clause */
/* Short records: states, values and messages in words of 32 bits, without the 8 bytes at the beginning of other
 * records. The record VT_RAW_OWNER before them in their block names their thread. The first byte distinguishes them:
 * bit 7 is set except in messages; together with bit 7, bit 6 means enter.
 * Enter: 18 bits of dt and 12 bits: the function's id minus VT_RAW_FIRST_ID, or 0 if the next word is the id.
 * Leave: 24 bits of dt, and 6 bits 0.
 * Values: 5 bits: the first counter's id minus VT_RAW_FIRST_ID, which is not 0, and a bit that tells whether one
 * word is all:
 *   1: 14 bits of dt, and 10 bits for the signed difference from the latest value of that counter in this block;
 *   0: 24 bits of dt. A word for each value follows: 31 bits are the difference; if the lowest bit is set, a value
 *   of the next counter id follows.
 * Messages: bit 7 of the first byte is not set, bit 6 is set; bit 5 is set if the message is received, the other
 * bits are the communicator.
 *   A send's 24 bits are peer and tag, 12 bits each; the second word is its bytes, its dt is 0.
 *   A receive's 24 bits are dt; bits 8 to 31 of the second word are peer and tag. The third has 16 bits for its
 *   bytes and, above them, the high 16 of 24 bits for the ticks since it was posted; the low 8 are in the second
 *   word.
 * Records that do not fit are written as VT_RAW_STATE_ENTER, VT_RAW_STATE_LEAVE, VT_RAW_COUNTERS, VT_RAW_SEND,
 * VT_RAW_RECEIVE. */
#ifndef COLLECTOR_PLUGIN_RAW_SHORT_H
#define COLLECTOR_PLUGIN_RAW_SHORT_H

#include <stdint.h>

/* Ids of the program's definitions begin here. */
enum { VT_RAW_FIRST_ID = 0x10000 };

enum { VT_RAW_SHORT = 0x80, VT_RAW_SHORT_ENTER = 0xc0 };
enum { VT_RAW_SHORT_LEAVE_BITS = 24, VT_RAW_SHORT_ENTER_BITS = 18, VT_RAW_SHORT_FUNCTIONS = 1 << 12 };
/* Counters with an id of VT_RAW_FIRST_ID + 1 to 31 may have short records. */
enum {
	VT_RAW_SHORT_COUNTERS = 32,
	VT_RAW_SHORT_ALONE = 32,
	VT_RAW_SHORT_VALUES = 63 /* not 0: values, if it is no enter */
};
enum { VT_RAW_SHORT_STEP_BITS = 31, VT_RAW_SHORT_ALONE_BITS = 14, VT_RAW_SHORT_ALONE_STEP_BITS = 10 };

enum { VT_RAW_SHORT_MESSAGE = 0x40, VT_RAW_SHORT_RECEIVE = 0x60, VT_RAW_SHORT_COMMUNICATORS = 32 };
enum {
	VT_RAW_SHORT_PEER_BITS = 12,
	VT_RAW_SHORT_TAG_BITS = 12,
	VT_RAW_SHORT_BYTES_BITS = 16,
	VT_RAW_SHORT_SINCE_BITS = 24
};

/* Reorders the bits of a word so that the first byte in memory has the lowest ones. */
static inline uint32_t vt_raw_short_word(uint32_t w)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return w << 8 | w >> 24;
#else
	return w;
#endif
}

/* The inverse. */
static inline uint32_t vt_raw_short_stored(uint32_t w)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return w >> 8 | w << 24;
#else
	return w;
#endif
}

/* Returns an enter's word without its dt, which vt_raw_short_enter() adds. */
static inline uint32_t vt_raw_short_code(uint32_t function)
{
	uint32_t i = function - VT_RAW_FIRST_ID;

	return VT_RAW_SHORT_ENTER | (i < VT_RAW_SHORT_FUNCTIONS ? (i & 63) | i >> 6 << 8 : 0);
}

static inline uint32_t vt_raw_short_enter(uint32_t code, uint32_t dt)
{
	return code | dt << (32 - VT_RAW_SHORT_ENTER_BITS);
}

static inline uint32_t vt_raw_short_leave(uint32_t dt)
{
	return VT_RAW_SHORT | dt << (32 - VT_RAW_SHORT_LEAVE_BITS);
}

static inline uint32_t vt_raw_short_values(uint32_t counter, uint32_t dt)
{
	return vt_raw_short_leave(dt) | counter;
}

/* Returns the word of a record with one value; step: the difference, of which the high bits are cut off. */
static inline uint32_t vt_raw_short_value(uint32_t counter, uint32_t dt, uint32_t step)
{
	return VT_RAW_SHORT | VT_RAW_SHORT_ALONE | counter | dt << 8 | step << (32 - VT_RAW_SHORT_ALONE_STEP_BITS);
}

/* Returns the signed number in the lowest bits of v. */
static inline uint64_t vt_raw_short_signed(uint32_t v, unsigned bits)
{
	uint64_t sign = (uint64_t)1 << (bits - 1);

	return (v ^ sign) - sign;
}

/* Does v fit into this number of bits, with its sign? */
static inline int vt_raw_short_fits(uint64_t v, unsigned bits)
{
	return v + ((uint64_t)1 << (bits - 1)) < (uint64_t)1 << bits;
}

/* Returns the function's id in an enter's word, or VT_RAW_FIRST_ID if the id follows. */
static inline uint32_t vt_raw_short_function(uint32_t w)
{
	return VT_RAW_FIRST_ID + ((w & 63) | (w >> 8 & 63) << 6);
}

#endif
