/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts any number of events by time: up to 262,144 of them (14 MiB) are in memory, more in an unnamed file beside the output. Sorting
 * those in memory takes as much again. */
#ifndef EXCHANGE_COMMON_SORT_H
#define EXCHANGE_COMMON_SORT_H

#include <stdint.h>

#include "base/err.h"

/* The order is that of time, rank, key, number. */
struct xch_item {
	int64_t time;
	uint64_t key, number;
	uint64_t value;
	uint32_t track, name;
	uint8_t rank, kind;
};

struct xch_sort;

/* beside: the name of the output. NULL: *err. */
struct xch_sort *xch_sort_new(const char *beside, struct tkm_err *err);
void xch_sort_free(struct xch_sort *s);
int xch_sort_put(struct xch_sort *s, const struct xch_item *item, struct tkm_err *err);
/* Calls take() for each item in order, until it returns -1. Returns 0 or -1. */
int xch_sort_each(
	struct xch_sort *s, int (*take)(void *user, const struct xch_item *item), void *user, struct tkm_err *err);

#endif
