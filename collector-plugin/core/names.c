/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables from text to number for classes, states, counters, scopes, locations and groups: the same text again is
 * the same handle, so that a program that defines in a loop does not grow. */
#include "config.h"
#include "collector-plugin/core/names.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *s)
{
	uint64_t h = 1469598103934665603u;

	for (; *s; s++) {
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	}
	return h ^ h >> 32;
}

/* Where key stands, or the free slot for it. slots > 0. */
static uint32_t *place(const struct vt_names *t, const char *key)
{
	uint32_t i = (uint32_t)hash(key) & (t->slots - 1);

	while (t->slot[i] != 0 && strcmp(t->key[t->slot[i] - 1], key) != 0) {
		i = (i + 1) & (t->slots - 1);
	}
	return &t->slot[i];
}

/* Half of the slots stay free. */
static int grow(struct vt_names *t)
{
	uint32_t room = t->room ? 2 * t->room : 32, slots = 2 * room, i;
	char **key = realloc(t->key, room * sizeof(*key));
	uint32_t *slot;

	if (!key) {
		return -1;
	}
	t->key = key;
	slot = calloc(slots, sizeof(*slot));
	if (!slot) {
		return -1;
	}
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	t->room = room;
	for (i = 0; i < t->n; i++) {
		*place(t, t->key[i]) = i + 1;
	}
	return 0;
}

static uint32_t number(struct vt_names *t, const char *key, int *fresh)
{
	uint32_t *slot;

	if (t->n == t->room && grow(t) != 0) {
		return 0;
	}
	slot = place(t, key);
	if (*slot == 0) {
		t->key[t->n] = strdup(key);
		if (!t->key[t->n]) {
			return 0;
		}
		*slot = ++t->n;
		*fresh = 1;
	}
	return *slot;
}

/* Recursive: a class has an outer one. */
static pthread_mutex_t defining = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void vt_names_define(void)
{
	pthread_mutex_lock(&defining);
}

void vt_names_defined(void)
{
	pthread_mutex_unlock(&defining);
}

static _Atomic int any;

uint32_t vt_names_number(struct vt_names *t, const char *key, int *fresh)
{
	uint32_t n;

	*fresh = 0;
	pthread_mutex_lock(&t->lock);
	n = number(t, key, fresh);
	pthread_mutex_unlock(&t->lock);
	atomic_store_explicit(&any, 1, memory_order_relaxed);
	return n;
}

int vt_names_any(void)
{
	return atomic_load_explicit(&any, memory_order_relaxed);
}

uint32_t vt_names_count(struct vt_names *t)
{
	uint32_t n;

	pthread_mutex_lock(&t->lock);
	n = t->n;
	pthread_mutex_unlock(&t->lock);
	return n;
}

const char *vt_names_text(struct vt_names *t, uint32_t n)
{
	const char *text = NULL;

	pthread_mutex_lock(&t->lock);
	if (n >= 1 && n <= t->n) {
		text = t->key[n - 1];
	}
	pthread_mutex_unlock(&t->lock);
	return text;
}

char *vt_clean_name(const char *name)
{
	char *clean = malloc((name ? strlen(name) : 0) + 1), *to = clean;

	if (!clean) {
		return NULL;
	}
	for (; name && *name; name++) {
		if (*name != ':' || (to > clean && to[-1] != ':')) {
			*to++ = *name;
		}
	}
	if (to > clean && to[-1] == ':') {
		to--;
	}
	*to = 0;
	return clean;
}
