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

/* otherwise: the result if there is no such function. */
#define PASS_ON(result, name, parameters, arguments, otherwise) \
	result name parameters \
	{ \
		void *next = zstd_handle() ? dlsym(zstd_handle(), #name) : NULL; \
\
		return next ? ((__typeof__(&(name)))next)arguments : otherwise; \
	}

PASS_ON(ZSTD_CCtx *, ZSTD_createCCtx, (void), (), NULL)
PASS_ON(size_t, ZSTD_freeCCtx, (ZSTD_CCtx * c), (c), 0)
PASS_ON(size_t, ZSTD_compressBound, (size_t n), (n), 0)
PASS_ON(size_t, ZSTD_compressCCtx, (ZSTD_CCtx * c, void *dst, size_t room, const void *src, size_t n, int level),
	(c, dst, room, src, n, level), (size_t)-1)
PASS_ON(unsigned, ZSTD_isError, (size_t code), (code), 1)
PASS_ON(const char *, ZSTD_getErrorName, (size_t code), (code), "libzstd.so.1 is missing")
PASS_ON(ZSTD_DCtx *, ZSTD_createDCtx, (void), (), NULL)
PASS_ON(size_t, ZSTD_freeDCtx, (ZSTD_DCtx * d), (d), 0)
PASS_ON(size_t, ZSTD_findFrameCompressedSize, (const void *p, size_t n), (p, n), (size_t)-1)
PASS_ON(unsigned long long, ZSTD_getFrameContentSize, (const void *p, size_t n), (p, n), ZSTD_CONTENTSIZE_ERROR)
PASS_ON(size_t, ZSTD_decompressDCtx, (ZSTD_DCtx * d, void *dst, size_t room, const void *src, size_t n),
	(d, dst, room, src, n), (size_t)-1)
#endif
