/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_identity, the first record of the index and of every component: which trace it belongs to, and what a reader
 * without the base file must know: byte order, clock. It is no event and is never delivered. */
#ifndef STF_IDENTITY_H
#define STF_IDENTITY_H

#include "stf/private.h"

#define STX_IDENTITY_ID 75
#define STX_IDENTITY_NAME "trace_identity"
#define STX_IDENTITY_SIZE 34           /* with the id byte */
#define STX_IDENTITY_ORDER 0x01020304u /* tells the byte order */

/* Random, the same in all files that one writer makes. */
struct stx_identity {
	uint64_t high, low;
	double resolution;
	uint32_t eventbits;
	uint8_t checksums; /* 1: the base file ends with a checksum, and states those of the components */
};

struct stx_identities {
	struct stx_identity *i;
	size_t n;
};

/* A new one; -1: the system gives no random numbers. */
int stx_identity_new(struct stx_identity *i);
void stx_identity_print(struct stx_buf *out);
void stx_identity_put(uint8_t p[STX_IDENTITY_SIZE], const struct stx_identity *i, int big);
/* From a record's bytes, its id byte included. -1: these are none in this byte order. */
int stx_identity_get(struct stx_identity *i, const uint8_t p[STX_IDENTITY_SIZE], int big);
/* -1: no memory. One that is there already is not added again. */
int stx_identities_add(struct stx_identities *l, const struct stx_identity *i);
/* Is it one of these? */
int stx_identities_have(const struct stx_identities *l, const struct stx_identity *i);
static inline int stx_identity_same(const struct stx_identity *a, const struct stx_identity *b)
{
	return a->high == b->high && a->low == b->low;
}

#endif
