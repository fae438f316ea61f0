/* SPDX-License-Identifier: BSD-3-Clause */
/* XXH3, 64 bits. */
#ifndef STF_FORMAT_HASH_H
#define STF_FORMAT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns NULL: no memory, or a build without xxhash. */
void *stf_hash_new(void);
void stf_hash_add(void *h, const void *p, size_t n);
uint64_t stf_hash_value(const void *h);
/* Starts a new checksum. */
void stf_hash_reset(void *h);
void stf_hash_free(void *h);
/* The checksum of n bytes in one call. */
uint64_t stf_hash_of(const void *p, size_t n);
/* Can this build compute checksums? */
int stf_hash_there(void);

#endif
