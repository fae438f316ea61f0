/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of a component's blocks: a damaged place is found while reading, and only its block is lost.
 * Blocks end between records. For each the index states where it ends, the current time there, and its hash. */
#ifndef STF_BLOCKS_H
#define STF_BLOCKS_H

#include "stf/private.h"

#define STX_DECL_BLOCK 256          /* bytes of declarations under one checksum, at least, */
#define STX_ANCHOR_BLOCK (1u << 16) /* and of anchors. Data: from anchor to anchor */

struct stx_block {
	uint64_t end;  /* offset in the component, not compressed */
	uint64_t time; /* current time at `end`; 0 in files that are no data files */
	uint64_t hash;
};

struct stx_blocks {
	struct stx_block *b;
	size_t n, cap;
};

/* -1: no memory. */
int stx_blocks_add(struct stx_blocks *l, uint64_t end, uint64_t time, uint64_t hash);
void stx_blocks_free(struct stx_blocks *l);
/* " LENGTH TIME HASH" for each, hexadecimal. */
void stx_blocks_print(struct stx_buf *out, const struct stx_blocks *l);
/* The text of stx_blocks_print(), n bytes. -1: it is not one; -2: no memory. */
int stx_blocks_parse(struct stx_blocks *l, const char *text, size_t n);
/* The block that holds the byte at `offset`; l->n: none. */
size_t stx_blocks_find(const struct stx_blocks *l, uint64_t offset);
uint64_t stx_block_start(const struct stx_blocks *l, size_t i);
/* The current time where block i begins. */
uint64_t stx_block_time(const struct stx_blocks *l, size_t i);

#endif
