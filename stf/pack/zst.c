/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "stf/pack/columns.h"
#include "stf/pack/zst.h"

#include <stdlib.h>

#define SKIPPABLE 0x184d2a5eu
#define SEEKABLE 0x8f92eab1u

int stf_zst_table(struct stf_buf *table, const uint8_t **out, size_t *len, struct stf_err *err)
{
	uint8_t head[8], foot[9] = { 0 };
	size_t n = table->n;

	tkm_put32(head, SKIPPABLE, 0);
	tkm_put32(head + 4, (uint32_t)(n + sizeof(foot)), 0);
	tkm_put32(foot, (uint32_t)(n / 8), 0);
	tkm_put32(foot + 5, SEEKABLE, 0);
	if (n > UINT32_MAX - 64 || stf_buf_reserve(table, sizeof(head) + sizeof(foot)) < 0) {
		return stf_no_memory(err);
	}
	memmove(table->p + sizeof(head), table->p, n);
	memcpy(table->p, head, sizeof(head));
	memcpy(table->p + sizeof(head) + n, foot, sizeof(foot));
	*out = (const uint8_t *)table->p;
	*len = n + sizeof(head) + sizeof(foot);
	return 0;
}

#ifdef HAVE_ZSTD
#include <zstd.h>

struct stf_zst {
	ZSTD_CCtx *ctx;
	int level, big;
	uint8_t *content, *out;
	size_t cap, out_cap;
};

int stf_can_compress(void)
{
	return 1;
}

struct stf_zst *stf_zst_new(int level, int big, struct stf_err *err)
{
	struct stf_zst *z = calloc(1, sizeof(*z));

	if (z) {
		z->ctx = ZSTD_createCCtx();
		z->level = level;
		z->big = big;
	}
	if (!z || !z->ctx) {
		stf_no_memory(err);
		stf_zst_free(z);
		return NULL;
	}
	return z;
}

void stf_zst_free(struct stf_zst *z)
{
	if (z) {
		ZSTD_freeCCtx(z->ctx);
		free(z->content);
		free(z->out);
		free(z);
	}
}

static int reserve(struct stf_zst *z, size_t n)
{
	size_t out = ZSTD_compressBound(stf_columns_bound(n));
	uint8_t *a, *b;

	if (n <= z->cap) {
		return 0;
	}
	a = realloc(z->content, stf_columns_bound(n));
	z->content = a ? a : z->content;
	b = realloc(z->out, out);
	z->out = b ? b : z->out;
	if (!a || !b) {
		z->cap = 0;
		return -1;
	}
	z->cap = n;
	z->out_cap = out;
	return 0;
}

int stf_zst_frame(struct stf_zst *z, struct stf_buf *table, const uint8_t *p, size_t n, const uint8_t **out,
	size_t *len, struct stf_err *err)
{
	uint8_t entry[8];
	size_t content;

	if (n > UINT32_MAX / 2 || reserve(z, n) < 0) {
		return stf_no_memory(err);
	}
	content = stf_columns_pack(z->content, p, n, z->big);
	*len = ZSTD_compressCCtx(z->ctx, z->out, z->out_cap, z->content, content, z->level);
	if (ZSTD_isError(*len)) {
		return stf_fail(err, STF_ERR_IO, NULL, 0, 0, "cannot compress: %s", ZSTD_getErrorName(*len));
	}
	tkm_put32(entry, (uint32_t)*len, 0);
	tkm_put32(entry + 4, (uint32_t)content, 0);
	stf_buf_add(table, entry, sizeof(entry));
	*out = z->out;
	return table->failed ? stf_no_memory(err) : 0;
}

struct stf_unzst *stf_unzst_new(struct stf_err *err)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();

	if (!d) {
		stf_no_memory(err);
	}
	return (struct stf_unzst *)d;
}

void stf_unzst_free(struct stf_unzst *u)
{
	ZSTD_freeDCtx((ZSTD_DCtx *)u);
}

int stf_unzst_measure(const uint8_t *p, size_t n, size_t *size, uint64_t *content)
{
	*size = ZSTD_findFrameCompressedSize(p, n);
	if (ZSTD_isError(*size)) {
		return -1;
	}
	*content = ZSTD_getFrameContentSize(p, n);
	return *content == ZSTD_CONTENTSIZE_ERROR || *content == ZSTD_CONTENTSIZE_UNKNOWN ? -1 : 0;
}

int stf_unzst_frame(struct stf_unzst *u, const uint8_t *p, size_t n, uint8_t *dst, size_t content)
{
	return ZSTD_decompressDCtx((ZSTD_DCtx *)u, dst, content, p, n) == content ? 0 : -1;
}

#else

int stf_can_compress(void)
{
	return 0;
}

static int fail_without_zstd(struct stf_err *err)
{
	return stf_fail(err, STF_ERR_STATE, NULL, 0, 0, "this build has no zstd, so it cannot use compressed traces");
}

struct stf_zst *stf_zst_new(int level, int big, struct stf_err *err)
{
	(void)level;
	(void)big;
	fail_without_zstd(err);
	return NULL;
}

void stf_zst_free(struct stf_zst *z)
{
	(void)z;
}

int stf_zst_frame(struct stf_zst *z, struct stf_buf *table, const uint8_t *p, size_t n, const uint8_t **out,
	size_t *len, struct stf_err *err)
{
	(void)z;
	(void)table;
	(void)p;
	(void)n;
	(void)out;
	(void)len;
	return fail_without_zstd(err);
}

struct stf_unzst *stf_unzst_new(struct stf_err *err)
{
	fail_without_zstd(err);
	return NULL;
}

void stf_unzst_free(struct stf_unzst *u)
{
	(void)u;
}

int stf_unzst_measure(const uint8_t *p, size_t n, size_t *size, uint64_t *content)
{
	(void)p;
	(void)n;
	(void)size;
	(void)content;
	return -1;
}

int stf_unzst_frame(struct stf_unzst *u, const uint8_t *p, size_t n, uint8_t *dst, size_t content)
{
	(void)u;
	(void)p;
	(void)n;
	(void)dst;
	(void)content;
	return -1;
}

#endif
