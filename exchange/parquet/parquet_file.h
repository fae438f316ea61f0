/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes Apache Parquet files: tables of columns, row group by row group (parquet.apache.org/docs/file-format).
 * Whole numbers are delta-encoded. Texts are stored as numbers of a dictionary. Fractions are stored with their
 * bytes split. Each page is compressed with Zstandard, whose checksum the reader verifies, or is not compressed
 * in a build without it. This file does not depend on traces. */
#ifndef EXCHANGE_PARQUET_PARQUET_FILE_H
#define EXCHANGE_PARQUET_PARQUET_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum xch_parquet_kind {
	PQ_INT,    /* INT64 */
	PQ_DOUBLE, /* stored as its bits in an int64_t */
	PQ_TEXT    /* UTF-8; values are indices of the texts given with the column */
};

#define PQ_NULL INT64_MIN /* a missing value, in optional columns */

struct xch_parquet_column {
	const char *name;
	enum xch_parquet_kind kind;
	int optional;
};

struct xch_parquet_file;

/* Begins a table with these columns. The columns must live longer than the table. Returns NULL when out of memory. */
struct xch_parquet_file *xch_parquet_open(FILE *f, const struct xch_parquet_column *column, size_t n);
/* Adds a key and its text to the file. Like all functions below, returns 0, or -1: out of memory, or a write
 * failed (see ferror() of the file). */
int xch_parquet_say(struct xch_parquet_file *p, const char *key, const char *text);
/* Begins a row group of n rows, 1 to 2^20. The caller then calls xch_parquet_put() for each column in order. */
int xch_parquet_rows(struct xch_parquet_file *p, size_t n);
int xch_parquet_put(struct xch_parquet_file *p, const int64_t *v, const char *const *texts, size_t n_texts);
/* Writes the footer, unless failed is set. Always frees p. */
int xch_parquet_close(struct xch_parquet_file *p, int failed);

#endif
