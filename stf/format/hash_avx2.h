/* SPDX-License-Identifier: BSD-3-Clause */
/* XXH3 on processors that have AVX2. */
#ifndef STF_FORMAT_HASH_AVX2_H
#define STF_FORMAT_HASH_AVX2_H

#include <stddef.h>
#include <stdint.h>

uint64_t stf_hash_avx2(const void *p, size_t n);
void stf_hash_add_avx2(void *h, const void *p, size_t n);

#endif
