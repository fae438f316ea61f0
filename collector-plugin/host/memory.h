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

/* alloc.c: in the child of a fork, whose other threads may have held its lock. */
void vt_alloc_forked(void);

#endif
