/* SPDX-License-Identifier: BSD-3-Clause */
/* The k-th bytes of all records stand together, so that what is constant costs nothing, and running totals
 * are replaced by their steps. 8 x 8 bytes are transposed in registers. */
#include "config.h"
#include "stf/columns.h"

#include <stdlib.h>

#define HEAD 8 /* type, n, L, D */
#define FIXED sizeof(struct stx_wire_counter_value)

static inline void swap_parts(uint64_t *a, uint64_t *b, unsigned bits, uint64_t mask)
{
	uint64_t t = ((*a >> bits) ^ *b) & mask;

	*b ^= t;
	*a ^= t << bits;
}

/* v[i] holds byte j at bit 8 j; afterwards v[j] holds byte i there. */
static inline void transpose(uint64_t v[8])
{
	unsigned i;

	for (i = 0; i < 4; i++) {
		swap_parts(&v[i], &v[i + 4], 32, 0x00000000ffffffffu);
	}
	for (i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
		swap_parts(&v[i], &v[i + 2], 16, 0x0000ffff0000ffffu);
	}
	for (i = 0; i < 8; i += 2) {
		swap_parts(&v[i], &v[i + 1], 8, 0x00ff00ff00ff00ffu);
	}
}

/* dst[c * n + r] = src[r * len + c], or back */
static void by_columns(uint8_t *dst, const uint8_t *src, size_t n, size_t len)
{
	size_t r, c, i, whole = n / 8 * 8;
	uint64_t v[8];

	for (c = 0; c + 8 <= len; c += 8) {
		for (r = 0; r < whole; r += 8) {
			for (i = 0; i < 8; i++) {
				v[i] = tkm_get64(src + (r + i) * len + c, 0);
			}
			transpose(v);
			for (i = 0; i < 8; i++) {
				tkm_put64(dst + (c + i) * n + r, v[i], 0);
			}
		}
		for (; r < n; r++) {
			for (i = 0; i < 8; i++) {
				dst[(c + i) * n + r] = src[r * len + c + i];
			}
		}
	}
	for (; c < len; c++) {
		for (r = 0; r < n; r++) {
			dst[c * n + r] = src[r * len + c];
		}
	}
}

static void by_records(uint8_t *dst, const uint8_t *src, size_t n, size_t len)
{
	size_t r, c, i, whole = n / 8 * 8;
	uint64_t v[8];

	for (c = 0; c + 8 <= len; c += 8) {
		for (r = 0; r < whole; r += 8) {
			for (i = 0; i < 8; i++) {
				v[i] = tkm_get64(src + (c + i) * n + r, 0);
			}
			transpose(v);
			for (i = 0; i < 8; i++) {
				tkm_put64(dst + (r + i) * len + c, v[i], 0);
			}
		}
		for (; r < n; r++) {
			for (i = 0; i < 8; i++) {
				dst[r * len + c + i] = src[(c + i) * n + r];
			}
		}
	}
	for (; c < len; c++) {
		for (r = 0; r < n; r++) {
			dst[r * len + c] = src[c * n + r];
		}
	}
}

size_t stx_columns_bound(size_t n)
{
	return n + HEAD + 3 * UINT8_MAX;
}

/* Length of a record if p holds nothing but samples of equally many counters, else 0. */
static size_t all_alike(const uint8_t *p, size_t n)
{
	const size_t at = offsetof(struct stx_wire_counter_value, size_1_2);
	size_t len, i;

	if (n < FIXED || p[0] != STF_ID_counter_value || p[at] == 0) {
		return 0;
	}
	len = FIXED + 12 * (size_t)p[at];
	if (n % len || n / len < 2) {
		return 0;
	}
	for (i = 0; i < n; i += len) {
		if (p[i] != STF_ID_counter_value || p[i + at] != p[at]) {
			return 0;
		}
	}
	return len;
}

size_t stx_columns_pack(uint8_t *dst, const uint8_t *p, size_t n, uint8_t *tmp, int big)
{
	size_t len = all_alike(p, n), k, i, j;
	uint8_t *field;

	if (!len) {
		dst[0] = 0;
		memcpy(dst + 1, p, n);
		return n + 1;
	}
	k = (len - FIXED) / 12;
	memcpy(tmp, p, n);
	for (i = n - len; i > 0; i -= len) {
		for (j = 0; j < k; j++) {
			field = tmp + i + FIXED + 8 * j;
			tkm_put64(field, tkm_get64(field, big) - tkm_get64(field - len, big), big);
		}
	}
	dst[0] = 1;
	tkm_put32(dst + 1, (uint32_t)(n / len), big);
	tkm_put16(dst + 5, (uint16_t)len, big);
	dst[7] = (uint8_t)k;
	for (j = 0; j < k; j++) {
		tkm_put16(dst + HEAD + 3 * j, (uint16_t)(FIXED + 8 * j), big);
		dst[HEAD + 3 * j + 2] = 8;
	}
	by_columns(dst + HEAD + 3 * k, tmp, n / len, len);
	return HEAD + 3 * k + n;
}

int64_t stx_columns_size(const uint8_t *content, size_t n, int big)
{
	size_t len, d, i, at, width;
	uint64_t size;

	if (n < 1 || content[0] > 1) {
		return -1;
	}
	if (content[0] == 0) {
		return (int64_t)n - 1;
	}
	if (n < HEAD) {
		return -1;
	}
	len = tkm_get16(content + 5, big);
	d = content[7];
	size = (uint64_t)tkm_get32(content + 1, big) * len;
	if (n - HEAD < 3 * d || n - HEAD - 3 * d != size) {
		return -1;
	}
	for (i = 0; i < d; i++) {
		at = tkm_get16(content + HEAD + 3 * i, big);
		width = content[HEAD + 3 * i + 2];
		if ((width != 1 && width != 2 && width != 4 && width != 8) || at + width > len) {
			return -1;
		}
	}
	return (int64_t)size;
}

static uint64_t get(const uint8_t *p, unsigned width, int big)
{
	return width == 8 ? tkm_get64(p, big) : width == 4 ? tkm_get32(p, big) : width == 2 ? tkm_get16(p, big) : *p;
}

static void put(uint8_t *p, uint64_t u, unsigned width, int big)
{
	if (width == 8) {
		tkm_put64(p, u, big);
	} else if (width == 4) {
		tkm_put32(p, (uint32_t)u, big);
	} else if (width == 2) {
		tkm_put16(p, (uint16_t)u, big);
	} else {
		*p = (uint8_t)u;
	}
}

void stx_columns_unpack(uint8_t *dst, const uint8_t *content, size_t n, int big)
{
	size_t count, len, d, i, r;
	const uint8_t *field;
	uint64_t sum;
	uint8_t *p;

	if (content[0] == 0) {
		memcpy(dst, content + 1, n - 1);
		return;
	}
	count = tkm_get32(content + 1, big);
	len = tkm_get16(content + 5, big);
	d = content[7];
	by_records(dst, content + HEAD + 3 * d, count, len);
	for (i = 0; i < d; i++) {
		field = content + HEAD + 3 * i;
		p = dst + tkm_get16(field, big);
		/* the usual one in a loop of its own */
		if (field[2] == 8 && big == TKM_HOST_BIG) {
			for (sum = 0, r = 0; r < count; r++, p += len) {
				sum += tkm_get64(p, TKM_HOST_BIG);
				tkm_put64(p, sum, TKM_HOST_BIG);
			}
			continue;
		}
		for (sum = 0, r = 0; r < count; r++, p += len) {
			sum += get(p, field[2], big);
			put(p, sum, field[2], big);
		}
	}
}
