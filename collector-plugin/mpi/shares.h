/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that one process sends and receives in each collective operation. size: of one element of an array of
 * counts; in Fortran always that of MPI_Fint. */
#ifndef COLLECTOR_PLUGIN_MPI_SHARES_H
#define COLLECTOR_PLUGIN_MPI_SHARES_H

#include "collector-plugin/mpi/record.h"

VT_HIDDEN void vt_share_bcast(struct vt_share *s, long long count, MPI_Datatype type, int root);
VT_HIDDEN void vt_share_reduce(struct vt_share *s, long long count, MPI_Datatype type, int root);
VT_HIDDEN void vt_share_allreduce(struct vt_share *s, long long count, MPI_Datatype type);
VT_HIDDEN void vt_share_gather(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	long long recvcount, MPI_Datatype recvtype, int root);
VT_HIDDEN void vt_share_gatherv(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	const void *recvcounts, size_t size, MPI_Datatype recvtype, int root);
VT_HIDDEN void vt_share_scatter(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	long long recvcount, MPI_Datatype recvtype, int root);
VT_HIDDEN void vt_share_scatterv(struct vt_share *s, int in_place, const void *sendcounts, size_t size,
	MPI_Datatype sendtype, long long recvcount, MPI_Datatype recvtype, int root);
VT_HIDDEN void vt_share_allgather(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	long long recvcount, MPI_Datatype recvtype);
VT_HIDDEN void vt_share_allgatherv(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	const void *recvcounts, size_t size, MPI_Datatype recvtype);
VT_HIDDEN void vt_share_alltoall(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	long long recvcount, MPI_Datatype recvtype);
VT_HIDDEN void vt_share_alltoallv(struct vt_share *s, int in_place, const void *sendcounts, MPI_Datatype sendtype,
	const void *recvcounts, MPI_Datatype recvtype, size_t size);
VT_HIDDEN void vt_share_alltoallw(struct vt_share *s, int in_place, const void *sendcounts, const void *sendtypes,
	const void *recvcounts, const void *recvtypes, size_t size, int fortran);
VT_HIDDEN void vt_share_reduce_scatter(struct vt_share *s, const void *recvcounts, size_t size, MPI_Datatype type);
VT_HIDDEN void vt_share_reduce_scatter_block(struct vt_share *s, long long recvcount, MPI_Datatype type);
VT_HIDDEN void vt_share_neighbor_allgather(
	struct vt_share *s, long long sendcount, MPI_Datatype sendtype, long long recvcount, MPI_Datatype recvtype);
VT_HIDDEN void vt_share_neighbor_allgatherv(struct vt_share *s, long long sendcount, MPI_Datatype sendtype,
	const void *recvcounts, size_t size, MPI_Datatype recvtype);
VT_HIDDEN void vt_share_neighbor_alltoall(
	struct vt_share *s, long long sendcount, MPI_Datatype sendtype, long long recvcount, MPI_Datatype recvtype);
VT_HIDDEN void vt_share_neighbor_alltoallv(struct vt_share *s, const void *sendcounts, MPI_Datatype sendtype,
	const void *recvcounts, MPI_Datatype recvtype, size_t size);
VT_HIDDEN void vt_share_neighbor_alltoallw(struct vt_share *s, const void *sendcounts, const void *sendtypes,
	const void *recvcounts, const void *recvtypes, size_t size, int fortran);

#endif
