/* SPDX-License-Identifier: BSD-3-Clause */
/* libVTinside.so: the table of functions for libVTcs.so. */
#include "config.h"
#include "collector-plugin/preload/inside.h"

static const struct vt_inside_memory *mine;

const struct vt_inside *vt_inside_begin(const struct vt_inside_memory *memory)
{
#define VALUE(result, name, parameters, arguments, otherwise) .name = name,
	static const struct vt_inside calls = { .version = PACKAGE_STRING, .sim = &tmr_sim, VT_INSIDE_CALLS(VALUE) };

	mine = memory;
	return &calls;
}

/* ---- malloc() and its relatives, as our objects call them (--wrap) ---- */

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t max);

void *__wrap_malloc(size_t n)
{
	return mine->malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return mine->calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return mine->realloc(p, n);
}

void __wrap_free(void *p)
{
	mine->free(p);
}

char *__wrap_strdup(const char *s)
{
	return mine->strdup(s);
}

char *__wrap_strndup(const char *s, size_t max)
{
	return mine->strndup(s, max);
}
