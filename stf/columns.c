/* SPDX-License-Identifier: BSD-3-Clause */
/* The k-th bytes of all records are together, so that what is constant costs nothing, and running totals
 * are replaced by their steps. 8 x 8 bytes are transposed in registers. */
#include "config.h"
#include "stf/columns.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define HEAD 8 /* type, n, L, D */
#define FIXED sizeof(struct stx_wire_counter_value)
#define STRIP 16 /* records at a time */

/* Byte j of w[i], its bits 8 j and up, goes to byte i of the j-th of 8 columns, `step` bytes apart. */
static inline void put_columns(uint8_t *dst, size_t step, const uint64_t w[STRIP])
{
#ifdef __SSE2__
	__m128i a[8], b[8];
	unsigned i;

	/* pairs of words, then all that lie 8 apart, 4 apart ... interleaved until the columns are whole */
	for (i = 0; i < 8; i++) {
		a[i] = _mm_loadu_si128((const __m128i *)(const void *)(w + 2 * i));
	}
	for (i = 0; i < 4; i++) {
		b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 4]);
		b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 4]);
	}
	for (i = 0; i < 4; i++) {
		a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 4]);
		a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 4]);
	}
	for (i = 0; i < 4; i++) {
		b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 4]);
		b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 4]);
	}
	for (i = 0; i < 4; i++) {
		a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 4]);
		a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 4]);
	}
	for (i = 0; i < 8; i++) {
		_mm_storeu_si128((__m128i *)(void *)(dst + i * step), a[i]);
	}
#else
	unsigned i, j;

	for (j = 0; j < 8; j++) {
		for (i = 0; i < STRIP; i++) {
			dst[j * step + i] = (uint8_t)(w[i] >> 8 * j);
		}
	}
#endif
}

/* And back. */
static inline void get_columns(uint64_t w[STRIP], const uint8_t *src, size_t step)
{
#ifdef __SSE2__
	__m128i a[8], b[8];
	unsigned i;

	for (i = 0; i < 8; i++) {
		a[i] = _mm_loadu_si128((const __m128i *)(const void *)(src + i * step));
	}
	for (i = 0; i < 4; i++) {
		b[i] = _mm_unpacklo_epi8(a[2 * i], a[2 * i + 1]);
		b[i + 4] = _mm_unpackhi_epi8(a[2 * i], a[2 * i + 1]);
	}
	for (i = 0; i < 8; i += 4) {
		a[i] = _mm_unpacklo_epi16(b[i], b[i + 1]);
		a[i + 1] = _mm_unpackhi_epi16(b[i], b[i + 1]);
		a[i + 2] = _mm_unpacklo_epi16(b[i + 2], b[i + 3]);
		a[i + 3] = _mm_unpackhi_epi16(b[i + 2], b[i + 3]);
	}
	for (i = 0; i < 8; i += 4) {
		b[i] = _mm_unpacklo_epi32(a[i], a[i + 2]);
		b[i + 1] = _mm_unpackhi_epi32(a[i], a[i + 2]);
		b[i + 2] = _mm_unpacklo_epi32(a[i + 1], a[i + 3]);
		b[i + 3] = _mm_unpackhi_epi32(a[i + 1], a[i + 3]);
	}
	for (i = 0; i < 8; i++) {
		_mm_storeu_si128((__m128i *)(void *)(w + 2 * i), b[i]);
	}
#else
	unsigned i, j;

	for (i = 0; i < STRIP; i++) {
		for (w[i] = 0, j = 0; j < 8; j++) {
			w[i] |= (uint64_t)src[j * step + i] << 8 * j;
		}
	}
#endif
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

/* Columns c to c + m - 1 of a record; they lie in the 8 bytes from here on, shifted by *shift bits. */
static size_t word_of(size_t len, size_t c, size_t m, unsigned *shift)
{
	*shift = c + 8 <= len ? 0 : (unsigned)(8 * (c + 8 - len));
	return c + 8 <= len || m == 8 ? c : len - 8;
}

/* At most 8 columns, the records' own bytes. */
static void pack_plain(uint8_t *dst, const uint8_t *p, size_t n, size_t len, size_t c, size_t m)
{
	uint64_t w[STRIP], first, diff = 0, mask = m == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * m) - 1;
	uint8_t strip[8 * STRIP];
	size_t r, i;
	unsigned shift;

	p += word_of(len, c, m, &shift);
	first = tkm_get64(p, 0) >> shift;
	for (r = 1; r < n; r++) {
		diff |= (tkm_get64(p + r * len, 0) >> shift) ^ first;
	}
	if (!(diff & mask)) {
		for (i = 0; i < m; i++) {
			memset(dst + (c + i) * n, (uint8_t)(first >> 8 * i), n);
		}
		return;
	}
	for (r = 0; r + STRIP <= n; r += STRIP) {
		for (i = 0; i < STRIP; i++) {
			w[i] = tkm_get64(p + (r + i) * len, 0) >> shift;
		}
		put_columns(strip, STRIP, w);
		for (i = 0; i < m; i++) {
			memcpy(dst + (c + i) * n + r, strip + i * STRIP, STRIP);
		}
	}
	for (; r < n; r++) {
		for (i = 0; i < m; i++) {
			dst[(c + i) * n + r] = (uint8_t)(tkm_get64(p + r * len, 0) >> (shift + 8 * i));
		}
	}
}

/* The 8 columns of a difference field. */
static void pack_steps(uint8_t *dst, const uint8_t *p, size_t n, size_t len, size_t c, int big)
{
	uint64_t w[STRIP], last = 0, u;
	size_t r, i;

	p += c;
	dst += c * n;
	for (r = 0; r + STRIP <= n; r += STRIP) {
		for (i = 0; i < STRIP; i++) {
			u = tkm_get64(p + (r + i) * len, big);
			w[i] = big ? __builtin_bswap64(u - last) : u - last;
			last = u;
		}
		put_columns(dst + r, n, w);
	}
	for (; r < n; r++) {
		u = tkm_get64(p + r * len, big);
		w[0] = big ? __builtin_bswap64(u - last) : u - last;
		last = u;
		for (i = 0; i < 8; i++) {
			dst[i * n + r] = (uint8_t)(w[0] >> 8 * i);
		}
	}
}

size_t stx_columns_pack(uint8_t *dst, const uint8_t *p, size_t n, int big)
{
	size_t len = all_alike(p, n), k, c, j, end;

	if (!len) {
		dst[0] = 0;
		memcpy(dst + 1, p, n);
		return n + 1;
	}
	k = (len - FIXED) / 12;
	dst[0] = 1;
	tkm_put32(dst + 1, (uint32_t)(n / len), big);
	tkm_put16(dst + 5, (uint16_t)len, big);
	dst[7] = (uint8_t)k;
	for (j = 0; j < k; j++) {
		tkm_put16(dst + HEAD + 3 * j, (uint16_t)(FIXED + 8 * j), big);
		dst[HEAD + 3 * j + 2] = 8;
	}
	dst += HEAD + 3 * k;
	for (c = 0; c < len; c = j) {
		if (c >= FIXED && c < FIXED + 8 * k) {
			j = c + 8;
			pack_steps(dst, p, n / len, len, c, big);
			continue;
		}
		end = c < FIXED ? FIXED : len;
		j = c + 8 < end ? c + 8 : end;
		pack_plain(dst, p, n / len, len, c, j - c);
	}
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

/* Anything that the format allows: bytes to their places, then the sums, field by field. */
static void unpack_any(uint8_t *dst, const uint8_t *field, size_t d, const uint8_t *col, size_t n, size_t len, int big)
{
	size_t c, r, i;
	uint64_t sum;
	uint8_t *p;

	for (c = 0; c < len; c++) {
		for (r = 0; r < n; r++) {
			dst[r * len + c] = col[c * n + r];
		}
	}
	for (i = 0; i < d; i++, field += 3) {
		p = dst + tkm_get16(field, big);
		for (sum = 0, r = 0; r < n; r++, p += len) {
			sum += get(p, field[2], big);
			put(p, sum, field[2], big);
		}
	}
}

/* 8 columns of a difference field; `col` is the first of them. */
static void unpack_steps(uint8_t *p, const uint8_t *col, size_t n, size_t len, int big)
{
	uint64_t w[STRIP], sum = 0;
	size_t r, i;

	for (r = 0; r + STRIP <= n; r += STRIP) {
		get_columns(w, col + r, n);
		for (i = 0; i < STRIP; i++, p += len) {
			sum += big ? __builtin_bswap64(w[i]) : w[i];
			tkm_put64(p, sum, big);
		}
	}
	for (; r < n; r++, p += len) {
		for (w[0] = 0, i = 0; i < 8; i++) {
			w[0] |= (uint64_t)col[i * n + r] << 8 * i;
		}
		sum += big ? __builtin_bswap64(w[0]) : w[0];
		tkm_put64(p, sum, big);
	}
}

/* 8 columns as they are. */
static void unpack_plain(uint8_t *p, const uint8_t *col, size_t n, size_t len)
{
	uint64_t w[STRIP];
	size_t r, i;

	for (r = 0; r + STRIP <= n; r += STRIP) {
		get_columns(w, col + r, n);
		for (i = 0; i < STRIP; i++, p += len) {
			tkm_put64(p, w[i], 0);
		}
	}
	for (; r < n; r++, p += len) {
		for (i = 0; i < 8; i++) {
			p[i] = col[i * n + r];
		}
	}
}

static int is_constant(const uint8_t *col, size_t n)
{
	return memcmp(col, col + 1, n - 1) == 0;
}

/* Columns c to end - 1, no difference field among them: those that change. */
static void unpack_between(uint8_t *dst, const uint8_t *col, size_t n, size_t len, size_t c, size_t end)
{
	size_t r;

	while (c < end) {
		if (is_constant(col + c * n, n)) {
			c++;
		} else if (c + 8 <= end) {
			unpack_plain(dst + c, col + c * n, n, len);
			c += 8;
		} else {
			for (r = 0; r < n; r++) {
				dst[r * len + c] = col[c * n + r];
			}
			c++;
		}
	}
}

/* Difference fields of 8 bytes, one after the other: what Tickmark writes. */
static int is_ours(const uint8_t *field, size_t d, int big)
{
	size_t i, end = 0;

	for (i = 0; i < d; i++, field += 3) {
		if (field[2] != 8 || tkm_get16(field, big) < end) {
			return 0;
		}
		end = (size_t)tkm_get16(field, big) + 8;
	}
	return 1;
}

void stx_columns_unpack(uint8_t *dst, const uint8_t *content, size_t n, int big)
{
	size_t count, len, d, i, c, at;
	const uint8_t *col, *field;

	if (content[0] == 0) {
		memcpy(dst, content + 1, n - 1);
		return;
	}
	count = tkm_get32(content + 1, big);
	len = tkm_get16(content + 5, big);
	d = content[7];
	field = content + HEAD;
	col = field + 3 * d;
	if (count == 0 || len == 0) {
		return;
	}
	if (!is_ours(field, d, big)) {
		unpack_any(dst, field, d, col, count, len, big);
		return;
	}
	/* all records as the first, which is right where a column is constant */
	for (c = 0; c < len; c++) {
		dst[c] = col[c * count];
	}
	for (at = len; at < count * len; at += i) {
		i = count * len - at < at ? count * len - at : at;
		memcpy(dst + at, dst, i);
	}
	for (c = 0, i = 0; i < d; i++, c = at + 8) {
		at = tkm_get16(field + 3 * i, big);
		unpack_between(dst, col, count, len, c, at);
		unpack_steps(dst + at, col + at * count, count, len, big);
	}
	unpack_between(dst, col, count, len, c, len);
}
