/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of OpenSHMEM as functions of class SHMEM (Intel Trace Collector guide, section 2.1.3): the calls of a program that
 * uses liboshmem are redirected (calls.c, from the table calls.def). What they move is recorded as that of MPI's one-sided
 * operations is, on a file "symmetric memory of PE N", and collective operations on a communicator of the PEs that take
 * part. Open MPI's liboshmem starts MPI by its inside, so shmem_init() is a start of MPI that only we see: from there
 * clocks, options and the trace are those of an MPI job. */
#ifndef COLLECTOR_PLUGIN_SHMEM_SHMEM_H
#define COLLECTOR_PLUGIN_SHMEM_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#include "collector-plugin/mpi/private.h"
#include "collector-plugin/mpi/record.h"

/* The PEs first, first + stride ... of which there are `size`; -1: all. stride 0: no set. */
struct vt_active_set {
	int first, stride, size;
};

/* A call under way. */
struct vt_shmem_call {
	struct vt_mpi_call mpi;
	struct vt_share share; /* comm NULL: no collective operation */
	int entered;           /* it is recorded */
	int back;              /* it moves as much back from this PE; -1: nothing */
	int starts;            /* it starts MPI */
};

/* Before a call, whose wrapper has its frame at `at`. */
VT_HIDDEN void vt_shmem_enter(struct vt_shmem_call *k, struct vt_mpi_function *f, void *at);
/* Then, what it moves between this PE and the memory of PE `pe`; an atomic operation with a result moves as much back. */
VT_HIDDEN void vt_shmem_moves(struct vt_shmem_call *k, enum vt_raw_io kind, size_t bytes, int pe);
VT_HIDDEN void vt_shmem_moves_both(struct vt_shmem_call *k, size_t bytes, int pe);
/* Or that it is a collective operation, in which each PE gives so many bytes. root: in the set; -1: none. */
VT_HIDDEN void vt_shmem_shares(struct vt_shmem_call *k, int op, size_t bytes, int root, struct vt_active_set set);
/* After the call. */
VT_HIDDEN void vt_shmem_leave(struct vt_shmem_call *k);
/* The same for a call that starts OpenSHMEM. */
VT_HIDDEN void vt_shmem_enter_start(struct vt_shmem_call *k, struct vt_mpi_function *f, void *at);
VT_HIDDEN void vt_shmem_leave_start(struct vt_shmem_call *k);
/* Before shmem_finalize() and after it. */
VT_HIDDEN void vt_shmem_end(void);

#endif
