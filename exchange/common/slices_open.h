/* SPDX-License-Identifier: BSD-3-Clause */
/* The open slices of a track. */
#ifndef EXCHANGE_COMMON_SLICES_OPEN_H
#define EXCHANGE_COMMON_SLICES_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/* below, above, same: numbers, from 1, of the next ones that are open; same: the next lower one of that text. */
struct xch_open_slice {
	int64_t time, end;
	uint64_t number;
	uint32_t name, text;
	uint32_t below, above, same;
	int over;
};

/* A stack of slices, from which any can be taken by its text; what is over stays until it is on top. */
struct xch_open_slices {
	struct xch_open_slice *slice;
	size_t n, room;
	uint32_t first;           /* number of the lowest one that is open; the highest one is slice[n - 1] */
	struct tkm_table by_text; /* uint32_t: number of the highest one of a text */
};

/* 0 stands for no slice, and as a text for any. Returns 0 or -1: no memory. */
int xch_open_push(struct xch_open_slices *o, const struct xch_open_slice *slice);
/* The number of the highest slice of that text. */
uint32_t xch_open_find(const struct xch_open_slices *o, uint32_t text);
/* Takes one out that is the highest of its text. */
void xch_open_remove(struct xch_open_slices *o, uint32_t number);
void xch_open_free(struct xch_open_slices *o);

#endif
