/* SPDX-License-Identifier: BSD-3-Clause */
/* How Parquet encodes the values of a column (parquet.apache.org/docs/file-format/data-pages/encodings). */
#ifndef EXCHANGE_PARQUET_PARQUET_ENCODE_H
#define EXCHANGE_PARQUET_PARQUET_ENCODE_H

#include <stddef.h>
#include <stdint.h>

struct xch_parquet_buffer {
	unsigned char *p;
	size_t n, cap;
	int failed; /* out of memory */
};

void xch_parquet_bytes(struct xch_parquet_buffer *b, const void *p, size_t n);
void xch_parquet_byte(struct xch_parquet_buffer *b, unsigned v);
void xch_parquet_varint(struct xch_parquet_buffer *b, uint64_t v);
static inline uint64_t xch_parquet_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}
/* Encodes n values as DELTA_BINARY_PACKED. */
void xch_parquet_delta(struct xch_parquet_buffer *b, const int64_t *v, size_t n);
/* Encodes n values of `width` bits, 0 to 32, with the hybrid of RLE and bit-packing. */
void xch_parquet_runs(struct xch_parquet_buffer *b, const uint32_t *v, size_t n, unsigned width);
/* Encodes n values of 8 bytes as BYTE_STREAM_SPLIT. */
void xch_parquet_split(struct xch_parquet_buffer *b, const int64_t *v, size_t n);

#endif
