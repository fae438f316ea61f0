/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes for what overlaps. Functions of a thread are a stack, but scopes, collective operations and operations on files
 * may end in any order. In a lane at most one of them is open, so formats that have stacks only can show it. */
#ifndef EXCHANGE_COMMON_LANES_H
#define EXCHANGE_COMMON_LANES_H

#include "exchange/common/format.h"

struct xch_lane {
	enum xch_kind begin; /* XCH_SCOPE_BEGIN, XCH_COLL_BEGIN or XCH_IO_BEGIN */
	uint32_t nth;        /* among the lanes of its kind, from 0 */
	uint64_t opened;     /* a number for this one, the same at begin and end; 0: none is open here */
	const struct xch_named *what;
	uint64_t number; /* of the scope or of the operation */
	uint64_t user;   /* of the format, 0 at first */
};

/* The lanes of a place, zero at first. */
struct xch_lanes {
	struct xch_lane *lane;
	uint32_t n;
	uint64_t begun, ended; /* ended: `opened` of the last one that ended */
};

/* Does an event of this kind begin, or end, one of them? */
int xch_lane_begins(enum xch_kind k);
int xch_lane_ends(enum xch_kind k);
/* The lane of an event that begins one. Returns NULL when out of memory. */
struct xch_lane *xch_lane_begin(struct xch_lanes *l, const struct xch_event *e);
/* The lane of an event that ends one, which is free from now on. Of several alike the last scope ends, as calls do, but
 * the first operation on a file, as files complete them. NULL: none was begun. */
struct xch_lane *xch_lane_end(struct xch_lanes *l, const struct xch_event *e);
void xch_lanes_free(struct xch_lanes *l);

#endif
