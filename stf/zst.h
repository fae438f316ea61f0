/* SPDX-License-Identifier: BSD-3-Clause */
/* Zstandard frames and the seek table after them. All that needs libzstd is in zst.c, so that a library which
 * must not link it takes another file with these functions, or none that work. */
#ifndef STF_ZST_H
#define STF_ZST_H

#include "stf/private.h"

struct stx_zst;   /* packs */
struct stx_unzst; /* unpacks */

/* STF_ERR_STATE in a build without libzstd. */
struct stx_zst *stx_zst_new(int level, int big, struct stf_err *err);
void stx_zst_free(struct stx_zst *z);
/* The frame of the n bytes at p of a component; *out lives until the next call. */
int stx_zst_frame(struct stx_zst *z, const uint8_t *p, size_t n, const uint8_t **out, size_t *len, struct stf_err *err);
/* The seek table of all frames. */
int stx_zst_table(struct stx_zst *z, const uint8_t **out, size_t *len, struct stf_err *err);

struct stx_unzst *stx_unzst_new(struct stf_err *err);
void stx_unzst_free(struct stx_unzst *u);
/* Bytes of the frame that begins at p, and of its content; -1 if there is none as a whole. */
int stx_unzst_measure(const uint8_t *p, size_t n, size_t *size, uint64_t *content);
/* -1: damaged, or not exactly `content` bytes. */
int stx_unzst_frame(struct stx_unzst *u, const uint8_t *p, size_t n, uint8_t *dst, size_t content);

#endif
