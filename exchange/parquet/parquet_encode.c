/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/parquet/parquet_encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"

enum {
	BLOCK = 128, /* values in a block of deltas */
	MINI = 32,   /* values in each of its 4 miniblocks */
	GROUP = 8    /* values that are bit-packed together in runs */
};

static int reserve(struct xch_parquet_buffer *b, size_t n)
{
	if (b->failed) {
		return -1;
	}
	b->failed = TKM_GROW(b->p, b->cap, b->n + n) < 0;
	return b->failed ? -1 : 0;
}

void xch_parquet_bytes(struct xch_parquet_buffer *b, const void *p, size_t n)
{
	if (n && reserve(b, n) == 0) {
		memcpy(b->p + b->n, p, n);
		b->n += n;
	}
}

void xch_parquet_byte(struct xch_parquet_buffer *b, unsigned v)
{
	unsigned char c = (unsigned char)v;

	xch_parquet_bytes(b, &c, 1);
}

void xch_parquet_varint(struct xch_parquet_buffer *b, uint64_t v)
{
	unsigned char c[10];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7) {
		c[n++] = (unsigned char)(v | 0x80);
	}
	c[n++] = (unsigned char)v;
	xch_parquet_bytes(b, c, n);
}

/* Packs n values of `width` bits, lowest bits first. The buffer must have n x width / 8 + 16 bytes. Returns the
 * end. */
static unsigned char *pack(unsigned char *out, const uint64_t *v, size_t n, unsigned width)
{
	unsigned __int128 bits = 0;
	unsigned held = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		bits |= (unsigned __int128)v[i] << held;
		held += width;
		if (held >= 64) {
			tkm_put64(out, (uint64_t)bits, 0);
			out += 8;
			bits >>= 64;
			held -= 64;
		}
	}
	for (; held > 0; held -= held < 8 ? held : 8) {
		*out++ = (unsigned char)bits;
		bits >>= 8;
	}
	return out;
}

static unsigned width_of(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static void delta_block(struct xch_parquet_buffer *b, const int64_t *v, size_t n)
{
	uint64_t d[BLOCK] = { 0 }, all;
	unsigned char *width, *out;
	int64_t least = INT64_MAX, x;
	size_t i, m, k;

	for (i = 0; i < n; i++) {
		x = (int64_t)((uint64_t)v[i] - (uint64_t)v[i - 1]);
		d[i] = (uint64_t)x;
		least = x < least ? x : least;
	}
	for (i = 0; i < n; i++) {
		d[i] -= (uint64_t)least;
	}
	xch_parquet_varint(b, xch_parquet_zigzag(least));
	if (reserve(b, BLOCK / MINI + sizeof(d) + 16) < 0) {
		return;
	}
	width = b->p + b->n;
	out = width + BLOCK / MINI;
	for (m = 0; m < BLOCK / MINI; m++) {
		for (all = 0, k = m * MINI; k < (m + 1) * MINI; k++) {
			all |= d[k];
		}
		width[m] = (unsigned char)width_of(all);
		if (m * MINI < n) { /* a miniblock without values has no bytes */
			out = pack(out, d + m * MINI, MINI, width[m]);
		}
	}
	b->n = (size_t)(out - b->p);
}

void xch_parquet_delta(struct xch_parquet_buffer *b, const int64_t *v, size_t n)
{
	size_t i;

	xch_parquet_varint(b, BLOCK);
	xch_parquet_varint(b, BLOCK / MINI);
	xch_parquet_varint(b, n);
	xch_parquet_varint(b, xch_parquet_zigzag(n ? v[0] : 0));
	for (i = 1; i < n; i += BLOCK) {
		delta_block(b, v + i, n - i < BLOCK ? n - i : BLOCK);
	}
}

/* Packs groups of 8 values; the last group is filled up with zeros. */
static void packed_run(struct xch_parquet_buffer *b, const uint32_t *v, size_t n, unsigned width)
{
	size_t groups = (n + GROUP - 1) / GROUP, i, k;
	uint64_t group[GROUP];

	if (n == 0) {
		return;
	}
	xch_parquet_varint(b, groups << 1 | 1);
	if (reserve(b, groups * width + 16) < 0) {
		return;
	}
	for (i = 0; i < groups; i++) {
		for (k = 0; k < GROUP; k++) {
			group[k] = i * GROUP + k < n ? v[i * GROUP + k] : 0;
		}
		b->n = (size_t)(pack(b->p + b->n, group, GROUP, width) - b->p);
	}
}

void xch_parquet_runs(struct xch_parquet_buffer *b, const uint32_t *v, size_t n, unsigned width)
{
	size_t from = 0, i = 0, run;
	unsigned char one[4];

	while (i < n) {
		for (run = 1; i + run < n && v[i + run] == v[i]; run++) {
		}
		/* a packed run consists of whole groups, so it may take some values of the run after it */
		if ((i - from) % GROUP && run > GROUP - (i - from) % GROUP) {
			run -= GROUP - (i - from) % GROUP;
			i += GROUP - (i - from) % GROUP;
		}
		if (run >= 2 * GROUP && (i - from) % GROUP == 0) {
			packed_run(b, v + from, i - from, width);
			xch_parquet_varint(b, run << 1);
			tkm_put32(one, v[i], 0);
			xch_parquet_bytes(b, one, (width + 7) / 8);
			from = i + run;
		}
		i += run;
	}
	packed_run(b, v + from, n - from, width);
}

void xch_parquet_split(struct xch_parquet_buffer *b, const int64_t *v, size_t n)
{
	unsigned char *out;
	size_t i;
	unsigned k;

	if (reserve(b, 8 * n) < 0) {
		return;
	}
	out = b->p + b->n;
	for (k = 0; k < 8; k++, out += n) {
		for (i = 0; i < n; i++) {
			out[i] = (unsigned char)((uint64_t)v[i] >> 8 * k);
		}
	}
	b->n += 8 * n;
}
