/* SPDX-License-Identifier: BSD-3-Clause */
/* How the raw file defines a communicator. */
#ifndef COLLECTOR_PLUGIN_RAW_COMMUNICATOR_H
#define COLLECTOR_PLUGIN_RAW_COMMUNICATOR_H

#include <stdint.h>

enum vt_raw_comm_kind {
	VT_RAW_COMM_WORLD = 1,
	VT_RAW_COMM_SELF = 2,
	/* all members of the parent make it together: identified by parent, number and lowest member */
	VT_RAW_COMM_COLLECTIVE = 3,
	/* only its members make it: identified by its members, the tag, and how many such communicators came before */
	VT_RAW_COMM_GROUP = 4,
	/* another name for a communicator that is already defined */
	VT_RAW_COMM_RENAMED = 5,
};

enum { VT_RAW_COMM_NAME = 128 };

/* Ranks in MPI_COMM_WORLD: first, first + stride ... last. -1: processes that are not in it. */
struct vt_raw_ranks {
	int32_t first, last, stride;
};

struct vt_raw_comm_def {
	uint32_t id, parent; /* parent 0: none */
	uint32_t kind, number;
	int32_t tag;
	uint32_t inter;    /* an intercommunicator: two groups, the own one first */
	uint32_t n_own, n; /* ranges of the own group, and of both */
	uint32_t at;       /* the first of these ranges is the at-th: long lists are in several definitions */
	const struct vt_raw_ranks *ranks;
	const char *name; /* that of the last of several definitions with the same id */
};

#endif
