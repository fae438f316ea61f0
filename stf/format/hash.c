/* SPDX-License-Identifier: BSD-3-Clause */
/* XXH3 checksums, 64 bits; uses AVX2 if the processor has it. */
#include "config.h"
#include "stf/format/hash.h"
#include "stf/format/hash_avx2.h"

#include <stdlib.h>

#if defined(HAVE_XXHASH) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HASH_AVX2 1
#endif

#ifdef HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>

void *stf_hash_new(void)
{
	XXH3_state_t *s = XXH3_createState();

	if (s) {
		XXH3_64bits_reset(s);
	}
	return s;
}

void stf_hash_add(void *h, const void *p, size_t n)
{
#ifdef HASH_AVX2
	if (__builtin_cpu_supports("avx2")) {
		stf_hash_add_avx2(h, p, n);
		return;
	}
#endif
	XXH3_64bits_update(h, p, n);
}

uint64_t stf_hash_value(const void *h)
{
	return XXH3_64bits_digest(h);
}

void stf_hash_reset(void *h)
{
	XXH3_64bits_reset(h);
}

void stf_hash_free(void *h)
{
	XXH3_freeState(h);
}

uint64_t stf_hash_of(const void *p, size_t n)
{
#ifdef HASH_AVX2
	if (__builtin_cpu_supports("avx2")) {
		return stf_hash_avx2(p, n);
	}
#endif
	return XXH3_64bits(p, n);
}

int stf_hash_there(void)
{
	return 1;
}

#else

void *stf_hash_new(void)
{
	return NULL;
}

void stf_hash_add(void *h, const void *p, size_t n)
{
	(void)h;
	(void)p;
	(void)n;
}

uint64_t stf_hash_value(const void *h)
{
	(void)h;
	return 0;
}

void stf_hash_reset(void *h)
{
	(void)h;
}

void stf_hash_free(void *h)
{
	(void)h;
}

uint64_t stf_hash_of(const void *p, size_t n)
{
	(void)p;
	(void)n;
	return 0;
}

int stf_hash_there(void)
{
	return 0;
}

#endif
