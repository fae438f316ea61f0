/* SPDX-License-Identifier: BSD-3-Clause */
/* XXH3, 64 bits. */
#ifndef STF_FORMAT_HASH_H
#define STF_FORMAT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns NULL: no memory, or a build without xxhash. */
void *stx_hash_new(void);
void stx_hash_add(void *h, const void *p, size_t n);
uint64_t stx_hash_value(const void *h);
/* Starts a new checksum. */
void stx_hash_reset(void *h);
void stx_hash_free(void *h);
/* The checksum of n bytes in one call. */
uint64_t stx_hash_of(const void *p, size_t n);
/* Does the same on processors that have AVX2; twice as fast. */
uint64_t stx_hash_avx2(const void *p, size_t n);
void stx_hash_add_avx2(void *h, const void *p, size_t n);
/* Can this build compute checksums? */
int stx_hash_there(void);

#endif
