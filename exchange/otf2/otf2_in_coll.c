/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs the begins and ends of the collective operations of a location. Those that do not block may end in any order.
 * All members begin the operations of a communicator in the same order, so the k-th that a member has begun there is the
 * k-th of each other member. The end names the communicator, so an operation waits until those begun before it have
 * ended. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MAX_OPEN = 4096 }; /* begins that may wait for their end */
enum { NON_BLOCKING = 128 };

/* Declares a collective operation at its first use. Returns its kind, or -1. */
static int declare_operation(struct xch_otf2_in *o, OTF2_CollectiveOp op, int blocking)
{
	uint8_t type;
	const char *name = xch_otf2_collective_name(op, &type);
	struct stf_collective_operation_definition d = { .id = (uint8_t)(op + 1 + (blocking ? 0 : NON_BLOCKING)),
		.type = type };
	char text[60];

	if (op >= sizeof(o->op_known) / 2 || o->op_known[2 * op + !blocking]) {
		return type;
	}
	o->op_known[2 * op + !blocking] = 1;
	snprintf(text, sizeof(text), blocking ? "MPI_%s" : "MPI_I%s", name);
	text[5] |= blocking ? 0 : 'a' - 'A'; /* MPI_Ibcast */
	d.name = text;
	d.size_1_1 = (uint32_t)strlen(text);
	return stf_write_collective_operation_definition(o->in->w, &d) < 0 ? xch_input_stf(o->in, o->err) : type;
}

static struct in_comm *comm_of(const struct xch_otf2_in *o, const struct in_location *l, uint64_t ref, uint32_t *rank)
{
	uint32_t k = xch_map_find(&o->comm_of, (uint32_t)ref);
	struct in_comm *c = k == XCH_NONE ? NULL : &((struct in_comm *)o->comms.v)[k];

	for (*rank = 0; c && *rank < c->n && c->willy[*rank] != l->willy; ++*rank) {
	}
	return c && *rank < c->n ? c : NULL;
}

static int write_member(struct xch_otf2_in *o, const struct in_location *l, const struct in_coll *q)
{
	struct xch_build_member m = { .time = q->begin, .sent = q->a[3], .received = q->a[4], .by_bytes = 1 };
	uint32_t rank;
	struct in_comm *c = comm_of(o, l, q->a[1], &rank);
	int what = declare_operation(o, (OTF2_CollectiveOp)q->a[0], !q->request);

	m.what = (uint8_t)what;
	m.operation = (uint8_t)(q->a[0] + 1 + (q->request ? NON_BLOCKING : 0));
	m.id = c->count[rank]++;
	m.willy = l->willy;
	m.rank = rank;
	m.communicator = c->id;
	m.members = c->n;
	m.root_rank = (uint32_t)q->a[2];
	m.root = q->a[2] < c->n ? c->willy[q->a[2]] : 0;
	if (what < 0 || xch_build_member(o->b, &m) < 0) {
		return -1;
	}
	m.time = q->end;
	m.end = 1;
	return xch_build_member(o->b, &m);
}

/* Writes the operations that have ended, up to the first one that has not. With `all`, it drops those that have not. */
static int write_ended(struct xch_otf2_in *o, struct in_location *l, int all)
{
	uint32_t i, kept = 0;
	int rc = 0, wait = 0;

	for (i = 0; i < l->n_colls && rc == 0; i++) {
		struct in_coll *q = &l->coll[i];

		wait |= !q->ended && !q->left && !all;
		if (q->ended && !wait) {
			rc = write_member(o, l, q);
		} else if (all || (i == 0 && l->n_colls > MAX_OPEN)) {
			o->begun_only++;
			wait = 0;
		} else {
			l->coll[kept++] = *q;
		}
	}
	l->n_colls = rc == 0 ? kept : 0;
	return rc;
}

int xch_otf2_coll_begin(struct xch_otf2_in *o, struct in_location *l, uint64_t time, int blocking, uint64_t id)
{
	if (TKM_GROW(l->coll, l->coll_room, l->n_colls + 1) < 0) {
		return xch_fail_memory(o->err, o->in->path);
	}
	l->coll[l->n_colls++] = (struct in_coll){ .begin = time, .request = !blocking, .id = id, .depth = l->depth };
	return l->n_colls > MAX_OPEN ? write_ended(o, l, 0) : 0;
}

void xch_otf2_coll_leave(struct xch_otf2_in *o, struct in_location *l)
{
	uint32_t i;

	/* stftool once wrote operations that do not block as such pairs */
	for (i = 0; i < l->n_colls && !o->ours; i++) {
		l->coll[i].left |= !l->coll[i].request && l->coll[i].depth >= l->depth;
	}
	l->depth -= l->depth > 0;
}

int xch_otf2_coll_end(
	struct xch_otf2_in *o, struct in_location *l, const struct xch_otf2_event *v, uint64_t time, int blocking)
{
	struct in_coll *q, *found = NULL, *end = l->coll + l->n_colls;
	uint32_t rank;

	/* the first one that fits, rather than one whose region was left without an end */
	for (q = l->coll; q < end; q++) {
		if (!q->ended && q->request == !blocking && (blocking || q->id == v->a[5]) &&
			(!found || (found->left && !q->left))) {
			found = q;
		}
	}
	if (!comm_of(o, l, v->a[1], &rank) || !found) {
		if (found) {
			found->left = 1;
		}
		return 1;
	}
	found->ended = 1;
	found->end = time;
	memcpy(found->a, v->a, sizeof(found->a));
	return write_ended(o, l, 0);
}

int xch_otf2_coll_rest(struct xch_otf2_in *o)
{
	struct in_location *l = o->locations.v;
	uint32_t i;

	for (i = 0; i < o->locations.n; i++) {
		if (write_ended(o, &l[i], 1) < 0) {
			return -1;
		}
	}
	return 0;
}
