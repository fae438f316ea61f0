/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits collective operations into lines of VTF, one for each member. */
#include "config.h"
#include "tools/vtf/vtf_collop.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *kind;
	unsigned class_id;
	const char *root, *root_bytes; /* fields */
				       /* clang-format off */
} kinds[] = {
	{ "ALL", STF_ID_all_communication, NULL, NULL },
	{ "ALLTOALL", STF_ID_all_to_all_communication, NULL, NULL },
	{ "ALLTOONE", STF_ID_all_to_one_communication, "receiver", "recvd" },
	{ "ONETOALL", STF_ID_one_to_all_communication, "sender", "sent" },
};
/* clang-format on */
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const char *stt_vtf_collop_kind(unsigned class_id)
{
	int i;

	for (i = 0; i < KINDS && kinds[i].class_id != class_id; i++) {
	}
	return i < KINDS ? kinds[i].kind : NULL;
}

/* ---- members of a communicator: ranges; a damaged one can be almost endless ---- */

static uint64_t range_size(uint32_t first, uint32_t last, int32_t stride)
{
	int64_t way = (int64_t)last - first;

	if (stride == 0 || way == 0) {
		return way == 0;
	}
	return way / stride < 0 ? 0 : (uint64_t)(way / stride) + 1;
}

static uint64_t count_members(const struct stf_communicator_definition *c)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < c->size_2_3; i++) {
		n += range_size(c->first_id[i], c->last_id[i], c->stride[i]);
	}
	return n;
}

/* ---- splitting ---- */

static uint64_t collop_element(const struct stf_record *rec, const char *field, uint32_t i, uint64_t missing)
{
	const struct stf_value *v = stf_value(rec, field);

	if (!v || !v->array || i >= v->count) {
		return missing;
	}
	return !strcmp(field, "start_time") || !strcmp(field, "delta") ? ((const uint64_t *)v->array)[i]
								       : ((const uint32_t *)v->array)[i];
}

/* Computes the shares of the members; returns whether the root is among them. */
static int fill_shares(struct stt_vtf_collop *c, const struct stf_record *rec,
	const struct stf_communicator_definition *comm, int kind)
{
	uint32_t i, k, n = 0, bytes = kinds[kind].root ? (uint32_t)stf_value(rec, kinds[kind].root_bytes)->u : 0;
	uint64_t j, size;
	int found = !kinds[kind].root;

	for (i = 0; i < comm->size_2_3; i++) {
		size = range_size(comm->first_id[i], comm->last_id[i], comm->stride[i]);
		for (j = 0; j < size; j++, n++) {
			struct stt_vtf_share *s = &c->share[n];

			k = (uint32_t)(comm->first_id[i] + (int64_t)j * comm->stride[i]);
			*s = (struct stt_vtf_share){ k, collop_element(rec, "start_time", n, UINT64_MAX),
				collop_element(rec, "delta", n, 0), (uint32_t)collop_element(rec, "send_size", n, 0),
				(uint32_t)collop_element(rec, "receive_size", n, 0),
				(uint32_t)collop_element(rec, "scl", n, 0) };
			if (c->has_root && k == c->root) {
				found = 1;
				*(kinds[kind].class_id == STF_ID_all_to_one_communication ? &s->recvd : &s->sent) =
					bytes;
			}
		}
	}
	return found;
}

int stt_vtf_collop_split(const struct stf_reader *r, const struct stf_record *rec, struct stt_vtf_collop *c)
{
	const struct stf_value *starts = stf_value(rec, "start_time");
	struct stf_communicator_definition comm;
	const struct stf_record *def;
	uint32_t i;
	int kind;

	for (kind = 0; kind < KINDS && kinds[kind].class_id != rec->layout->class_id; kind++) {
	}
	*c = (struct stt_vtf_collop){ .class_id = rec->layout->class_id,
		.has_scl = stf_value(rec, "scl") != NULL,
		.time = rec->time,
		.communicator = (uint32_t)stf_value(rec, "communicator")->u,
		.type = (uint32_t)stf_value(rec, "type")->u,
		.n = starts->count };
	c->has_root = kind < KINDS && kinds[kind].root != NULL;
	c->root = c->has_root ? (uint32_t)stf_value(rec, kinds[kind].root)->u : 0;
	def = stf_reader_find(r, STF_ID_communicator_definition, c->communicator);
	if (kind == KINDS || !def || stf_get_communicator_definition(def, &comm) < 0 || count_members(&comm) != c->n ||
		c->n == 0) {
		return 0;
	}
	c->share = calloc(c->n, sizeof(*c->share));
	if (!c->share) {
		return -1;
	}
	if (!fill_shares(c, rec, &comm, kind)) {
		free(c->share);
		return 0;
	}
	for (i = 0; i < c->n; i++) {
		if (c->share[i].start != UINT64_MAX && c->share[i].start > UINT64_MAX - c->time) {
			free(c->share);
			return 0;
		}
	}
	return 1;
}
