/* SPDX-License-Identifier: BSD-3-Clause */
/* Records calls of OpenSHMEM. */
#include "config.h"
#include "collector-plugin/shmem/shmem.h"

#include <stdlib.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/mpi/communicators.h"
#include "collector-plugin/mpi/files.h"
#include "collector-plugin/mpi/outside.h"

/* ---- start and end ---- */

void vt_shmem_end(void)
{
	vt_mpi_end("SHMEM", "shmem_finalize");
	vt_hooks.ends_later = 0;
}

/* A program may exit without shmem_finalize(): then liboshmem calls it, whatever the status, from an exit handler that it has
 * registered before this one, and the other PEs wait for that. The program's own handlers come before both. */
static void end_at_exit(int status, void *unused)
{
	(void)status;
	(void)unused;
	if (vt_life.here) {
		vt_shmem_end();
	}
	vt_hooks.ends_later = 0;
}

void vt_shmem_enter_start(struct vt_shmem_call *k, struct vt_mpi_function *f, void *at)
{
	k->starts = vt_mpi_init_begin("SHMEM", f->text);
	if (!k->starts) {
		vt_shmem_enter(k, f, at);
	}
}

void vt_shmem_leave_start(struct vt_shmem_call *k)
{
	if (k->starts) {
		vt_mpi_init_end();
	} else {
		vt_shmem_leave(k);
	}
	vt_symmetric_made();
	if (!vt_hooks.shmem) {
		vt_hooks.shmem = vt_hooks.ends_later = 1;
		on_exit(end_at_exit, NULL);
	}
}

/* ---- calls ---- */

void vt_shmem_enter(struct vt_shmem_call *k, struct vt_mpi_function *f, void *at)
{
	k->entered = vt_mpi_enter_at(&k->mpi, f, (uintptr_t)at);
	k->mpi.file = 0;
	k->share.comm = NULL;
	k->back = -1;
}

void vt_shmem_moves(struct vt_shmem_call *k, enum vt_raw_io kind, size_t bytes, int pe)
{
	if (k->entered) {
		vt_symmetric_begin(&k->mpi, kind, pe, bytes);
	}
}

void vt_shmem_moves_both(struct vt_shmem_call *k, size_t bytes, int pe)
{
	vt_shmem_moves(k, VT_RAW_WRITE, bytes, pe);
	k->back = pe;
}

void vt_shmem_shares(struct vt_shmem_call *k, int op, size_t bytes, int root, struct vt_active_set set)
{
	struct vt_comm *c = k->entered && set.stride > 0 ? vt_comm_of_pes(set.first, set.stride, set.size) : NULL;
	int is_root = c && root == c->rank;

	k->share = (struct vt_share){ .op = op, .comm = c, .root = root, .sent = bytes, .received = bytes };
	switch (op) {
	case VT_RAW_OP_SHMEM_BROADCAST:
		k->share.sent = is_root ? bytes : 0;
		k->share.received = is_root ? 0 : bytes;
		break;
	case VT_RAW_OP_SHMEM_ALLTOALL:
	case VT_RAW_OP_SHMEM_ALLTOALLS:
		k->share.sent = c ? bytes * (size_t)c->size : 0;
		k->share.received = k->share.sent;
		break;
	case VT_RAW_OP_SHMEM_FCOLLECT:
		k->share.received = c ? bytes * (size_t)c->size : 0;
		break;
	case VT_RAW_OP_SHMEM_COLLECT:
		k->share.received =
			0; /* each PE may give another number of bytes, and this one does not know the others' */
		break;
	}
}

void vt_shmem_leave(struct vt_shmem_call *k)
{
	if (!vt_mpi_returned(&k->mpi, 1)) {
		return;
	}
	if (k->mpi.file) {
		vt_symmetric_end(&k->mpi, k->back);
	}
	if (k->share.comm) {
		vt_share_end(&k->mpi, &k->share);
	}
	vt_mpi_leave(&k->mpi);
}
