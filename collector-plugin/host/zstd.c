/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of zstd that the trace writer calls. They are looked up at the first call, because a preloaded
 * library links libc only. If there is no libzstd, the trace is not compressed. */
#include "config.h"

#ifdef HAVE_ZSTD
#include <dlfcn.h>
#define ZSTDLIB_VISIBLE __attribute__((visibility("hidden")))
#define ZSTDLIB_VISIBILITY ZSTDLIB_VISIBLE /* before 1.5 */
#include <zstd.h>

static void *zstd_handle(void)
{
	static void *h;

	if (!h) {
		h = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	}
	return h;
}

/* Declares `next` as the real function, NULL if there is none. */
#define REAL(name) __typeof__(&(name)) next = zstd_handle() ? (__typeof__(&(name)))dlsym(zstd_handle(), #name) : NULL

ZSTD_CCtx *ZSTD_createCCtx(void)
{
	REAL(ZSTD_createCCtx);

	return next ? next() : NULL;
}

size_t ZSTD_freeCCtx(ZSTD_CCtx *c)
{
	REAL(ZSTD_freeCCtx);

	return next ? next(c) : 0;
}

size_t ZSTD_compressBound(size_t n)
{
	REAL(ZSTD_compressBound);

	return next ? next(n) : 0;
}

size_t ZSTD_compressCCtx(ZSTD_CCtx *c, void *dst, size_t room, const void *src, size_t n, int level)
{
	REAL(ZSTD_compressCCtx);

	return next ? next(c, dst, room, src, n, level) : (size_t)-1;
}

unsigned ZSTD_isError(size_t code)
{
	REAL(ZSTD_isError);

	return next ? next(code) : 1;
}

const char *ZSTD_getErrorName(size_t code)
{
	REAL(ZSTD_getErrorName);

	return next ? next(code) : "libzstd.so.1 is missing";
}

ZSTD_DCtx *ZSTD_createDCtx(void)
{
	REAL(ZSTD_createDCtx);

	return next ? next() : NULL;
}

size_t ZSTD_freeDCtx(ZSTD_DCtx *d)
{
	REAL(ZSTD_freeDCtx);

	return next ? next(d) : 0;
}

size_t ZSTD_findFrameCompressedSize(const void *p, size_t n)
{
	REAL(ZSTD_findFrameCompressedSize);

	return next ? next(p, n) : (size_t)-1;
}

unsigned long long ZSTD_getFrameContentSize(const void *p, size_t n)
{
	REAL(ZSTD_getFrameContentSize);

	return next ? next(p, n) : ZSTD_CONTENTSIZE_ERROR;
}

size_t ZSTD_decompressDCtx(ZSTD_DCtx *d, void *dst, size_t room, const void *src, size_t n)
{
	REAL(ZSTD_decompressDCtx);

	return next ? next(d, dst, room, src, n) : (size_t)-1;
}
#endif
