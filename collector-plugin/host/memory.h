/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is not the program's malloc. */
#ifndef COLLECTOR_PLUGIN_HOST_MEMORY_H
#define COLLECTOR_PLUGIN_HOST_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

/* Zeroed pages, to be freed with munmap(); NULL: there are none. */
static inline void *vt_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* In the child of a fork each page that is written is copied first, and each page of code is looked up, which takes longer than what is
 * done there. Therefore it writes only what is different, and its functions are side by side. */
#define VT_IN_CHILD __attribute__((cold))
/* Variables that it writes as a rule lie on one page, if they are small: those of all files come into one section. */
#define VT_WRITTEN_IN_CHILD __attribute__((section("vt_in_child")))
#define VT_SET_IF_OTHER(to, value) ((to) != (value) ? (void)((to) = (value)) : (void)0)

/* alloc.c: in the child of a fork, whose other threads may have held its lock. */
VT_IN_CHILD void vt_alloc_forked(void);

#endif
