/* SPDX-License-Identifier: BSD-3-Clause */
/* A table from keys to values on top of uthash; see base/table.h. */
#include "config.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct tkm_entry {
	UT_hash_handle hh;
	max_align_t value[]; /* the key follows the value */
};

static struct tkm_entry *entry_of(const void *value)
{
	return (struct tkm_entry *)((char *)(uintptr_t)value - offsetof(struct tkm_entry, value));
}

void *tkm_table_find(const struct tkm_table *t, const void *key, size_t key_size)
{
	struct tkm_entry *e;

	HASH_FIND(hh, t->first, key, key_size, e);
	return e ? e->value : NULL;
}

void *tkm_table_put(struct tkm_table *t, const void *key, size_t key_size, size_t value_size)
{
	struct tkm_entry *e;
	unsigned hashv;
	char *own;

	HASH_VALUE(key, key_size, hashv);
	HASH_FIND_BYHASHVALUE(hh, t->first, key, key_size, hashv, e);
	if (e) {
		return e->value;
	}
	e = key_size > UINT32_MAX ? NULL : malloc(sizeof(*e) + value_size + key_size);
	if (!e) {
		return NULL;
	}
	memset(e->value, 0, value_size);
	own = (char *)e->value + value_size;
	memcpy(own, key, key_size);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, t->first, own, key_size, hashv, e);
	if (!e->hh.tbl) {
		free(e);
		return NULL;
	}
	return e->value;
}

const void *tkm_table_key(const void *value)
{
	return entry_of(value)->hh.key;
}

void *tkm_table_next(const struct tkm_table *t, const void *value)
{
	struct tkm_entry *e = value ? entry_of(value)->hh.next : t->first;

	return e ? e->value : NULL;
}

size_t tkm_table_count(const struct tkm_table *t)
{
	return HASH_COUNT(t->first);
}

void tkm_table_remove(struct tkm_table *t, void *value)
{
	struct tkm_entry *e = entry_of(value);

	HASH_DELETE(hh, t->first, e);
	free(e);
}

void tkm_table_free(struct tkm_table *t)
{
	struct tkm_entry *e = t->first, *next;

	HASH_CLEAR(hh, t->first);
	for (; e; e = next) {
		next = e->hh.next;
		free(e);
	}
}

int tkm_table_number_keys(const void *keys, size_t size, size_t n, int *number)
{
	const char *key = keys;

	struct tkm_table t = { 0 };
	int next = 0, *known = NULL;
	size_t i;

	for (i = 0; i < n; i++, key += size) {
		known = tkm_table_put(&t, key, size, sizeof(*known));
		if (!known) {
			break;
		}
		*known = *known ? *known : ++next;
		number[i] = *known - 1;
	}
	tkm_table_free(&t);
	return i == n ? 0 : -1;
}
