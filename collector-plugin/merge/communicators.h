/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of all files, of which each is one in the trace. */
#ifndef COLLECTOR_PLUGIN_MERGE_COMMUNICATORS_H
#define COLLECTOR_PLUGIN_MERGE_COMMUNICATORS_H

#include "collector-plugin/merge/types.h"

/* One of the trace. */
struct vt_merge_communicator {
	char *name;
	uint32_t *
		member; /* processes, by rank; of an intercommunicator first the group with the lowest process. VT_MERGE_STRANGER:
	                   * not one of the trace */
	uint32_t n, left; /* members; of the first group, 0 where there is only one */
	int both;         /* processes of both sides have named it */
};

enum { VT_MERGE_STRANGER = 0xffff };

/* One as a file has defined it. */
struct vt_merge_comm {
	uint32_t id;                /* in the trace; 0: it is not defined */
	uint32_t own, n_own;        /* where its own group is among the members, and how many they are */
	uint32_t remote, n_remote;  /* the other group; the own one where there is only one */
	struct vt_raw_comm_def def; /* ranks: all of them, of the file's definitions; until they are numbered */
	char *name;
	uint32_t seen; /* ranges so far */
};

/* A definition of a file. Returns 0 or -1: no memory. */
int vt_merge_see_communicator(struct vt_merge_file *f, const struct vt_raw_def *d);
/* All definitions are seen: gives them their numbers and writes them. Returns 0 or -1. */
int vt_merge_write_communicators(struct vt_merge *m);
void vt_merge_communicators_free(struct vt_merge *m);

static inline const struct vt_merge_comm *vt_merge_comm(const struct vt_merge_file *f, uint32_t id)
{
	return id < f->n_comms && f->comms[id].id ? &f->comms[id] : NULL;
}

/* The process of a peer's rank; VT_MERGE_STRANGER: none of the trace. */
static inline uint32_t vt_merge_peer(const struct vt_merge *m, const struct vt_merge_comm *c, int32_t rank)
{
	return rank >= 0 && (uint32_t)rank < c->n_remote ? m->communicator[c->id - 1].member[c->remote + (uint32_t)rank]
							 : VT_MERGE_STRANGER;
}

#endif
