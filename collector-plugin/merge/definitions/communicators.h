/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of all files. Those that are the same in several files become one in the trace. */
#ifndef COLLECTOR_PLUGIN_MERGE_DEFINITIONS_COMMUNICATORS_H
#define COLLECTOR_PLUGIN_MERGE_DEFINITIONS_COMMUNICATORS_H

#include "collector-plugin/merge/common/types.h"

/* A communicator of the trace. */
struct vt_merge_communicator {
	char *name;
	uint32_t *
		member; /* processes, by rank; of an intercommunicator first the group with the lowest process. VT_MERGE_STRANGER:
	                   * not one of the trace */
	uint32_t n, left; /* number of members; of the first group, 0 where there is one group only */
	int both;         /* it has got names from both groups */
};

enum { VT_MERGE_STRANGER = 0xffff };

/* A communicator as one file defines it. */
struct vt_merge_comm {
	uint32_t id;                /* in the trace; 0: it is not defined */
	uint32_t own, n_own;        /* the own group: its place among the members, and its size */
	uint32_t remote, n_remote;  /* the other group; where there is none, the own group */
	struct vt_raw_comm_def def; /* ranks: all of them, of the file's definitions; until they are numbered */
	char *name;
	uint32_t seen; /* ranges so far */
};

/* Takes in a definition of a file. Returns 0, or -1 if there is no memory. */
int vt_merge_see_communicator(struct vt_merge_file *f, const struct vt_raw_def *d);
/* Called when all definitions have been taken in: numbers the communicators and writes them. Returns 0 or -1. */
int vt_merge_write_communicators(struct vt_merge *m);
void vt_merge_communicators_free(struct vt_merge *m);

static inline const struct vt_merge_comm *vt_merge_comm(const struct vt_merge_file *f, uint32_t id)
{
	return id < f->n_comms && f->comms[id].id ? &f->comms[id] : NULL;
}

/* The process that has the peer's rank; VT_MERGE_STRANGER: it is none of the trace. */
static inline uint32_t vt_merge_peer(const struct vt_merge *m, const struct vt_merge_comm *c, int32_t rank)
{
	return rank >= 0 && (uint32_t)rank < c->n_remote ? m->communicator[c->id - 1].member[c->remote + (uint32_t)rank]
							 : VT_MERGE_STRANGER;
}

#endif
