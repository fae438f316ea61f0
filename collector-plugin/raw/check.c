/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of a raw file. */
#include "config.h"
#include "collector-plugin/raw/format.h"

#include <string.h>

/* Computes four sums in parallel, so that the multiplications overlap. */
uint64_t vt_raw_check(const void *at, size_t n, uint64_t seed)
{
	static const uint64_t k = 0x9e3779b185ebca87u;
	uint64_t s[4] = { seed + k, seed ^ k, seed, seed - k }, w;
	const uint8_t *p = at;
	size_t i;
	int j;

	for (i = 0; i + 32 <= n; i += 32) {
		for (j = 0; j < 4; j++) {
			memcpy(&w, p + i + 8 * (size_t)j, 8);
			s[j] = (s[j] ^ w) * k;
			s[j] ^= s[j] >> 32;
		}
	}
	for (; i + 8 <= n; i += 8) {
		memcpy(&w, p + i, 8);
		s[0] = (s[0] ^ w) * k;
		s[0] ^= s[0] >> 32;
	}
	if (i < n) {
		uint32_t half;

		memcpy(&half, p + i, 4);
		s[0] = (s[0] ^ half) * k;
		s[0] ^= s[0] >> 32;
	}
	for (j = 1; j < 4; j++) {
		s[0] = (s[0] ^ s[j]) * k;
		s[0] ^= s[0] >> 32;
	}
	return s[0] + n;
}

uint64_t vt_raw_block_check(const struct vt_raw_block *b, uint32_t used)
{
	uint64_t v[5] = { (uint64_t)b->kind << 32 | b->stream, b->number, (uint64_t)b->base, b->lost, used };

	return vt_raw_check(b + 1, used, vt_raw_check(v, sizeof(v), 0));
}
