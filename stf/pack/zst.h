/* SPDX-License-Identifier: BSD-3-Clause */
/* Compresses Zstandard frames and writes the seek table after them. Only zst.c needs libzstd. */
#ifndef STF_PACK_ZST_H
#define STF_PACK_ZST_H

#include "stf/format/private.h"

struct stf_zst;   /* compresses; one serves all components of a writer, because it needs 0.4 MB */
struct stf_unzst; /* decompresses */

/* STF_ERR_STATE in a build without libzstd. */
struct stf_zst *stf_zst_new(int level, int big, struct stf_err *err);
void stf_zst_free(struct stf_zst *z);
/* Compresses n bytes of a component at p into one frame, and adds the frame's compressed size and its content's size,
 * both U4, to the component's `table`; *out is valid until the next call. */
int stf_zst_frame(struct stf_zst *z, struct stf_buf *table, const uint8_t *p, size_t n, const uint8_t **out,
	size_t *len, struct stf_err *err);
/* Makes the seek table of all frames; *out points into `table`. */
int stf_zst_table(struct stf_buf *table, const uint8_t **out, size_t *len, struct stf_err *err);

struct stf_unzst *stf_unzst_new(struct stf_err *err);
void stf_unzst_free(struct stf_unzst *u);
/* The bytes of the frame that begins at p, and of its content; -1 if the frame is not complete. */
int stf_unzst_measure(const uint8_t *p, size_t n, size_t *size, uint64_t *content);
/* Returns -1: the frame is damaged, or its content does not have exactly `content` bytes. */
int stf_unzst_frame(struct stf_unzst *u, const uint8_t *p, size_t n, uint8_t *dst, size_t content);

#endif
