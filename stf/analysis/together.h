/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays collective operations: each member gets from the others what it needs, once they have begun. */
#ifndef STF_ANALYSIS_TOGETHER_H
#define STF_ANALYSIS_TOGETHER_H

#include "stf/analysis/threads.h"

/* The parts of all members of an operation. */
struct stf_parts {
	uint64_t time;
	const uint64_t *start, *delta;
	const uint32_t *bytes; /* NULL: none */
	uint32_t n, root;      /* root: a willy */
	uint32_t communicator;
	uint8_t type;
	const uint32_t *willy; /* of the members */
};

struct stf_together;

struct stf_begin {
	uint64_t time;
	struct stf_together *of;
	uint32_t member;
};

/* The begins of members that were not passed yet; the first one is first. */
struct stf_begins {
	struct stf_begin *heap;
	size_t n, room;
};

/* Takes an operation in which the member `root` has a part of its own; n: none has. Returns 0 or -1: no memory. */
int stf_begins_add(struct stf_begins *b, const struct stf_parts *p, enum stf_wait_kind kind, uint32_t root);
/* All members that begin before `time` have begun. */
int stf_begins_pass(struct stf_begins *b, struct stf_threads *t, uint64_t time);
void stf_begins_free(struct stf_begins *b);

static inline int stf_begins_due(const struct stf_begins *b, uint64_t time)
{
	return b->n && b->heap[0].time < time;
}

#endif
