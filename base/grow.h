/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow, in memory of malloc(). `array` is always the variable or member itself, a typed pointer that is
 * NULL at first. If memory runs out, the array is as before. There are two kinds; an array stays with one of them.
 *
 * The room is counted, for arrays that shrink and grow again, and for buffers:
 *	if (TKM_GROW(l->item, l->room, l->n + 1) < 0) { return no_memory(...); }
 *	l->item[l->n++] = item;
 *
 * The number of items alone is counted; the room is the next power of two, and new items are zero:
 *	struct item *new = TKM_APPEND(l->item, l->n);
 *	if (id >= l->n && TKM_EXTEND(l->item, l->n, id + 1) < 0) { return no_memory(...); } */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>

/* Makes room for `need` items. room: a variable of type size_t, 0 at first; it at least doubles. Returns 0 or -1. The new
 * room does not depend on the size of an item: of two arrays with one room, grow the first one with a copy of it. */
#define TKM_GROW(array, room, need) tkm_grow_array(&(array), &(room), (need), sizeof(*(array)))

/* Makes an array of n items, n < need, one of `need`. Returns 0 or -1. */
#define TKM_EXTEND(array, n, need) \
	(tkm_extend_array(&(array), (size_t)(n), (size_t)(need), sizeof(*(array))) < 0 ? -1 : ((n) = (need), 0))

/* Adds an item, and counts it in n. Returns its address, or NULL. */
#define TKM_APPEND(array, n) \
	(tkm_extend_array(&(array), (size_t)(n), (size_t)(n) + 1, sizeof(*(array))) < 0 ? NULL : &(array)[(n)++])

/* Adds a copy of a text to a list of the second kind. Returns 0 or -1. */
int tkm_append_text(char ***list, size_t *n, const char *text);

/* Frees a list of texts. */
void tkm_free_texts(char **list, size_t n);

/* What the macros call. array: address of the pointer. */
int tkm_grow_room(void *array, size_t *room, size_t need, size_t size);
int tkm_extend_array(void *array, size_t n, size_t need, size_t size);

static inline int tkm_grow_array(void *array, size_t *room, size_t need, size_t size)
{
	return need <= *room ? 0 : tkm_grow_room(array, room, need, size);
}

#endif
