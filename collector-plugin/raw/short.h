/* SPDX-License-Identifier: BSD-3-Clause */
/* Short records: states, values and messages in one to three words of 32 bits, without the 8 bytes at the beginning of
 * other records. The record VT_RAW_OWNER before them in their block names their thread. What does not fit into a short
 * record is written as VT_RAW_ENTER, VT_RAW_LEAVE, VT_RAW_COUNTERS or VT_RAW_MESSAGE.
 *
 * The two tables are all there is to know about the bits: the writer, the reader and the merge use them, and
 * doc/raw-format.md has them as text. Words are little-endian on every machine. */
#ifndef COLLECTOR_PLUGIN_RAW_SHORT_H
#define COLLECTOR_PLUGIN_RAW_SHORT_H

#include <stdint.h>

#include "base/bytes.h"

/* Ids of the program's definitions begin here. */
enum { VT_RAW_FIRST_ID = 0x10000 };

/* X(record, first byte, the bits of it that count). No type of another record in a data block has bit 6 or 7 set. */
/* clang-format off */
#define VT_RAW_SHORT_RECORDS(X) \
	X(SEND, 0x40, 0xe0) \
	X(RECEIVE, 0x60, 0xe0) \
	X(LEAVE, 0x80, 0xff) \
	X(VALUES, 0x80, 0xe0) \
	X(ONE_VALUE, 0xa0, 0xe0) \
	X(ENTER, 0xc0, 0xc0)
/* clang-format on */

/* X(word, field, first bit, number of bits). The first word of each record has its name; others:
 *   VALUE: one for each value of VALUES. MORE: another one follows, of the next counter.
 *   RECEIVED: 64 bits after RECEIVE.
 * SEND has 64 bits, and the stamp of the record before it. An ENTER whose FUNCTION bits are 0 is followed by the
 * function's id. FUNCTION and COUNTER are ids less VT_RAW_FIRST_ID; COUNTER is not 0. STEP is signed: what is to be added
 * to the latest value of that counter in the block. */
/* clang-format off */
#define VT_RAW_SHORT_FIELDS(X) \
	X(ENTER, FUNCTION_LOW, 0, 6) \
	X(ENTER, FUNCTION_HIGH, 8, 6) \
	X(ENTER, DT, 14, 18) \
	X(LEAVE, DT, 8, 24) \
	X(ONE_VALUE, COUNTER, 0, 5) \
	X(ONE_VALUE, DT, 8, 14) \
	X(ONE_VALUE, STEP, 22, 10) \
	X(VALUES, COUNTER, 0, 5) \
	X(VALUES, DT, 8, 24) \
	X(VALUE, MORE, 0, 1) \
	X(VALUE, STEP, 1, 31) \
	X(SEND, COMMUNICATOR, 0, 5) \
	X(SEND, PEER, 8, 12) \
	X(SEND, TAG, 20, 12) \
	X(SEND, BYTES, 32, 32) \
	X(RECEIVE, COMMUNICATOR, 0, 5) \
	X(RECEIVE, DT, 8, 24) \
	X(RECEIVED, SINCE, 0, 24) \
	X(RECEIVED, PEER, 24, 12) \
	X(RECEIVED, TAG, 36, 12) \
	X(RECEIVED, BYTES, 48, 16)
/* clang-format on */

enum {
#define VT_RAW_SHORT_RECORD(record, byte, mask) VT_RAW_SHORT_##record = byte, VT_RAW_SHORT_##record##_MASK = mask,
	VT_RAW_SHORT_RECORDS(VT_RAW_SHORT_RECORD)
#undef VT_RAW_SHORT_RECORD
#define VT_RAW_SHORT_FIELD(word, field, bit, bits) \
	VT_RAW_##word##_##field##_BIT = bit, VT_RAW_##word##_##field##_BITS = bits,
		VT_RAW_SHORT_FIELDS(VT_RAW_SHORT_FIELD)
#undef VT_RAW_SHORT_FIELD
			VT_RAW_SHORT_ANY = 0xc0, /* one of these bits is set in the first byte of each of them */
	VT_RAW_SHORT_COUNTERS = 1 << VT_RAW_VALUES_COUNTER_BITS,
};

static inline uint32_t vt_raw_bits(uint64_t word, unsigned bit, unsigned bits)
{
	return (uint32_t)(word >> bit & ((UINT64_C(1) << bits) - 1));
}

/* The field, such as ENTER_DT, of a word; a number as a part of a word; does the number fit? */
#define VT_RAW_GET(word, field) vt_raw_bits(word, VT_RAW_##field##_BIT, VT_RAW_##field##_BITS)
#define VT_RAW_PUT(number, field) ((uint64_t)(number) << VT_RAW_##field##_BIT)
#define VT_RAW_FITS(number, field) ((uint64_t)(number) >> VT_RAW_##field##_BITS == 0)

/* Is this the first word of such a record? */
#define VT_RAW_IS(word, record) ((VT_RAW_SHORT_##record##_MASK & (word)) == VT_RAW_SHORT_##record)

/* Returns an enter's word without its dt. */
static inline uint32_t vt_raw_short_code(uint32_t function)
{
	uint32_t i = function - VT_RAW_FIRST_ID;

	if (i >> (VT_RAW_ENTER_FUNCTION_LOW_BITS + VT_RAW_ENTER_FUNCTION_HIGH_BITS)) {
		return VT_RAW_SHORT_ENTER;
	}
	return VT_RAW_SHORT_ENTER | VT_RAW_GET(i, ENTER_FUNCTION_LOW) |
		i >> VT_RAW_ENTER_FUNCTION_LOW_BITS << VT_RAW_ENTER_FUNCTION_HIGH_BIT;
}

/* Returns the function in an enter's word, less VT_RAW_FIRST_ID; 0: its id follows. */
static inline uint32_t vt_raw_short_function(uint32_t word)
{
	return VT_RAW_GET(word, ENTER_FUNCTION_LOW) |
		VT_RAW_GET(word, ENTER_FUNCTION_HIGH) << VT_RAW_ENTER_FUNCTION_LOW_BITS;
}

/* Returns the signed number of so many bits. */
static inline uint64_t vt_raw_signed(uint32_t v, unsigned bits)
{
	uint64_t sign = (uint64_t)1 << (bits - 1);

	return (v ^ sign) - sign;
}

/* Does v fit into so many bits, with its sign? */
static inline int vt_raw_fits_signed(uint64_t v, unsigned bits)
{
	return v + ((uint64_t)1 << (bits - 1)) < (uint64_t)1 << bits;
}

#define VT_RAW_GET_SIGNED(word, field) vt_raw_signed(VT_RAW_GET(word, field), VT_RAW_##field##_BITS)
#define VT_RAW_FITS_SIGNED(number, field) vt_raw_fits_signed(number, VT_RAW_##field##_BITS)

#endif
