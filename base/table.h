/* SPDX-License-Identifier: BSD-3-Clause */
/* A table from a key of any bytes to a value, for what is looked up by names and numbers from files: uthash with the
 * allocator of whoever links this (in the preloaded library that of collector-plugin/host/), and "no memory" as a result. Not for
 * several threads at a time; not for the event path of the collector. */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>

struct tkm_entry;
/* Begins as { 0 }. */
struct tkm_table {
	struct tkm_entry *first;
};

/* The value of a key: value_size bytes, zero at the key's first use, the same size at each call. It stays where it is until the
 * key is removed. NULL: no memory; the table is as before. */
void *tkm_table_put(struct tkm_table *t, const void *key, size_t key_size, size_t value_size);

/* The same of a key that is there; NULL: it is not. */
void *tkm_table_find(const struct tkm_table *t, const void *key, size_t key_size);

/* The key of a value, of as many bytes as it was put with. */
const void *tkm_table_key(const void *value);

/* The values in the order in which their keys came: the one after `value`, NULL: the first. Returns NULL after the last. */
void *tkm_table_next(const struct tkm_table *t, const void *value);

size_t tkm_table_count(const struct tkm_table *t);

/* Removes the key of a value. */
void tkm_table_remove(struct tkm_table *t, void *value);
void tkm_table_free(struct tkm_table *t);

#endif
