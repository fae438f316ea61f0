/* SPDX-License-Identifier: BSD-3-Clause */
/* uthash as this project uses it: "no memory" is a result (the entry's hh.tbl is NULL then), and the hash mixes well,
 * since keys come from files. Only .c files include this. Code that needs no entries of its own uses base/table.h. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t tkm_hash(const void *key, size_t n)
{
	const unsigned char *p = key;
	uint64_t h = n, word;

	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word ^ (h >> 29)) * 0x9e3779b97f4a7c15u;
	}
	for (word = 0; n > 0; n--) {
		word = word << 8 | p[n - 1];
	}
	h = (h ^ word ^ (h >> 32)) * 0xd6e8feb86659fd93u;
	return (uint32_t)(h >> 32);
}

/* Numbers are compared without a call. */
static inline int tkm_keys_differ(const void *a, const void *b, size_t n)
{
	return n == 8 ? memcmp(a, b, 8) != 0 : n == 16 ? memcmp(a, b, 16) != 0 : memcmp(a, b, n) != 0;
}

#define HASH_NONFATAL_OOM 1
#define HASH_KEYCMP(a, b, n) tkm_keys_differ((a), (b), (n))
#define HASH_FUNCTION(key, n, value) (value) = tkm_hash((key), (n))
#include <uthash.h>

#endif
