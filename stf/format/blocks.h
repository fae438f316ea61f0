/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of a component's blocks. They detect damage while reading, and only the damaged block is lost. Blocks
 * end between records. For each block the index states its end, the current time there, and its hash. */
#ifndef STF_FORMAT_BLOCKS_H
#define STF_FORMAT_BLOCKS_H

#include "stf/format/private.h"

#define STX_DECL_BLOCK 256 /* smallest size of a block of declarations */
/* smallest size of a block of anchors. A data block reaches from anchor to anchor */
#define STX_ANCHOR_BLOCK (1u << 16)

struct stf_block {
	uint64_t end;  /* offset of the block's end in the uncompressed component */
	uint64_t time; /* current time at `end`; 0 in files that are not data files */
	uint64_t hash;
};

struct stf_blocks {
	struct stf_block *b;
	size_t n, cap;
};

/* Returns -1: no memory. */
int stf_blocks_add(struct stf_blocks *l, uint64_t end, uint64_t time, uint64_t hash);
void stf_blocks_free(struct stf_blocks *l);
/* Appends " LENGTH TIME HASH" for each block, in hexadecimal digits. */
void stf_blocks_print(struct stf_buf *out, const struct stf_blocks *l);
/* Parses the text of stf_blocks_print(), which has n bytes. Returns -1: not such a text; -2: no memory. */
int stf_blocks_parse(struct stf_blocks *l, const char *text, size_t n);
/* The index of the block that holds the byte at `offset`; l->n: none. */
size_t stf_blocks_find(const struct stf_blocks *l, uint64_t offset);
uint64_t stf_block_start(const struct stf_blocks *l, size_t i);
/* The current time at the start of block i. */
uint64_t stf_block_time(const struct stf_blocks *l, size_t i);

#endif
