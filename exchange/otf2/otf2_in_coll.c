/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations: OTF2 stores the part of each member, STF stores one record for all members. The k-th
 * operation of a member on a communicator is the same as the k-th of every other member. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <stdlib.h>
#include <string.h>

static struct in_coll *new_coll(uint32_t n)
{
	struct in_coll *k = calloc(1, sizeof(*k) + (size_t)n * 24);

	if (k) {
		k->start = (uint64_t *)(k + 1);
		k->end = k->start + n;
		k->sent = (uint32_t *)(k->end + n);
		k->received = k->sent + n;
		memset(k->start, 0xff, n * sizeof(*k->start));
		k->root = OTF2_UNDEFINED_UINT32;
	}
	return k;
}

/* Finds the operation with this number, or makes it. */
static struct in_coll *numbered(struct in_comm *c, uint64_t number)
{
	struct in_coll **k = &c->open;
	uint64_t i;

	if (number < c->first) {
		return NULL;
	}
	for (i = c->first;; i++, k = &(*k)->next) {
		if (!*k && !(*k = new_coll(c->n))) {
			return NULL;
		}
		if (i == number) {
			return *k;
		}
	}
}

static int declare(struct xch_otf2_in *o, OTF2_CollectiveOp op, uint8_t *type)
{
	const char *name = xch_otf2_collective_name(op, type);
	struct stf_collective_operation_definition d = { .id = (uint8_t)(op + 1), .type = *type };
	char text[60];

	if (op >= sizeof(o->op_known) || o->op_known[op]) {
		return 0;
	}
	o->op_known[op] = 1;
	snprintf(text, sizeof(text), "MPI_%s", name);
	d.name = text;
	d.size_1_1 = (uint32_t)strlen(text);
	return stf_write_collective_operation_definition(o->in->w, &d);
}

static int write_by_kind(
	struct xch_otf2_in *o, const struct in_comm *c, const struct in_coll *k, uint8_t type, uint64_t time)
{
	struct stf_all_communication all = { .time = time,
		.communicator = c->id,
		.type = (uint8_t)(k->op + 1),
		.size_1_2 = c->n,
		.start_time = k->start,
		.delta = k->end };
	struct stf_all_to_all_communication each = { .time = time,
		.communicator = c->id,
		.type = all.type,
		.size_1_4 = c->n,
		.start_time = k->start,
		.delta = k->end,
		.send_size = k->sent,
		.receive_size = k->received };
	struct stf_one_to_all_communication out = { .time = time,
		.communicator = c->id,
		.type = all.type,
		.size_1_3 = c->n,
		.start_time = k->start,
		.delta = k->end,
		.receive_size = k->received };
	struct stf_all_to_one_communication in = { .time = time,
		.communicator = c->id,
		.type = all.type,
		.size_1_3 = c->n,
		.start_time = k->start,
		.delta = k->end,
		.send_size = k->sent };
	uint32_t i, sent = 0, received = 0;

	for (i = 0; i < c->n; i++) {
		sent += i != k->root && k->sent[i];
		received += i != k->root && k->received[i];
	}
	/* what a kind has no field for decides: one to all has no bytes sent by others than the root */
	if (k->root < c->n && type == 3 && !received) {
		in.receiver = c->willy[k->root];
		in.recvd = k->received[k->root];
		return stf_write_all_to_one_communication(o->in->w, &in);
	}
	if (k->root < c->n && !sent) {
		out.sender = c->willy[k->root];
		out.sent = k->sent[k->root];
		return stf_write_one_to_all_communication(o->in->w, &out);
	}
	if (k->root < c->n && !received) {
		in.receiver = c->willy[k->root];
		in.recvd = k->received[k->root];
		return stf_write_all_to_one_communication(o->in->w, &in);
	}
	return type == 1 && !sent && !received ? stf_write_all_communication(o->in->w, &all)
					       : stf_write_all_to_all_communication(o->in->w, &each);
}

static int write_first(struct xch_otf2_in *o, struct in_comm *c)
{
	struct in_coll *k = c->open;
	uint64_t time = UINT64_MAX;
	uint8_t type = 0;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < c->n; i++) {
		time = k->start[i] < time ? k->start[i] : time;
	}
	for (i = 0; i < c->n; i++) {
		k->end[i] = k->start[i] == UINT64_MAX ? 0 : k->end[i] - k->start[i];
		k->start[i] -= k->start[i] == UINT64_MAX ? 0 : time;
	}
	if (k->there) {
		rc = declare(o, k->op, &type) < 0 ? -1 : write_by_kind(o, c, k, type, time);
		o->in->records++;
	}
	c->open = k->next;
	c->first++;
	free(k);
	return rc;
}

int xch_otf2_in_collective(struct xch_otf2_in *o, struct in_comm *c, uint32_t rank, OTF2_CollectiveOp op, uint32_t root,
	uint64_t begin, uint64_t end, uint64_t sent, uint64_t received)
{
	struct in_coll *k = numbered(c, c->count[rank]);

	if (!k) {
		return -1;
	}
	c->count[rank]++;
	k->op = op;
	k->root = root;
	k->start[rank] = begin;
	k->end[rank] = end;
	k->sent[rank] = sent > UINT32_MAX ? UINT32_MAX : (uint32_t)sent;
	k->received[rank] = received > UINT32_MAX ? UINT32_MAX : (uint32_t)received;
	k->there++;
	while (c->open && c->open->there == c->n) {
		if (write_first(o, c) < 0) {
			return -1;
		}
	}
	return 0;
}

int xch_otf2_in_collectives_end(struct xch_otf2_in *o)
{
	struct in_comm *c = o->comms.v;
	uint32_t i;

	for (i = 0; i < o->comms.n; i++) {
		while (c[i].open) {
			if (write_first(o, &c[i]) < 0) {
				return -1;
			}
		}
	}
	return 0;
}
