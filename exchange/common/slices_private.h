/* SPDX-License-Identifier: BSD-3-Clause */
/* What slices.c and slices_write.c share; before it, slices.h is to be included. */
#ifndef EXCHANGE_COMMON_SLICES_PRIVATE_H
#define EXCHANGE_COMMON_SLICES_PRIVATE_H

#include "exchange/common/build.h"
#include "exchange/common/slices_open.h"
#include "exchange/common/sort.h"

/* At one time ends come first, and then what begins, the longest first. A slice without length has no end of its own: it belongs
 * before, between or among them, as its place in the file says. */
enum item_rank { SPOT_BEFORE, AT_END, SPOT_BETWEEN, AT_BEGIN, AT_LAST };
enum item_kind { SPAN_BEGIN, SPAN_END, SPAN_SPOT, ASYNC_BEGIN, ASYNC_END, VALUE, FLOW, SEND, RECEIVE, COMMENT };

enum { LOSSES = 16, FLOWS = 1 }; /* the number of the communicator */

struct xch_slice_track {
	const char *process, *thread; /* keys of tables */
	uint32_t willy;
	struct xch_open_slices open; /* while reading by begins and ends, and again while writing */
	int64_t last_end;
};

struct xch_slice_name {
	char *cls, *text, *unit;
	uint32_t text_number; /* equal texts have one */
	uint32_t function, scope, counter;
	unsigned type; /* of the counter */
};

/* A flow from its first end to its last. An id that is used again is another flow. */
struct xch_flow {
	uint64_t number, step; /* step: how often it went on */
	int begun, ended;
};

/* One of no track. */
struct async_slice {
	uint32_t track, name, number;
};

struct async_stack {
	struct async_slice *slice;
	size_t n, room;
};

struct xch_slices {
	struct xch_input *in;
	struct tkm_err *err;
	struct xch_build *b;
	struct xch_sort *sort;
	struct xch_slice_track *track;
	struct xch_slice_name *name;
	uint32_t tracks, names;
	struct tkm_table by_track, by_name, by_text; /* numbers of them, from 1 */
	struct tkm_table titles;                     /* char * by process, or process and thread */
	struct tkm_table async;                      /* struct async_stack by key */
	struct tkm_table going;                      /* struct xch_flow by id: flows of which an end is missing */
	uint64_t number, unmatched, overlaps, endless, backward, flows, flow_numbers, halves;
	uint32_t async_number;
	int64_t least, most;
	struct {
		const char *what;
		uint64_t n;
	} lost[LOSSES];
};

/* Returns -1 with *err. */
int xch_slices_no_memory(const struct xch_slices *s);
/* "": it has none. */
const char *xch_slices_title_of(struct xch_slices *s, const char *process, const char *thread);
/* Both ends of a slice. spot: where it belongs if it has no length. */
int xch_slices_put_span(
	struct xch_slices *s, uint32_t track, const struct xch_open_slice *o, int64_t to, enum item_rank spot);

#endif
