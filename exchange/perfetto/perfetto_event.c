/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/perfetto/perfetto_event.h"

#include <string.h>

#include "exchange/perfetto/perfetto_proto.h"

static void take_event_number(struct xch_pft_event *e, const struct xch_proto_field *f)
{
	switch (f->number) {
	case 1:
	case 16:
		e->is_old = 1;
		break;
	case 3:
		e->category_id = e->category_id ? e->category_id : f->v;
		break;
	case 9:
		e->type = f->v;
		break;
	case 10:
		e->name_id = f->v;
		break;
	case 11:
		e->has_track = 1;
		e->track = f->v;
		break;
	case 12:
		e->others++;
		break;
	case 30:
		e->has_value = 1;
		e->value = (double)(int64_t)f->v;
		break;
	default:
		break;
	}
}

int xch_pft_parse_event(const struct xch_pft_part *part, struct xch_pft_event *e)
{
	const unsigned char *at = part->p;
	struct xch_proto_field f;
	int rc;

	memset(e, 0, sizeof(*e));
	while ((rc = xch_proto_next(&at, part->p + part->n, &f)) > 0) {
		struct xch_pft_part text = { f.p, f.n };

		if (f.wire == XCH_PROTO_VARINT) {
			take_event_number(e, &f);
		} else if (f.wire == XCH_PROTO_64 && f.number == 44) {
			e->has_value = 1;
			memcpy(&e->value, f.p, sizeof(e->value));
		} else if (f.wire == XCH_PROTO_BYTES) {
			e->legacy = f.number == 6 ? text : e->legacy;
			e->category = f.number == 22 && !e->category.p ? text : e->category;
			e->name = f.number == 23 ? text : e->name;
			e->others += f.number == 12 || f.number == 46;
		}
	}
	return rc;
}

int xch_pft_parse_legacy(const struct xch_pft_part *part, struct xch_pft_legacy *l)
{
	const unsigned char *at = part->p;
	struct xch_proto_field f;
	int rc = 0;

	memset(l, 0, sizeof(*l));
	while (at && (rc = xch_proto_next(&at, part->p + part->n, &f)) > 0) {
		if (f.wire != XCH_PROTO_VARINT) {
			continue;
		}
		l->name_id = f.number == 1 ? f.v : l->name_id;
		l->phase = f.number == 2 ? f.v : l->phase;
		l->bind_id = f.number == 8 ? f.v : l->bind_id;
		l->flow = f.number == 13 && f.v <= 3 ? (unsigned)f.v : l->flow;
		l->duration_us = f.number == 3 ? (int64_t)f.v : l->duration_us;
		if (f.number == 6 || f.number == 10 || f.number == 11) {
			l->is_local = f.number == 10;
			l->id = f.v;
		}
	}
	return rc;
}
