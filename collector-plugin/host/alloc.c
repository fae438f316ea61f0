/* SPDX-License-Identifier: BSD-3-Clause */
/* The preloaded library's own memory allocator. The linker option --wrap redirects the calls of malloc() and its
 * relatives in our objects to this file. The program's malloc must not be used: the program may replace it, it may
 * be broken, or the thread that calls exit() from a signal handler may hold its lock. Memory that libc itself
 * allocated (getline, open_memstream, opendir) is recognized by its address and given back to libc. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/lock.h"

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);

/* Address space is reserved in pieces, each twice as large as the one before. Only pages that are touched use
 * memory. */
enum { SMALLEST = 5, BIGGEST = 36, FIRST_ARENA = 24, ARENAS = 16 };

union head {
	struct {
		uint32_t class;
	} h;
	union head *next;
	char align[16];
};

static struct vt_lock lock = VT_LOCK_INIT;
static struct {
	char *start, *unused;
	_Atomic size_t size;
} arena[ARENAS];
static union head *free_list[BIGGEST + 1];

void vt_alloc_forked(void)
{
	vt_lock_forget(&lock);
}

/* Returns n bytes that were never given out before, or NULL if there are no more. */
static void *allocate_from_arena(size_t n)
{
	size_t size;
	int i;
	void *p;

	for (i = 0; i < ARENAS; i++) {
		if (!arena[i].size) {
			for (size = (size_t)1 << (FIRST_ARENA + i); size < n; size *= 2) {
			}
			p = mmap(
				NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (p == MAP_FAILED) {
				return NULL;
			}
			arena[i].start = arena[i].unused = p;
			atomic_store(&arena[i].size, size);
		}
		if (n <= (size_t)(arena[i].start + arena[i].size - arena[i].unused)) {
			p = arena[i].unused;
			arena[i].unused += n;
			return p;
		}
	}
	return NULL;
}

static int is_from_pool(const void *p)
{
	int i;

	for (i = 0; i < ARENAS && atomic_load(&arena[i].size); i++) {
		if ((const char *)p >= arena[i].start && (const char *)p < arena[i].start + arena[i].size) {
			return 1;
		}
	}
	return 0;
}

static uint32_t size_class_of(size_t n)
{
	uint32_t k = SMALLEST;

	while (k <= BIGGEST && ((size_t)1 << k) < n) {
		k++;
	}
	return k;
}

/* *is_new: the memory was never used before, so it is all 0. */
static void *allocate(size_t n, int *is_new)
{
	uint32_t k = n > SIZE_MAX / 4 ? BIGGEST + 1 : size_class_of(n + sizeof(union head));
	union head *h = NULL;

	if (k > BIGGEST) {
		return NULL;
	}
	vt_lock(&lock);
	*is_new = !free_list[k];
	if (free_list[k]) {
		h = free_list[k];
		free_list[k] = h->next;
	} else {
		h = allocate_from_arena((size_t)1 << k);
	}
	vt_unlock(&lock);
	if (!h) {
		return NULL;
	}
	h->h.class = k;
	return h + 1;
}

void *__wrap_malloc(size_t n)
{
	int is_new;

	return allocate(n, &is_new);
}

void *__wrap_calloc(size_t n, size_t size)
{
	int is_new = 0;
	void *p = size && n > SIZE_MAX / size ? NULL : allocate(n * size, &is_new);

	return p && !is_new ? memset(p, 0, n * size) : p;
}

void __wrap_free(void *p)
{
	union head *h;
	uint32_t k;

	if (!p || !is_from_pool(p)) {
		__real_free(p);
		return;
	}
	h = (union head *)p - 1;
	k = h->h.class;
	if (k >= 20) {
		/* the pages go back to the kernel, the addresses stay reserved */
		madvise((char *)h + 4096 - ((uintptr_t)h & 4095), ((size_t)1 << k) - 4096, MADV_DONTNEED);
	}
	vt_lock(&lock);
	h->next = free_list[k];
	free_list[k] = h;
	vt_unlock(&lock);
}

void *__wrap_realloc(void *p, size_t n)
{
	size_t had;
	void *q;

	if (p && !is_from_pool(p)) {
		return __real_realloc(p, n);
	}
	had = p ? ((size_t)1 << ((union head *)p - 1)->h.class) - sizeof(union head) : 0;
	if (p && n <= had) {
		return p;
	}
	q = __wrap_malloc(n);
	if (q && p) {
		memcpy(q, p, had);
		__wrap_free(p);
	}
	return q;
}

char *__wrap_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = __wrap_malloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

char *__wrap_strndup(const char *s, size_t max)
{
	size_t n = strnlen(s, max);
	char *p = __wrap_malloc(n + 1);

	if (p) {
		memcpy(p, s, n);
		p[n] = '\0';
	}
	return p;
}
