/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap: an array whose item 0 comes before all others. TKM_HEAP(name, type, before) defines, for an array of `type`,
 *	name_add(of, heap, n, item): puts an item into a heap of n; the array must have room for it
 *	name_sift(of, heap, n, i): moves item i, which may now come later than before, to its place
 * before(of, a, b) says whether item *a comes before *b; `of` is passed on to it, and may be NULL. The array is grown by base/grow.h.
 * To take item 0 out: heap[0] = heap[--n], then name_sift(of, heap, n, 0). To make a heap of any n items, sift each
 * i from n / 2 - 1 down to 0. The comparison is compiled into these functions, so it costs no call. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stddef.h>

#define TKM_HEAP(name, type, before) \
	__attribute__((unused)) static inline void name##_add(const void *of, type *heap, size_t n, type item) \
	{ \
		size_t i = n, up; \
\
		for (; i > 0 && before(of, &item, &heap[up = (i - 1) / 2]); i = up) { \
			heap[i] = heap[up]; \
		} \
		heap[i] = item; \
	} \
\
	__attribute__((unused)) static inline void name##_sift(const void *of, type *heap, size_t n, size_t i) \
	{ \
		size_t k; \
		type item; \
\
		if (i >= n) { \
			return; \
		} \
		item = heap[i]; \
		while ((k = 2 * i + 1) < n) { \
			k += k + 1 < n && before(of, &heap[k + 1], &heap[k]); \
			if (!before(of, &heap[k], &item)) { \
				break; \
			} \
			heap[i] = heap[k]; \
			i = k; \
		} \
		heap[i] = item; \
	} \
	struct tkm_heap_##name /* takes the semicolon */

#endif
