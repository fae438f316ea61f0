/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations as conventional lines of VTF, one for each member: split, and put together again. */
#ifndef TOOLS_VTF_COLLOP_H
#define TOOLS_VTF_COLLOP_H

#include "tools/vtf_line.h"

/* One member's line. */
struct vtf_share {
	uint32_t willy;
	uint64_t start, delta; /* start: UINT64_MAX unknown; in vtf_collop_split() since the operation's */
	uint32_t sent, recvd, scl;
};

/* What all lines of an operation have in common. */
struct vtf_collop {
	unsigned class_id; /* STF_ID_all_communication, ... */
	int has_scl, has_root;
	uint64_t time;
	uint32_t communicator, type, root, n; /* n members */
	struct vtf_share *share;
};

/* The word after KIND for a class of records; and the other way round, 0: none. */
const char *vtf_collop_kind(unsigned class_id);
unsigned vtf_collop_class(const char *kind);

/* Takes a record apart. 0: it cannot be split, because its communicator is not declared, or has another number of members than
 * its arrays, or lacks its root; -1: no memory. After 1 the caller frees c->share. */
int vtf_collop_split(const struct stf_reader *r, const struct stf_record *rec, struct vtf_collop *c);

/* Lines that wait for those of the other members. */
struct vtf_collops {
	void *operations, *communicators, *seen; /* trees */
	uint64_t next;                           /* PAIR of the operation to be written next */
};

/* A GLOBALOP line. Writes the operations that are complete by it. Returns -1 and says why in l->why. */
int vtf_collops_line(struct vtf_collops *o, struct vtf_line *l, uint64_t time, struct stf_writer *w);
/* Keeps a DEFCOMM, for lines that do not say how many there are. -1: no memory. */
int vtf_collops_communicator(struct vtf_collops *o, const struct stf_record *rec);
/* At the end of the text: writes what waits only for its turn; an operation without all its lines is an error. */
int vtf_collops_end(struct vtf_collops *o, struct stf_writer *w, char *why, size_t size);
void vtf_collops_free(struct vtf_collops *o);

#endif
