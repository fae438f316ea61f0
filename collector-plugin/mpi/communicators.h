/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of this process, found by their handles. All members give a communicator the same identity in the
 * trace without a message: each member records the parent communicator, the number of the creation on the parent, and
 * who the members are. From these the merge recognises it (merge/definitions/communicators.c). Included by files that include
 * mpi.h. */
#ifndef COLLECTOR_PLUGIN_MPI_COMMUNICATORS_H
#define COLLECTOR_PLUGIN_MPI_COMMUNICATORS_H

#include <mpi.h>
#include <stdint.h>

#include "collector-plugin/core/thread.h"
#include "collector-plugin/raw/communicator.h"

struct vt_comm {
	MPI_Comm handle;
	uint32_t id; /* its number in the raw file */
	int inter;
	int rank, size;               /* own rank, and size of the own group */
	int outside;                  /* 1: it has members outside the trace, and counts in vt_mpi_outside() */
	int remote;                   /* size of the other group; equals `size` if there is none */
	_Atomic uint32_t *operations; /* collective operations begun so far */
	_Atomic uint32_t own_operations;
	_Atomic uint32_t windows;   /* windows made on it so far */
	_Atomic uint32_t creations; /* calls so far that made communicators from it */
	char name[VT_RAW_COMM_NAME];
};

/* Called when MPI is initialised: defines MPI_COMM_WORLD and MPI_COMM_SELF. */
VT_HIDDEN void vt_comms_begin(struct vt_collect *c);

VT_HIDDEN struct vt_comm *vt_comm_find(MPI_Comm handle);

/* The communicator of a handle. If it was made without our seeing it, it is defined now. NULL: MPI_COMM_NULL, no
 * memory, or nothing records. */
VT_HIDDEN struct vt_comm *vt_comm_of(MPI_Comm handle);

/* Of OpenSHMEM: the PEs first, first + stride ... of which there are n; n -1: all. NULL: no such PEs, no memory, or nothing
 * records. */
VT_HIDDEN struct vt_comm *vt_comm_of_pes(int first, int stride, int n);

/* Of a window, the `number`-th on `parent`: defines c, unless that was done before, for what only the synchronization of the window
 * records. Returns 0, or -1: nothing records. */
VT_HIDDEN int vt_comm_of_window(struct vt_comm *c, const struct vt_comm *parent, uint32_t number, MPI_Win win);

/* Called when a call begins that makes communicators from `parent` and in which all members of `parent` take part.
 * Returns the number of the call. */
VT_HIDDEN uint32_t vt_comm_creates(struct vt_comm *parent);
/* The call has made `fresh`; MPI_COMM_NULL is ignored. prefix: of the new communicator's name (Intel Trace Collector
 * guide, section 2.1.5). */
VT_HIDDEN void vt_comm_created(enum vt_raw_comm_kind kind, const char *prefix, const struct vt_comm *parent,
	uint32_t number, int tag, MPI_Comm fresh);
/* The program has named the communicator. */
VT_HIDDEN void vt_comm_named(MPI_Comm handle);
/* The communicator was freed, so its handle is no longer valid. */
VT_HIDDEN void vt_comm_gone(MPI_Comm handle);
/* MPI_Comm_disconnect() also ends what was under way on it. */
VT_HIDDEN void vt_comm_disconnected(MPI_Comm handle);

#endif
