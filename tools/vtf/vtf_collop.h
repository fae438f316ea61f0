/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations as conventional lines of VTF, one for each member. The functions split an operation into
 * lines, and combine lines into an operation. */
#ifndef TOOLS_VTF_VTF_COLLOP_H
#define TOOLS_VTF_VTF_COLLOP_H

#include "tools/vtf/vtf_line.h"

/* The line of one member. */
struct vtf_share {
	uint32_t willy;
	/* start: UINT64_MAX if unknown; in vtf_collop_split() relative to the operation's start */
	uint64_t start, delta;
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

/* The word after KIND for a class of records; the second function is the inverse, 0: none. */
const char *vtf_collop_kind(unsigned class_id);
unsigned vtf_collop_class(const char *kind);

/* Splits a record. Returns 0: it cannot be split, because its communicator is not declared, or has another number
 * of members than the record's arrays, or lacks the root; -1: no memory. After 1 the caller frees c->share. */
int vtf_collop_split(const struct stf_reader *r, const struct stf_record *rec, struct vtf_collop *c);

/* Lines that wait for the lines of other members. */
struct vtf_collops {
	void *operations, *communicators, *seen; /* trees */
	uint64_t next;                           /* PAIR of the operation that is written next */
};

/* Handles a GLOBALOP line, and writes the operations that it completes. Returns -1 and says why in l->why. */
int vtf_collops_line(struct vtf_collops *o, struct vtf_line *l, uint64_t time, struct stf_writer *w);
/* Remembers a DEFCOMM, for lines that do not give the number of members. -1: no memory. */
int vtf_collops_communicator(struct vtf_collops *o, const struct stf_record *rec);
/* Called at the end of the text. Writes the operations that only waited for their turn; an operation with missing
 * lines is an error. */
int vtf_collops_end(struct vtf_collops *o, struct stf_writer *w, char *why, size_t size);
void vtf_collops_free(struct vtf_collops *o);

#endif
