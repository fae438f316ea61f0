/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "stf/hash.h"

#include <stdlib.h>

#ifdef HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>

void *stx_hash_new(void)
{
	XXH3_state_t *s = XXH3_createState();

	if (s) {
		XXH3_64bits_reset(s);
	}
	return s;
}

void stx_hash_add(void *h, const void *p, size_t n)
{
	XXH3_64bits_update(h, p, n);
}

uint64_t stx_hash_value(const void *h)
{
	return XXH3_64bits_digest(h);
}

void stx_hash_free(void *h)
{
	XXH3_freeState(h);
}

int stx_hash_there(void)
{
	return 1;
}

#else

void *stx_hash_new(void)
{
	return NULL;
}

void stx_hash_add(void *h, const void *p, size_t n)
{
	(void)h;
	(void)p;
	(void)n;
}

uint64_t stx_hash_value(const void *h)
{
	(void)h;
	return 0;
}

void stx_hash_free(void *h)
{
	(void)h;
}

int stx_hash_there(void)
{
	return 0;
}

#endif
