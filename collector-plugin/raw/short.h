/* SPDX-License-Identifier: BSD-3-Clause */
/* States in one or two words of 32 bits, without the 8 bytes that are in front of other records: enter and leave of the thread that the
 * record VT_RAW_OWNER before them in their block names. The first byte tells them apart: bit 7 is set, which no type has; bit 6 says
 * enter. The rest of a leave's word is 24 bits of dt. That of an enter is 18 bits of dt and 12 bits: the function's id less
 * VT_RAW_FIRST_ID, or 0, where the id follows in a word of its own. What does not fit is written as VT_RAW_STATE_ENTER, VT_RAW_STATE_LEAVE.
 */
#ifndef COLLECTOR_PLUGIN_RAW_SHORT_H
#define COLLECTOR_PLUGIN_RAW_SHORT_H

#include <stdint.h>

/* Ids of the program's definitions begin here. */
enum { VT_RAW_FIRST_ID = 0x10000 };

enum { VT_RAW_SHORT = 0x80, VT_RAW_SHORT_ENTER = 0xc0 };
enum { VT_RAW_SHORT_LEAVE_BITS = 24, VT_RAW_SHORT_ENTER_BITS = 18, VT_RAW_SHORT_FUNCTIONS = 1 << 12 };

/* The word in the order of bits that the first byte in memory has the lowest ones. */
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

/* All of an enter's word but its dt, which is added with vt_raw_short_enter(). */
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

/* Of an enter's word: the function's id, VT_RAW_FIRST_ID if it follows. */
static inline uint32_t vt_raw_short_function(uint32_t w)
{
	return VT_RAW_FIRST_ID + ((w & 63) | (w >> 8 & 63) << 6);
}

#endif
