/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a with 64 bits: a short name for a text that cannot be the name itself, because it is too long, for example.
 * Files store the values, so the function must not change. */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define TKM_FNV_START UINT64_C(14695981039346656037)

/* Continues `hash` with n bytes and returns the result. The first call starts from TKM_FNV_START. */
static inline uint64_t tkm_fnv(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n--) {
		hash = (hash ^ *p++) * UINT64_C(1099511628211);
	}
	return hash;
}

#endif
