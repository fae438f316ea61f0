/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that does not come from the program's malloc. */
#ifndef COLLECTOR_PLUGIN_HOST_MEMORY_H
#define COLLECTOR_PLUGIN_HOST_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

/* Returns zeroed pages, to be freed with munmap(), or NULL if there are none. */
static inline void *vt_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The largest page size that a kernel for this kind of machine may have. */
#if defined(__x86_64__) || defined(__i386__)
#define VT_LARGEST_PAGE 4096
#else
#define VT_LARGEST_PAGE 65536
#endif

/* For functions that run in the child of a fork. There, each page that is written is copied first, and each page of
 * code is looked up, which takes longer than the work itself. Therefore these functions write only what changes, and
 * this attribute puts them next to each other. */
#define VT_IN_CHILD __attribute__((cold))
/* For functions that run a few times in a thread or a run: small instead of fast. */
#define VT_SELDOM __attribute__((cold))
/* For small variables that the child usually writes: one section puts those of all files on one page. */
#define VT_WRITTEN_IN_CHILD __attribute__((section("vt_in_child")))
#define VT_SET_IF_OTHER(to, value) ((to) != (value) ? (void)((to) = (value)) : (void)0)

/* alloc.c: to be called in the child of a fork. Another thread of the parent may have held the allocator's lock. */
VT_IN_CHILD void vt_alloc_forked(void);

#endif
