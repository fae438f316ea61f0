/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes for what overlaps. */
#include "config.h"
#include "exchange/common/lanes.h"

#include <stdlib.h>

#include "base/grow.h"

int xch_lane_begins(enum xch_kind k)
{
	return k == XCH_SCOPE_BEGIN || k == XCH_COLL_BEGIN || k == XCH_IO_BEGIN;
}

int xch_lane_ends(enum xch_kind k)
{
	return k == XCH_SCOPE_END || k == XCH_COLL_END || k == XCH_IO_END;
}

static uint64_t number_of(const struct xch_event *e)
{
	switch (e->kind) {
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		return e->u.coll.id;
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		return e->u.scope_number;
	default:
		return e->u.io.type;
	}
}

struct xch_lane *xch_lane_begin(struct xch_lanes *l, const struct xch_event *e)
{
	struct xch_lane *k, *end = l->lane + l->n;
	uint32_t nth = 0;

	for (k = l->lane; k < end && (k->opened || k->begin != e->kind); k++) {
		nth += k->begin == e->kind;
	}
	if (k == end) {
		k = TKM_APPEND(l->lane, l->n);
		if (!k) {
			return NULL;
		}
		*k = (struct xch_lane){ .begin = e->kind, .nth = nth };
	}
	k->opened = ++l->begun;
	k->what = e->what;
	k->number = number_of(e);
	return k;
}

struct xch_lane *xch_lane_end(struct xch_lanes *l, const struct xch_event *e)
{
	enum xch_kind begin = e->kind - 1; /* each kind of an end comes after that of its begin */
	struct xch_lane *found = NULL, *k;

	for (k = l->lane; k < l->lane + l->n; k++) {
		if (k->opened && k->begin == begin && k->what == e->what && k->number == number_of(e) &&
			(!found || (k->opened > found->opened) == (begin == XCH_SCOPE_BEGIN))) {
			found = k;
		}
	}
	if (found) {
		l->ended = found->opened;
		found->opened = 0;
	}
	return found;
}

void xch_lanes_free(struct xch_lanes *l)
{
	free(l->lane);
}
