/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of this process, found by their handle. All members of a communicator give it the same name in the trace
 * without a message: each writes from which communicator it was made, the how manyth that was there, and who is in it; the merge
 * recognises it (merge/communicators.c). Included by files that include mpi.h. */
#ifndef COLLECTOR_PLUGIN_MPI_COMMUNICATORS_H
#define COLLECTOR_PLUGIN_MPI_COMMUNICATORS_H

#include <mpi.h>
#include <stdint.h>

#include "collector-plugin/core/thread.h"
#include "collector-plugin/raw/communicator.h"

struct vt_comm {
	MPI_Comm handle;
	uint32_t id; /* in the raw file */
	int inter;
	int rank, size;               /* own rank, and how many in the own group */
	int remote;                   /* size of the other group; size where there is none */
	_Atomic uint32_t *operations; /* collective ones begun so far */
	_Atomic uint32_t own_operations;
	_Atomic uint32_t windows;   /* made on it so far */
	_Atomic uint32_t creations; /* calls that make communicators from it */
	char name[VT_RAW_COMM_NAME];
};

/* MPI is there: defines MPI_COMM_WORLD and MPI_COMM_SELF. */
VT_HIDDEN void vt_comms_begin(struct vt_collect *c);

VT_HIDDEN struct vt_comm *vt_comm_find(MPI_Comm handle);

/* One that was made without our seeing it is defined now. NULL: MPI_COMM_NULL, no memory, or nothing records. */
VT_HIDDEN struct vt_comm *vt_comm_of(MPI_Comm handle);

/* A call that makes communicators of `parent` has begun; for those that all its members make together. Returns its number. */
VT_HIDDEN uint32_t vt_comm_creates(struct vt_comm *parent);
/* It has made `fresh`; MPI_COMM_NULL is nothing. prefix: of its name, section 2.1.5. */
VT_HIDDEN void vt_comm_created(enum vt_raw_comm_kind kind, const char *prefix, const struct vt_comm *parent,
	uint32_t number, int tag, MPI_Comm fresh);
/* It has got a name. */
VT_HIDDEN void vt_comm_named(MPI_Comm handle);
/* The handle means nothing any more. */
VT_HIDDEN void vt_comm_gone(MPI_Comm handle);

#endif
