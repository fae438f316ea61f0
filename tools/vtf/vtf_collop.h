/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations as conventional lines of VTF, one for each member. */
#ifndef TOOLS_VTF_VTF_COLLOP_H
#define TOOLS_VTF_VTF_COLLOP_H

#include "include/stf.h"

/* The line of one member. */
struct stt_vtf_share {
	uint32_t willy;
	/* start: UINT64_MAX if unknown; in stt_vtf_collop_split() relative to the operation's start */
	uint64_t start, delta;
	uint32_t sent, recvd, scl;
};

/* What all lines of an operation have in common. */
struct stt_vtf_collop {
	unsigned class_id; /* STF_ID_all_communication, ... */
	int has_scl, has_root;
	uint64_t time;
	uint32_t communicator, type, root, n; /* n members */
	struct stt_vtf_share *share;
};

/* The word after KIND for a class of records; NULL: none. */
const char *stt_vtf_collop_kind(unsigned class_id);

/* Splits a record. Returns 0: it cannot be split, because its communicator is not declared, or has another number
 * of members than the record's arrays, or lacks the root; -1: no memory. After 1 the caller frees c->share. */
int stt_vtf_collop_split(const struct stf_reader *r, const struct stf_record *rec, struct stt_vtf_collop *c);

#endif
