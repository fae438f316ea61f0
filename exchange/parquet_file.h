/* SPDX-License-Identifier: BSD-3-Clause */
/* Apache Parquet files: tables of columns, written row group by row group (parquet.apache.org/docs/file-format). Whole numbers are
 * delta-encoded, texts are numbers of a dictionary, fractions have their bytes split; each page is compressed with Zstandard,
 * whose checksum the reader compares, or plain in a build without it. Knows no trace. */
#ifndef EXCHANGE_PARQUET_FILE_H
#define EXCHANGE_PARQUET_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum pq_kind {
	PQ_INT,    /* INT64 */
	PQ_DOUBLE, /* its bits in an int64_t */
	PQ_TEXT    /* UTF-8; values are indices of the texts given with the column */
};

#define PQ_NULL INT64_MIN /* no value, in optional columns */

struct pq_column {
	const char *name;
	enum pq_kind kind;
	int optional;
};

struct pq_file;

/* Begins a table with these columns, which must outlive it. Returns NULL when memory is short. */
struct pq_file *pq_open(FILE *f, const struct pq_column *column, size_t n);
/* A key of the file and its text. Returns 0 or -1, as all below: memory is short, or ferror() of the file says the rest. */
int pq_say(struct pq_file *p, const char *key, const char *text);
/* A row group of n rows, 1 to 2^20: then a call of pq_put() for each column in order. */
int pq_rows(struct pq_file *p, size_t n);
int pq_put(struct pq_file *p, const int64_t *v, const char *const *texts, size_t n_texts);
/* Writes the footer; not with failed. Frees in any case. */
int pq_close(struct pq_file *p, int failed);

/* ---- encodings, parquet_encode.c ---- */

struct pq_buffer {
	unsigned char *p;
	size_t n, cap;
	int failed; /* memory was short */
};

void pq_bytes(struct pq_buffer *b, const void *p, size_t n);
void pq_byte(struct pq_buffer *b, unsigned v);
void pq_varint(struct pq_buffer *b, uint64_t v);
static inline uint64_t pq_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}
/* DELTA_BINARY_PACKED of n values. */
void pq_delta(struct pq_buffer *b, const int64_t *v, size_t n);
/* RLE and bit-packing hybrid of n values of `width` bits, 0 to 32. */
void pq_runs(struct pq_buffer *b, const uint32_t *v, size_t n, unsigned width);
/* BYTE_STREAM_SPLIT of n values of 8 bytes. */
void pq_split(struct pq_buffer *b, const int64_t *v, size_t n);

#endif
