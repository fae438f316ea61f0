/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that one process sends and receives in each collective operation. */
#ifndef COLLECTOR_PLUGIN_MPI_SHARES_H
#define COLLECTOR_PLUGIN_MPI_SHARES_H

#include "collector-plugin/mpi/record.h"

/* What an operation has on one side: `count` of `type` for each process; or counts[] of `type`, or of types[]. */
struct vt_side {
	long long count;
	MPI_Datatype type;
	const void *counts; /* int, or MPI_Count; NULL: `count` */
	size_t size;        /* of one of them; in Fortran always that of MPI_Fint */
	const void *types;  /* MPI_Datatype, in Fortran MPI_Fint; NULL: `type` */
	int fortran;
};
#define VT_SIDE(n, t) (&(struct vt_side){ .count = (n), .type = (t) })
#define VT_SIDE_COUNTS(c, s, t) (&(struct vt_side){ .type = (t), .counts = (c), .size = (s) })
#define VT_SIDE_TYPES(c, s, t, f) (&(struct vt_side){ .counts = (c), .size = (s), .types = (t), .fortran = (f) })

/* Sets `op` and the communicator. Returns 0 if nothing is to be recorded. */
VT_HIDDEN int vt_share_begin(struct vt_share *s, int op, MPI_Comm comm);
/* The numbers of neighbours that this process receives from and sends to. */
VT_HIDDEN void vt_degrees(MPI_Comm comm, int *in, int *out);
VT_HIDDEN void vt_share_bcast(struct vt_share *s, long long count, MPI_Datatype type, int root);
VT_HIDDEN void vt_share_reduce(struct vt_share *s, long long count, MPI_Datatype type, int root);
VT_HIDDEN void vt_share_allreduce(struct vt_share *s, long long count, MPI_Datatype type);
VT_HIDDEN void vt_share_gather(
	struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive, int root);
VT_HIDDEN void vt_share_scatter(
	struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive, int root);
VT_HIDDEN void vt_share_allgather(
	struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive);
VT_HIDDEN void vt_share_alltoall(
	struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive);
VT_HIDDEN void vt_share_reduce_scatter(struct vt_share *s, const struct vt_side *receive);
VT_HIDDEN void vt_share_neighbors(struct vt_share *s, const struct vt_side *send, const struct vt_side *receive);

#endif
