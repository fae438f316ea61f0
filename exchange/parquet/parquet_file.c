/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes pages, row groups and the footer. The footer uses Thrift's compact protocol. */
#include "config.h"
#include "exchange/parquet/parquet_file.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/bytes.h"
#include "base/grow.h"
#include "exchange/parquet/parquet_encode.h"

/* ---- Thrift's compact protocol ---- */

enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };

/* A struct that is being written: the number of its last field. */
struct fields {
	struct xch_parquet_buffer *b;
	int last;
};

static void field(struct fields *s, int id, unsigned type)
{
	xch_parquet_byte(
		s->b, (unsigned)(id - s->last) << 4 | type); /* our field numbers never differ by more than 15 */
	s->last = id;
}

static void number(struct fields *s, int id, unsigned type, int64_t v)
{
	field(s, id, type);
	xch_parquet_varint(s->b, xch_parquet_zigzag(v));
}

static void binary(struct xch_parquet_buffer *b, const void *p, size_t n)
{
	xch_parquet_varint(b, n);
	xch_parquet_bytes(b, p, n);
}

static void text_field(struct fields *s, int id, const char *text)
{
	field(s, id, T_BINARY);
	binary(s->b, text, strlen(text));
}

static void list_field(struct fields *s, int id, unsigned type, size_t n)
{
	field(s, id, T_LIST);
	if (n < 15) {
		xch_parquet_byte(s->b, (unsigned)n << 4 | type);
	} else {
		xch_parquet_byte(s->b, 0xf0 | type);
		xch_parquet_varint(s->b, n);
	}
}

static struct fields begin_struct(struct fields *s, int id)
{
	field(s, id, T_STRUCT);
	return (struct fields){ s->b, 0 };
}

static void end_struct(struct fields *s)
{
	xch_parquet_byte(s->b, 0);
}

/* ---- the file ---- */

/* constants of parquet.thrift */
enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8, BYTE_STREAM_SPLIT = 9 };
enum { CODEC_NONE = 0, CODEC_ZSTD = 6, DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

struct xch_parquet_file {
	FILE *f;
	const struct xch_parquet_column *column;
	size_t n_columns;
	int64_t offset, rows, group_bytes, group_packed;
	size_t n_groups, n_keys, n, at;         /* n: rows of the current group; at: its next column */
	struct xch_parquet_buffer groups, keys; /* parts of the footer, already encoded */
	struct xch_parquet_buffer page, packed, header;
	int64_t *present; /* the values that are not missing */
	uint32_t *level, *index;
	size_t cap; /* capacity of the three */
#ifdef HAVE_ZSTD
	ZSTD_CCtx *zstd;
#endif
};

/* What the footer says about a column's part of a row group. */
struct chunk {
	int64_t dictionary, data; /* offsets; dictionary 0: there is none */
	int64_t bytes, packed;    /* of both pages, including their headers */
	size_t nulls;
	int64_t least, most; /* limits of whole numbers; least > most: unknown */
};

static const int type_of[] = { TYPE_INT64, TYPE_DOUBLE, TYPE_BYTE_ARRAY };
static const int encoding_of[] = { DELTA_BINARY_PACKED, BYTE_STREAM_SPLIT, RLE_DICTIONARY };

static int put(struct xch_parquet_file *p, const void *v, size_t n)
{
	p->offset += (int64_t)n;
	return fwrite(v, 1, n, p->f) == n ? 0 : -1;
}

struct xch_parquet_file *xch_parquet_open(FILE *f, const struct xch_parquet_column *column, size_t n)
{
	struct xch_parquet_file *p = calloc(1, sizeof(*p));

	if (!p) {
		return NULL;
	}
	p->f = f;
	p->column = column;
	p->n_columns = n;
#ifdef HAVE_ZSTD
	p->zstd = ZSTD_createCCtx();
	if (!p->zstd) {
		free(p);
		return NULL;
	}
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
#endif
	put(p, "PAR1", 4); /* ferror() at the end detects a failure */
	return p;
}

int xch_parquet_say(struct xch_parquet_file *p, const char *key, const char *text)
{
	struct fields s = { &p->keys, 0 };

	text_field(&s, 1, key);
	text_field(&s, 2, text);
	end_struct(&s);
	p->n_keys++;
	return p->keys.failed ? -1 : 0;
}

/* ---- pages ---- */

#ifdef HAVE_ZSTD
static int compress(struct xch_parquet_file *p)
{
	size_t room = ZSTD_compressBound(p->page.n), n;

	if (TKM_GROW(p->packed.p, p->packed.cap, room) < 0) {
		return -1;
	}
	n = ZSTD_compress2(p->zstd, p->packed.p, p->packed.cap, p->page.p, p->page.n);
	p->packed.n = n;
	return ZSTD_isError(n) ? -1 : 0;
}
#endif

/* Compresses p->page and writes it. */
static int put_page(struct xch_parquet_file *p, int type, size_t values, int encoding, struct chunk *c)
{
	struct fields s = { &p->header, 0 }, h;
	const struct xch_parquet_buffer *out = &p->page;

	if (p->page.failed) {
		return -1;
	}
#ifdef HAVE_ZSTD
	if (compress(p) < 0) {
		return -1;
	}
	out = &p->packed;
#endif
	p->header.n = 0;
	number(&s, 1, T_I32, type);
	number(&s, 2, T_I32, (int64_t)p->page.n);
	number(&s, 3, T_I32, (int64_t)out->n);
	h = begin_struct(&s, type == DATA_PAGE ? 5 : 7);
	number(&h, 1, T_I32, (int64_t)values);
	number(&h, 2, T_I32, encoding);
	if (type == DATA_PAGE) {
		number(&h, 3, T_I32, RLE); /* encoding of the definition levels */
		number(&h, 4, T_I32, RLE);
	}
	end_struct(&h);
	end_struct(&s);
	if (p->header.failed) {
		return -1;
	}
	c->bytes += (int64_t)(p->header.n + p->page.n);
	c->packed += (int64_t)(p->header.n + out->n);
	return put(p, p->header.p, p->header.n) < 0 || put(p, out->p, out->n) < 0 ? -1 : 0;
}

/* Writes which rows have a value: levels of 1 bit, preceded by their length. Returns the number of rows that have
 * one; their values are in p->present. */
static size_t levels(struct xch_parquet_file *p, const int64_t *v)
{
	size_t n = 0, i, at = p->page.n;

	for (i = 0; i < p->n; i++) {
		p->level[i] = v[i] != PQ_NULL;
		p->present[n] = v[i];
		n += p->level[i];
	}
	xch_parquet_bytes(&p->page, "\0\0\0\0", 4);
	xch_parquet_runs(&p->page, p->level, p->n, 1);
	if (!p->page.failed) {
		tkm_put32(p->page.p + at, (uint32_t)(p->page.n - at - 4), 0);
	}
	return n;
}

/* Makes a dictionary with the texts of this row group only, in the order of their first use, and p->index with
 * their numbers. */
static int put_dictionary(struct xch_parquet_file *p, const int64_t *v, const char *const *texts, size_t n_texts,
	struct chunk *c, uint32_t *n)
{
	uint32_t *number_of = calloc(n_texts + 1, sizeof(*number_of));
	unsigned char size[4];
	size_t i, len;
	int rc;

	if (!number_of) {
		return -1;
	}
	p->page.n = 0;
	for (*n = 0, i = 0; i < p->n; i++) {
		if (v[i] == PQ_NULL) {
			continue;
		}
		if (!number_of[v[i]]) {
			number_of[v[i]] = ++*n;
			len = strlen(texts[v[i]]);
			tkm_put32(size, (uint32_t)len, 0);
			xch_parquet_bytes(&p->page, size, 4);
			xch_parquet_bytes(&p->page, texts[v[i]], len);
		}
		p->index[i] = number_of[v[i]] - 1;
	}
	c->dictionary = p->offset;
	rc = put_page(p, DICTIONARY_PAGE, *n, PLAIN, c);
	for (len = 0, i = 0; i < p->n; i++) { /* skips missing values */
		p->index[len] = p->index[i];
		len += v[i] != PQ_NULL;
	}
	free(number_of);
	return rc;
}

static void find_limits(struct chunk *c, const int64_t *v, size_t n)
{
	size_t i;

	for (c->least = INT64_MAX, c->most = INT64_MIN, i = 0; i < n; i++) {
		c->least = v[i] < c->least ? v[i] : c->least;
		c->most = v[i] > c->most ? v[i] : c->most;
	}
}

static void describe(struct xch_parquet_file *p, const struct xch_parquet_column *k, const struct chunk *c)
{
	struct fields list = { &p->groups, 0 }, m, s;
	unsigned char bytes[8];

	number(&list, 2, T_I64, 0);
	m = begin_struct(&list, 3);
	number(&m, 1, T_I32, type_of[k->kind]);
	list_field(&m, 2, T_I32, 2);
	xch_parquet_varint(&p->groups, xch_parquet_zigzag(RLE));
	xch_parquet_varint(&p->groups, xch_parquet_zigzag(encoding_of[k->kind]));
	list_field(&m, 3, T_BINARY, 1);
	binary(&p->groups, k->name, strlen(k->name));
#ifdef HAVE_ZSTD
	number(&m, 4, T_I32, CODEC_ZSTD);
#else
	number(&m, 4, T_I32, CODEC_NONE);
#endif
	number(&m, 5, T_I64, (int64_t)p->n);
	number(&m, 6, T_I64, c->bytes);
	number(&m, 7, T_I64, c->packed);
	number(&m, 9, T_I64, c->data);
	if (c->dictionary) {
		number(&m, 11, T_I64, c->dictionary);
	}
	s = begin_struct(&m, 12);
	number(&s, 3, T_I64, (int64_t)c->nulls);
	if (c->least <= c->most) {
		tkm_put64(bytes, (uint64_t)c->most, 0);
		field(&s, 5, T_BINARY);
		binary(&p->groups, bytes, 8);
		tkm_put64(bytes, (uint64_t)c->least, 0);
		field(&s, 6, T_BINARY);
		binary(&p->groups, bytes, 8);
	}
	end_struct(&s);
	end_struct(&m);
	end_struct(&list);
}

int xch_parquet_rows(struct xch_parquet_file *p, size_t n)
{
	struct fields s = { &p->groups, 0 };

	if (n > p->cap) {
		free(p->present);
		free(p->level);
		free(p->index);
		p->present = malloc(n * sizeof(*p->present));
		p->level = malloc(n * sizeof(*p->level));
		p->index = malloc(n * sizeof(*p->index));
		p->cap = p->present && p->level && p->index ? n : 0;
	}
	p->n = n;
	p->at = 0;
	p->group_bytes = p->group_packed = 0;
	list_field(&s, 1, T_STRUCT, p->n_columns);
	return p->cap && !p->groups.failed ? 0 : -1;
}

/* Called after the last column: writes what the footer says about the group. */
static void end_group(struct xch_parquet_file *p)
{
	struct fields s = { &p->groups, 1 };

	number(&s, 2, T_I64, p->group_bytes);
	number(&s, 3, T_I64, (int64_t)p->n);
	number(&s, 6, T_I64, p->group_packed);
	end_struct(&s);
	p->rows += (int64_t)p->n;
	p->n_groups++;
}

int xch_parquet_put(struct xch_parquet_file *p, const int64_t *v, const char *const *texts, size_t n_texts)
{
	const struct xch_parquet_column *k = &p->column[p->at];
	struct chunk c = { .least = 0, .most = -1 };
	size_t n = p->n;
	unsigned width;
	uint32_t used = 0;

	if (k->kind == PQ_TEXT && put_dictionary(p, v, texts, n_texts, &c, &used) < 0) {
		return -1;
	}
	p->page.n = 0;
	if (k->optional) {
		n = levels(p, v);
		v = p->present;
	}
	c.nulls = p->n - n;
	c.data = p->offset;
	if (k->kind == PQ_INT) {
		find_limits(&c, v, n);
		xch_parquet_delta(&p->page, v, n);
	} else if (k->kind == PQ_DOUBLE) {
		xch_parquet_split(&p->page, v, n);
	} else {
		width = used > 1 ? 32 - (unsigned)__builtin_clz(used - 1) : 0;
		xch_parquet_byte(&p->page, width);
		xch_parquet_runs(&p->page, p->index, n, width);
	}
	if (put_page(p, DATA_PAGE, p->n, encoding_of[k->kind], &c) < 0) {
		return -1;
	}
	describe(p, k, &c);
	p->group_bytes += c.bytes;
	p->group_packed += c.packed;
	if (++p->at == p->n_columns) {
		end_group(p);
	}
	return p->groups.failed ? -1 : 0;
}

/* ---- the footer ---- */

static void put_schema(struct xch_parquet_file *p, struct fields *m)
{
	struct xch_parquet_buffer *b = m->b;
	struct fields s, u, string;
	size_t i;

	list_field(m, 2, T_STRUCT, p->n_columns + 1);
	s = (struct fields){ b, 0 };
	text_field(&s, 4, "schema");
	number(&s, 5, T_I32, (int64_t)p->n_columns);
	end_struct(&s);
	for (i = 0; i < p->n_columns; i++) {
		s = (struct fields){ b, 0 };
		number(&s, 1, T_I32, type_of[p->column[i].kind]);
		number(&s, 3, T_I32, p->column[i].optional);
		text_field(&s, 4, p->column[i].name);
		if (p->column[i].kind == PQ_TEXT) {
			number(&s, 6, T_I32, 0); /* UTF8 */
			u = begin_struct(&s, 10);
			string = begin_struct(&u, 1);
			end_struct(&string);
			end_struct(&u);
		}
		end_struct(&s);
	}
}

static int put_footer(struct xch_parquet_file *p)
{
	struct xch_parquet_buffer b = { 0 };
	struct fields m = { &b, 0 }, u, order;
	unsigned char size[4];
	size_t i;
	int rc;

	number(&m, 1, T_I32, 2); /* version, the one that other writers state when they use newer encodings */
	put_schema(p, &m);
	number(&m, 3, T_I64, p->rows);
	list_field(&m, 4, T_STRUCT, p->n_groups);
	xch_parquet_bytes(&b, p->groups.p, p->groups.n);
	if (p->n_keys) {
		list_field(&m, 5, T_STRUCT, p->n_keys);
		xch_parquet_bytes(&b, p->keys.p, p->keys.n);
	}
	text_field(&m, 6, "Tickmark version " PACKAGE_VERSION);
	list_field(&m, 7, T_STRUCT, p->n_columns); /* the limits are sorted in the order of their type */
	for (i = 0; i < p->n_columns; i++) {
		u = (struct fields){ &b, 0 };
		order = begin_struct(&u, 1);
		end_struct(&order);
		end_struct(&u);
	}
	end_struct(&m);
	tkm_put32(size, (uint32_t)b.n, 0);
	rc = b.failed || put(p, b.p, b.n) < 0 || put(p, size, 4) < 0 || put(p, "PAR1", 4) < 0 ? -1 : 0;
	free(b.p);
	return rc;
}

int xch_parquet_close(struct xch_parquet_file *p, int failed)
{
	int rc;

	if (!p) {
		return 0;
	}
	rc = failed ? 0 : put_footer(p);
	free(p->groups.p);
	free(p->keys.p);
	free(p->page.p);
	free(p->packed.p);
	free(p->header.p);
	free(p->present);
	free(p->level);
	free(p->index);
#ifdef HAVE_ZSTD
	ZSTD_freeCCtx(p->zstd);
#endif
	free(p);
	return rc;
}
