/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow; see base/grow.h. */
#include "config.h"
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 8 };

/* Gives the array room for n items. The pointer is copied because its type is not known here. */
static int resize_array(void *array, size_t n, size_t size)
{
	size_t bytes;
	void *p;

	memcpy(&p, array, sizeof(p));
	if (__builtin_mul_overflow(n, size, &bytes) || !(p = realloc(p, bytes))) {
		return -1;
	}
	memcpy(array, &p, sizeof(p));
	return 0;
}

int tkm_grow_room(void *array, size_t *room, size_t need, size_t size)
{
	size_t most = 2 * *room < *room ? SIZE_MAX : 2 * *room;

	most = most < FIRST_ROOM ? FIRST_ROOM : most;
	most = most < need ? need : most;
	if (resize_array(array, most, size) < 0) {
		return -1;
	}
	*room = most;
	return 0;
}

/* The room of an array of n items: the next power of two. 0: it has none, or there is no such number. */
static size_t room_of(size_t n)
{
	if (n <= 1 || n > SIZE_MAX / 2 + 1) {
		return n == 1;
	}
	return (size_t)1 << (8 * sizeof(long) - (size_t)__builtin_clzl(n - 1));
}

int tkm_extend_array(void *array, size_t n, size_t need, size_t size)
{
	size_t room = room_of(need);
	char *p;

	if (room != room_of(n) && (!room || resize_array(array, room, size) < 0)) {
		return -1;
	}
	memcpy(&p, array, sizeof(p));
	memset(p + n * size, 0, (need - n) * size);
	return 0;
}

int tkm_append_text(char ***list, size_t *n, const char *text)
{
	char *copy = strdup(text), **place = copy ? TKM_APPEND(*list, *n) : NULL;

	if (!place) {
		free(copy);
		return -1;
	}
	*place = copy;
	return 0;
}

void tkm_free_texts(char **list, size_t n)
{
	while (n) {
		free(list[--n]);
	}
	free(list);
}
