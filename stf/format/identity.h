/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_identity is the first record of the index and of every component. It says to which trace they belong, and
 * what a reader without the base file must know: byte order and clock. It is not an event and is never delivered. */
#ifndef STF_FORMAT_IDENTITY_H
#define STF_FORMAT_IDENTITY_H

#include "stf/format/private.h"

#define STX_IDENTITY_ID 75
#define STX_IDENTITY_NAME "trace_identity"
#define STX_IDENTITY_SIZE 34           /* includes the id byte */
#define STX_IDENTITY_ORDER 0x01020304u /* shows the byte order */

/* Random, and the same in all files that one writer makes. */
struct stf_trace_identity {
	uint64_t high, low;
	double resolution;
	uint32_t eventbits;
	uint8_t checksums; /* 1: the base file ends with a checksum, and states the checksums of the components */
};

struct stf_identities {
	struct stf_trace_identity *i;
	size_t n;
};

/* Makes a new identity; -1: the system gives no random numbers. */
int stf_identity_new(struct stf_trace_identity *i);
void stf_identity_print(struct stf_buf *out);
void stf_identity_put(uint8_t p[STX_IDENTITY_SIZE], const struct stf_trace_identity *i, int big);
/* Reads an identity from a record's bytes, including its id byte. -1: the bytes are not an identity in this byte
 * order. */
int stf_identity_get(struct stf_trace_identity *i, const uint8_t p[STX_IDENTITY_SIZE], int big);
/* Adds an identity unless the list has it already. -1: no memory. */
int stf_identities_add(struct stf_identities *l, const struct stf_trace_identity *i);
/* Is the identity in this list? */
int stf_identities_have(const struct stf_identities *l, const struct stf_trace_identity *i);
static inline int stf_identity_same(const struct stf_trace_identity *a, const struct stf_trace_identity *b)
{
	return a->high == b->high && a->low == b->low;
}

#endif
