/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines sends and receives into messages. */
#ifndef TOOLS_VTF_VTF_PAIRS_H
#define TOOLS_VTF_VTF_PAIRS_H

#include <stddef.h>

#include "base/table.h"
#include "include/stf.h"

/* A SENDMSG or RECVMSG line; only its side of m is filled in. */
struct vtf_half {
	uint64_t time, pair;
	int receive, has_pair;
	int incarnation; /* bits: 1 has source locations, 2 has checksums */
	struct stf_one_to_one_communication_4 m;
};

/* Messages in the order of their first lines. Complete ones at the front are written at once. Filled with zeros,
 * there are none. */
struct vtf_message;
struct vtf_pairs {
	struct vtf_message *first, *last; /* by order */
	struct tkm_table incomplete;      /* lists of messages, by what the other half must have */
};

/* Returns -1 and says why in `why`. */
int vtf_pairs_add(struct vtf_pairs *p, const struct vtf_half *h, struct stf_writer *w, char *why, size_t size);
/* Writes the messages whose other half is missing. */
int vtf_pairs_end(struct vtf_pairs *p, struct stf_writer *w, char *why, size_t size);
void vtf_pairs_free(struct vtf_pairs *p);

#endif
