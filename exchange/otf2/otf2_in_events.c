/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one event of an OTF2 archive to the STF trace. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static uint64_t stamp(const struct xch_otf2_in *o, OTF2_TimeStamp time)
{
	return time < o->offset ? 0 : (time - o->offset) / o->divide;
}

enum { BEYOND = 1, MAX_IOS = 4096 };

/* The event refers to an undefined id, or has a value that its definition does not allow. */
static int refuse_reference(struct xch_otf2_in *o)
{
	o->beyond++;
	return BEYOND;
}

static int enter(struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v)
{
	uint32_t k = xch_map_find(&o->region_of, (uint32_t)v->a[0]);
	struct stf_enter_function e = { .time = stamp(o, v->time), .willy = l->willy, .function = k + 1 };

	if (k == XCH_NONE) {
		l->dropped++;
		return refuse_reference(o);
	}
	l->depth++;
	return xch_build_written(o->b, stf_write_enter_function(o->in->w, &e));
}

static int leave(struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v)
{
	struct stf_leave_function e = { .time = stamp(o, v->time), .willy = l->willy };

	/* the end of a call that was left out; the end of another one has no need of a region */
	if (l->dropped && xch_map_find(&o->region_of, (uint32_t)v->a[0]) == XCH_NONE) {
		l->dropped--;
		return refuse_reference(o);
	}
	xch_otf2_coll_leave(o, l);
	return xch_build_written(o->b, stf_write_leave_function(o->in->w, &e));
}

/* One half of a message: the rank of the other side, communicator, tag, size. */
static int message(struct xch_otf2_in *o, const struct in_location *l, const struct xch_otf2_event *v)
{
	uint32_t k = xch_map_find(&o->comm_of, (uint32_t)v->a[1]), other;
	const struct in_comm *c = k == XCH_NONE ? NULL : &((struct in_comm *)o->comms.v)[k];
	struct xch_half h = { .receive = v->kind == OTF2_EVENT_RECEIVE,
		.tag = (uint32_t)v->a[2],
		.time = stamp(o, v->time),
		.size = xch_build_bytes(o->b, v->a[3]) };

	if (!c || v->a[0] >= c->n) {
		return refuse_reference(o);
	}
	other = c->willy[v->a[0]];
	h.communicator = c->id;
	h.from = h.receive ? other : l->willy;
	h.to = h.receive ? l->willy : other;
	return xch_build_half(o->b, &h);
}

/* A put, or a get: a message from begin to end, also that of a copy to or from a GPU. */
static int rma_begin(struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v)
{
	uint32_t w = xch_map_find(&o->window_of, (uint32_t)v->a[0]), k, other;
	const uint64_t key[2] = { v->a[0], v->a[3] };
	const struct in_comm *c;
	struct in_rmas *of;
	struct in_rma *op;
	struct xch_half h = { .time = stamp(o, v->time), .size = xch_build_bytes(o->b, v->a[2]) };

	k = w == XCH_NONE ? XCH_NONE : xch_map_find(&o->comm_of, ((struct in_window *)o->windows.v)[w].comm);
	c = k == XCH_NONE ? NULL : &((struct in_comm *)o->comms.v)[k];
	if (!c || v->a[1] >= c->n) {
		return refuse_reference(o);
	}
	other = c->willy[v->a[1]];
	h.from = v->kind == OTF2_EVENT_PUT ? l->willy : other;
	h.to = v->kind == OTF2_EVENT_PUT ? other : l->willy;
	h.communicator = ((struct in_window *)o->windows.v)[w].id;
	h.id = ++o->rma_ops;
	of = tkm_table_put(&l->rma, key, sizeof(key), sizeof(*of));
	op = of ? TKM_APPEND(of->op, of->n) : NULL;
	if (!op) {
		return xch_fail_memory(o->err, o->in->path);
	}
	*op = (struct in_rma){ h.id, h.from, h.to, h.communicator, h.size };
	return xch_build_half(o->b, &h);
}

/* The last operation of that number in that window has ended. Its end there may come after its end here. */
static int rma_end(struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v)
{
	const uint64_t key[2] = { v->a[0], v->a[1] };
	struct in_rmas *of = tkm_table_find(&l->rma, key, sizeof(key));
	const struct in_rma *op;
	struct xch_half h = { .time = stamp(o, v->time), .receive = 1 };

	if (!of) {
		return v->a[2] ? 0 : refuse_reference(o);
	}
	op = &of->op[--of->n];
	h.id = op->half;
	h.from = op->from;
	h.to = op->to;
	h.communicator = op->communicator;
	h.size = op->bytes;
	if (of->n == 0) {
		free(of->op);
		tkm_table_remove(&l->rma, of);
	}
	return xch_build_half(o->b, &h);
}

static int is_real(OTF2_Type type)
{
	return type == OTF2_TYPE_DOUBLE || type == OTF2_TYPE_FLOAT;
}

/* Converts the number in `bits` to the type of its STF counter. Returns 0 if that type cannot represent it. */
static int convert_value(OTF2_Type type, uint64_t bits, OTF2_Type want, uint64_t *value)
{
	int negative = type == OTF2_TYPE_INT64 && (int64_t)bits < 0;
	double d;

	*value = bits;
	if (is_real(type) == is_real(want)) {
		return is_real(type) || (type == OTF2_TYPE_INT64) == (want == OTF2_TYPE_INT64) || bits <= INT64_MAX;
	}
	if (is_real(want)) {
		d = negative ? (double)(int64_t)bits : (double)bits;
		memcpy(value, &d, sizeof(d));
		return fabs(d) <= 0x1p53;
	}
	memcpy(&d, &bits, sizeof(d));
	if (!(fabs(d) <= 0x1p53) || d != trunc(d) || (d < 0 && want != OTF2_TYPE_INT64)) {
		return 0;
	}
	*value = (uint64_t)(int64_t)d;
	return 1;
}

static int metric(struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v)
{
	const struct in_metric *m = o->metrics.v;
	const struct in_member *member = o->members.v;
	uint32_t k = xch_map_find(&o->metric_of, (uint32_t)v->a[0]), ids[UINT8_MAX], i, count = 0;
	uint64_t values[UINT8_MAX];
	struct stf_counter_value r = { .time = stamp(o, v->time), .values = values, .counters = ids };

	r.willy = k != XCH_NONE && m[k].willy ? m[k].willy : l->willy;
	if (r.willy == STF_GROUP(0)) {
		if (xch_otf2_in_own_group(o, l) < 0) {
			return -1;
		}
		r.willy = l->willy;
	}
	if (k != XCH_NONE && m[k].of != XCH_NONE) {
		k = xch_map_find(&o->metric_of, m[k].of);
	}
	if (k == XCH_NONE || m[k].of != XCH_NONE || v->n > m[k].n) {
		return refuse_reference(o);
	}
	for (i = 0; i < v->n; i++) {
		uint32_t at = xch_map_find(&o->member_of, m[k].member[i]);

		if (at != XCH_NONE) {
			if (!convert_value(v->types[i], v->values[i], member[at].type, &values[count])) {
				return refuse_reference(o);
			}
			ids[count++] = at + 1;
		}
	}
	r.size_1_2 = count;
	return xch_build_written(o->b, count ? stf_write_counter_value(o->in->w, &r) : 0);
}

static int io_begin(struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v)
{
	uint32_t k = xch_map_find(&o->handle_of, (uint32_t)v->a[0]);
	struct stf_file_io_begin r = {
		.time = stamp(o, v->time), .willy = l->willy, .file = k + 1, .bytes = xch_build_bytes(o->b, v->a[2])
	};
	struct in_io *op;
	uint32_t i;

	if (k == XCH_NONE) {
		return refuse_reference(o);
	}
	r.type = v->a[1] == OTF2_IO_OPERATION_MODE_READ;
	/* of operations with the same number the last one counts */
	for (i = 0; i < l->n_ios && l->io[i].id != v->a[3]; i++) {
	}
	if (i < MAX_IOS) {
		op = i < l->n_ios ? &l->io[i] : TKM_APPEND(l->io, l->n_ios);
		if (!op) {
			return xch_fail_memory(o->err, o->in->path);
		}
		*op = (struct in_io){ v->a[3], r.type };
	}
	return xch_build_written(o->b, stf_write_file_io_begin(o->in->w, &r));
}

static int io_end(struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v)
{
	uint32_t k = xch_map_find(&o->handle_of, (uint32_t)v->a[0]);
	struct stf_file_io_end r = {
		.time = stamp(o, v->time), .willy = l->willy, .file = k + 1, .bytes = xch_build_bytes(o->b, v->a[2])
	};
	uint32_t i;

	if (k == XCH_NONE) {
		return refuse_reference(o);
	}
	for (i = 0; i < l->n_ios && l->io[i].id != v->a[3]; i++) {
	}
	if (i < l->n_ios) {
		r.type = l->io[i].type;
		l->io[i] = l->io[--l->n_ios];
	}
	return xch_build_written(o->b, stf_write_file_io_end(o->in->w, &r));
}

/* Returns 0, -1, or BEYOND. */
static int write_event(struct xch_otf2_in *o, const struct xch_otf2_event *v)
{
	struct in_location *l = xch_otf2_in_location(o, v->location);
	int rc;

	if (!l) {
		return refuse_reference(o);
	}
	switch (v->kind) {
	case OTF2_EVENT_ENTER:
		return enter(o, l, v);
	case OTF2_EVENT_LEAVE:
		return leave(o, l, v);
	case OTF2_EVENT_SEND:
	case OTF2_EVENT_RECEIVE:
		return message(o, l, v);
	case OTF2_EVENT_COLL_BEGIN:
	case OTF2_EVENT_COLL_REQUEST:
		return xch_otf2_coll_begin(o, l, stamp(o, v->time), v->kind == OTF2_EVENT_COLL_BEGIN, v->a[0]);
	case OTF2_EVENT_COLL_END:
	case OTF2_EVENT_COLL_COMPLETE:
		rc = xch_otf2_coll_end(o, l, v, stamp(o, v->time), v->kind == OTF2_EVENT_COLL_END);
		return rc > 0 ? refuse_reference(o) : rc;
	case OTF2_EVENT_METRIC:
		return metric(o, l, v);
	case OTF2_EVENT_IO_BEGIN:
		return io_begin(o, l, v);
	case OTF2_EVENT_IO_END:
		return io_end(o, l, v);
	case OTF2_EVENT_PUT:
	case OTF2_EVENT_GET:
		return rma_begin(o, l, v);
	case OTF2_EVENT_RMA_DONE:
		return rma_end(o, l, v);
	default:
		return 0;
	}
}

int xch_otf2_in_event(struct xch_otf2_in *o, const struct xch_otf2_event *v)
{
	int rc;

	/* events come in the order of time: if the first one is before the archive's zero, it is the zero */
	o->first = o->first < v->time ? o->first : v->time;
	if (v->time == o->first && v->time < o->offset) {
		snprintf(o->in->note, sizeof(o->in->note),
			"the archive's time begins at %" PRIu64 ", after its first event at %" PRIu64
			", which is at 0 here",
			o->offset, v->time);
		o->offset = v->time;
	}
	rc = write_event(o, v);

	if (rc == BEYOND) {
		return 0;
	}
	o->handled++;
	o->failed |= rc < 0;
	return rc;
}
