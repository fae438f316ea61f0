/* SPDX-License-Identifier: BSD-3-Clause */
/* Compresses Zstandard frames and writes the seek table after them. Only zst.c needs libzstd. A library that must
 * not link libzstd uses another file with these functions, or with stubs that fail. */
#ifndef STF_PACK_ZST_H
#define STF_PACK_ZST_H

#include "stf/format/private.h"

struct stx_zst;   /* compresses; one serves all components of a writer, because it needs 0.4 MB */
struct stx_unzst; /* decompresses */

/* STF_ERR_STATE in a build without libzstd. */
struct stx_zst *stx_zst_new(int level, int big, struct stf_err *err);
void stx_zst_free(struct stx_zst *z);
/* Compresses n bytes of a component at p into one frame, and adds the frame's compressed size and its content's size,
 * both U4, to the component's `table`; *out is valid until the next call. */
int stx_zst_frame(struct stx_zst *z, struct stx_buf *table, const uint8_t *p, size_t n, const uint8_t **out,
	size_t *len, struct stf_err *err);
/* Makes the seek table of all frames; *out points into `table`. */
int stx_zst_table(struct stx_buf *table, const uint8_t **out, size_t *len, struct stf_err *err);

struct stx_unzst *stx_unzst_new(struct stf_err *err);
void stx_unzst_free(struct stx_unzst *u);
/* The bytes of the frame that begins at p, and of its content; -1 if the frame is not complete. */
int stx_unzst_measure(const uint8_t *p, size_t n, size_t *size, uint64_t *content);
/* Returns -1: the frame is damaged, or its content does not have exactly `content` bytes. */
int stx_unzst_frame(struct stx_unzst *u, const uint8_t *p, size_t n, uint8_t *dst, size_t content);

#endif
