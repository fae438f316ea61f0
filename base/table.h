/* SPDX-License-Identifier: BSD-3-Clause */
/* A table from a key of any bytes to a value, for lookups by names and numbers that come from files. It is uthash with
 * the allocator of the program that links it (in the preloaded library: collector-plugin/host/). If memory runs out,
 * the call returns NULL. Not for several threads at a time; not for the event path of the collector. */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>

struct tkm_entry;
/* Initialise it with { 0 }. */
struct tkm_table {
	struct tkm_entry *first;
};

/* The value of a key: value_size bytes, zero at the key's first use, the same size at each call. It stays where it is until the
 * key is removed. NULL: no memory; the table is as before. */
void *tkm_table_put(struct tkm_table *t, const void *key, size_t key_size, size_t value_size);

/* The value of a key that is in the table; NULL if the key is not. */
void *tkm_table_find(const struct tkm_table *t, const void *key, size_t key_size);

/* The key of a value. Its length is the one that the caller gave when it added the key. */
const void *tkm_table_key(const void *value);

/* Iterates over the values in the order in which their keys were added. Returns the value that follows `value`, or the
 * first one for NULL. Returns NULL after the last. */
void *tkm_table_next(const struct tkm_table *t, const void *value);

size_t tkm_table_count(const struct tkm_table *t);

/* number[i] becomes the number of the i-th of n keys of so many bytes: equal keys have one number, in the order of their first.
 * Returns 0, or -1: no memory. */
int tkm_table_number_keys(const void *keys, size_t size, size_t n, int *number);

/* Removes the key of a value. */
void tkm_table_remove(struct tkm_table *t, void *value);
void tkm_table_free(struct tkm_table *t);

#endif
