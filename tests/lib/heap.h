/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a test program, counted: whether a function gives back all that it took, and what it does if there is no more. The
 * functions here are in front of the C library's for the whole program. Only with gcc and glibc, and not
 * under a sanitizer or valgrind, which have their own. */
#ifndef TESTS_LIB_HEAP_H
#define TESTS_LIB_HEAP_H

#include <errno.h>
#include <malloc.h>

#include "tests/lib/check.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__) && \
	!defined(HEAP_OF_VALGRIND)
#define HEAP_IS_COUNTED 1
#else
#define HEAP_IS_COUNTED 0
#endif

#define HEAP_WHY "memory is counted with gcc and glibc, and without a sanitizer or valgrind"

static long heap_pieces __attribute__((unused)); /* in use */
static long heap_asked __attribute__((unused));  /* allocations so far */
static long heap_fails __attribute__((unused));  /* the number of the allocation that fails; 0: none does */

#if HEAP_IS_COUNTED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

/* Returns 1 if this allocation is the one that fails. */
static inline int heap_takes(void)
{
	if (__atomic_add_fetch(&heap_asked, 1, __ATOMIC_RELAXED) == __atomic_load_n(&heap_fails, __ATOMIC_RELAXED)) {
		errno = ENOMEM;
		return 1;
	}
	return 0;
}

static inline void *heap_took(void *p)
{
	__atomic_add_fetch(&heap_pieces, p != NULL, __ATOMIC_RELAXED);
	return p;
}

void *malloc(size_t size)
{
	return heap_takes() ? NULL : heap_took(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return heap_takes() ? NULL : heap_took(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
	void *q;

	if (heap_takes()) {
		return NULL;
	}
	q = __libc_realloc(p, size);
	if (p && size == 0 && !q) { /* it was freed */
		__atomic_sub_fetch(&heap_pieces, 1, __ATOMIC_RELAXED);
	}
	return p ? q : heap_took(q);
}

void *memalign(size_t alignment, size_t size)
{
	return heap_takes() ? NULL : heap_took(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	*p = memalign(alignment, size);
	return *p ? 0 : ENOMEM;
}

void free(void *p)
{
	__atomic_sub_fetch(&heap_pieces, p != NULL, __ATOMIC_RELAXED);
	__libc_free(p);
}
#endif

/* Calls fn `times` times, and again: the second time no piece may stay at each call. */
static inline void check_heap(void (*fn)(void), int times, const char *name)
{
	long before = 0;
	int i;

	if (!HEAP_IS_COUNTED) {
		printf("# %s: %s\n", name, HEAP_WHY);
		return;
	}
	for (i = 0; i < 2 * times; i++) {
		before = i == times ? heap_pieces : before;
		fn();
	}
	CHECK(heap_pieces < before + times, "%s keeps %ld pieces of memory in %d calls", name, heap_pieces - before,
		times);
}
#define CHECK_HEAP(fn, times) check_heap(fn, times, #fn)

#endif
