/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed-endian loads and stores at any alignment. `big` is non-zero for big-endian bytes. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TKM_HOST_BIG 1
#else
#define TKM_HOST_BIG 0
#endif

static inline uint16_t tkm_get16(const void *p, int big)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return big == TKM_HOST_BIG ? v : __builtin_bswap16(v);
}

static inline uint32_t tkm_get32(const void *p, int big)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return big == TKM_HOST_BIG ? v : __builtin_bswap32(v);
}

static inline uint64_t tkm_get64(const void *p, int big)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return big == TKM_HOST_BIG ? v : __builtin_bswap64(v);
}

/* A number of n bytes, at most 8. */
static inline uint64_t tkm_get_number(const void *p, unsigned n, int big)
{
	const uint8_t *b = (const uint8_t *)p;
	uint64_t v = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		v |= (uint64_t)b[i] << 8 * (big ? n - 1 - i : i);
	}
	return v;
}

static inline void tkm_put_number(void *p, uint64_t v, unsigned n, int big)
{
	uint8_t *b = (uint8_t *)p;
	unsigned i;

	for (i = 0; i < n; i++) {
		b[i] = (uint8_t)(v >> 8 * (big ? n - 1 - i : i));
	}
}

static inline void tkm_put16(void *p, uint16_t v, int big)
{
	v = big == TKM_HOST_BIG ? v : __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void tkm_put32(void *p, uint32_t v, int big)
{
	v = big == TKM_HOST_BIG ? v : __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void tkm_put64(void *p, uint64_t v, int big)
{
	v = big == TKM_HOST_BIG ? v : __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

#endif
