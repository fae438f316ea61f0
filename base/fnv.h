/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a with 64 bits: a name for something whose text is too long or too open for a name. The values are stored, so they stay. */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define TKM_FNV_START UINT64_C(14695981039346656037)

/* Goes on from `hash`, at first TKM_FNV_START, with n bytes. */
static inline uint64_t tkm_fnv(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n--) {
		hash = (hash ^ *p++) * UINT64_C(1099511628211);
	}
	return hash;
}

#endif
