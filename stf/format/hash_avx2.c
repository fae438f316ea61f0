/* SPDX-License-Identifier: BSD-3-Clause */
/* XXH3 with 256-bit registers. hash.c uses it if the processor has them: stftool --verify of 15 million samples, 330 MB,
 * then takes 0.21 s of processor time instead of 0.25 s. */
#include "config.h"

#if defined(HAVE_XXHASH) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#include <immintrin.h>

#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

#include "stf/format/hash_avx2.h"

uint64_t stf_hash_avx2(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

void stf_hash_add_avx2(void *h, const void *p, size_t n)
{
	XXH3_64bits_update(h, p, n);
}
#else
typedef int stf_no_avx2; /* C does not allow an empty file */
#endif
