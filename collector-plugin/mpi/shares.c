/* SPDX-License-Identifier: BSD-3-Clause */
/* How many bytes one process sends and receives in a collective operation. This follows from MPI's definition of each
 * operation, whatever algorithm the library uses. Arguments that are significant only at the root are read only
 * there. */
#include "config.h"
#include "collector-plugin/mpi/shares.h"

enum { IS_ROOT = 1, TAKES_PART = 2 };

/* Notes the root. In an intercommunicator the root is in the other group, or is this process (MPI_ROOT), or is
 * another process of the own group (MPI_PROC_NULL). */
static int role(struct vt_share *s, int root)
{
	if (!s->comm->inter) {
		s->root = root;
		return TAKES_PART | (root == s->comm->rank ? IS_ROOT : 0);
	}
	s->root = root == MPI_ROOT      ? VT_RAW_ROOT_SELF
		: root == MPI_PROC_NULL ? VT_RAW_ROOT_UNKNOWN
					: root | VT_RAW_ROOT_REMOTE;
	return root == MPI_ROOT ? IS_ROOT : root == MPI_PROC_NULL ? 0 : TAKES_PART;
}

static long long count_of_rank(const void *counts, size_t size, int i)
{
	return size == sizeof(int) ? ((const int *)counts)[i] : (long long)((const MPI_Count *)counts)[i];
}

static long long sum_counts(const void *counts, size_t size, int n)
{
	long long all = 0;
	int i;

	for (i = 0; i < n; i++) {
		all += count_of_rank(counts, size, i);
	}
	return all;
}

static uint64_t sum_typed(const void *counts, size_t size, const void *types, int fortran, int n)
{
	uint64_t all = 0;
	int i;

	for (i = 0; i < n; i++) {
		all += vt_type_bytes(count_of_rank(counts, size, i),
			fortran ? PMPI_Type_f2c(((const MPI_Fint *)types)[i]) : ((const MPI_Datatype *)types)[i]);
	}
	return all;
}

void vt_share_bcast(struct vt_share *s, long long count, MPI_Datatype type, int root)
{
	int r = role(s, root);

	s->sent = r & IS_ROOT ? vt_type_bytes(count, type) : 0;
	s->received = r == TAKES_PART ? vt_type_bytes(count, type) : 0;
}

void vt_share_reduce(struct vt_share *s, long long count, MPI_Datatype type, int root)
{
	int r = role(s, root);

	s->sent = r & TAKES_PART ? vt_type_bytes(count, type) : 0;
	s->received = r & IS_ROOT ? vt_type_bytes(count, type) : 0;
}

void vt_share_allreduce(struct vt_share *s, long long count, MPI_Datatype type)
{
	s->sent = s->received = vt_type_bytes(count, type);
}

void vt_share_gather(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype, long long recvcount,
	MPI_Datatype recvtype, int root)
{
	int r = role(s, root);

	s->sent = !(r & TAKES_PART) ? 0
		: in_place          ? vt_type_bytes(recvcount, recvtype)
				    : vt_type_bytes(sendcount, sendtype);
	s->received = r & IS_ROOT ? vt_type_bytes(recvcount, recvtype) * (uint64_t)s->comm->remote : 0;
}

void vt_share_gatherv(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	const void *recvcounts, size_t size, MPI_Datatype recvtype, int root)
{
	int r = role(s, root);

	s->sent = !(r & TAKES_PART) ? 0
		: in_place          ? vt_type_bytes(count_of_rank(recvcounts, size, s->comm->rank), recvtype)
				    : vt_type_bytes(sendcount, sendtype);
	s->received = r & IS_ROOT ? vt_type_bytes(sum_counts(recvcounts, size, s->comm->remote), recvtype) : 0;
}

void vt_share_scatter(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype, long long recvcount,
	MPI_Datatype recvtype, int root)
{
	int r = role(s, root);

	s->sent = r & IS_ROOT ? vt_type_bytes(sendcount, sendtype) * (uint64_t)s->comm->remote : 0;
	s->received = !(r & TAKES_PART) ? 0
		: in_place              ? vt_type_bytes(sendcount, sendtype)
					: vt_type_bytes(recvcount, recvtype);
}

void vt_share_scatterv(struct vt_share *s, int in_place, const void *sendcounts, size_t size, MPI_Datatype sendtype,
	long long recvcount, MPI_Datatype recvtype, int root)
{
	int r = role(s, root);

	s->sent = r & IS_ROOT ? vt_type_bytes(sum_counts(sendcounts, size, s->comm->remote), sendtype) : 0;
	s->received = !(r & TAKES_PART) ? 0
		: in_place              ? vt_type_bytes(count_of_rank(sendcounts, size, s->comm->rank), sendtype)
					: vt_type_bytes(recvcount, recvtype);
}

void vt_share_allgather(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	long long recvcount, MPI_Datatype recvtype)
{
	s->sent = in_place ? vt_type_bytes(recvcount, recvtype) : vt_type_bytes(sendcount, sendtype);
	s->received = vt_type_bytes(recvcount, recvtype) * (uint64_t)s->comm->remote;
}

void vt_share_allgatherv(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	const void *recvcounts, size_t size, MPI_Datatype recvtype)
{
	s->sent = in_place ? vt_type_bytes(count_of_rank(recvcounts, size, s->comm->rank), recvtype)
			   : vt_type_bytes(sendcount, sendtype);
	s->received = vt_type_bytes(sum_counts(recvcounts, size, s->comm->remote), recvtype);
}

void vt_share_alltoall(struct vt_share *s, int in_place, long long sendcount, MPI_Datatype sendtype,
	long long recvcount, MPI_Datatype recvtype)
{
	s->received = vt_type_bytes(recvcount, recvtype) * (uint64_t)s->comm->remote;
	s->sent = in_place ? s->received : vt_type_bytes(sendcount, sendtype) * (uint64_t)s->comm->remote;
}

void vt_share_alltoallv(struct vt_share *s, int in_place, const void *sendcounts, MPI_Datatype sendtype,
	const void *recvcounts, MPI_Datatype recvtype, size_t size)
{
	s->received = vt_type_bytes(sum_counts(recvcounts, size, s->comm->remote), recvtype);
	s->sent = in_place ? s->received : vt_type_bytes(sum_counts(sendcounts, size, s->comm->remote), sendtype);
}

void vt_share_alltoallw(struct vt_share *s, int in_place, const void *sendcounts, const void *sendtypes,
	const void *recvcounts, const void *recvtypes, size_t size, int fortran)
{
	s->received = sum_typed(recvcounts, size, recvtypes, fortran, s->comm->remote);
	s->sent = in_place ? s->received : sum_typed(sendcounts, size, sendtypes, fortran, s->comm->remote);
}

void vt_share_reduce_scatter(struct vt_share *s, const void *recvcounts, size_t size, MPI_Datatype type)
{
	s->sent = vt_type_bytes(sum_counts(recvcounts, size, s->comm->size), type);
	s->received = vt_type_bytes(count_of_rank(recvcounts, size, s->comm->rank), type);
}

void vt_share_reduce_scatter_block(struct vt_share *s, long long recvcount, MPI_Datatype type)
{
	s->received = vt_type_bytes(recvcount, type);
	s->sent = s->received * (uint64_t)s->comm->size;
}

/* ---- neighbourhoods ---- */

void vt_share_neighbor_allgather(
	struct vt_share *s, long long sendcount, MPI_Datatype sendtype, long long recvcount, MPI_Datatype recvtype)
{
	int in, out;

	vt_degrees(s->comm->handle, &in, &out);
	/* the same bytes to each neighbour */
	s->sent = vt_type_bytes(sendcount, sendtype) * (uint64_t)out;
	s->received = vt_type_bytes(recvcount, recvtype) * (uint64_t)in;
}

void vt_share_neighbor_allgatherv(struct vt_share *s, long long sendcount, MPI_Datatype sendtype,
	const void *recvcounts, size_t size, MPI_Datatype recvtype)
{
	int in, out;

	vt_degrees(s->comm->handle, &in, &out);
	s->sent = vt_type_bytes(sendcount, sendtype) * (uint64_t)out;
	s->received = vt_type_bytes(sum_counts(recvcounts, size, in), recvtype);
}

void vt_share_neighbor_alltoall(
	struct vt_share *s, long long sendcount, MPI_Datatype sendtype, long long recvcount, MPI_Datatype recvtype)
{
	vt_share_neighbor_allgather(s, sendcount, sendtype, recvcount, recvtype);
}

void vt_share_neighbor_alltoallv(struct vt_share *s, const void *sendcounts, MPI_Datatype sendtype,
	const void *recvcounts, MPI_Datatype recvtype, size_t size)
{
	int in, out;

	vt_degrees(s->comm->handle, &in, &out);
	s->sent = vt_type_bytes(sum_counts(sendcounts, size, out), sendtype);
	s->received = vt_type_bytes(sum_counts(recvcounts, size, in), recvtype);
}

void vt_share_neighbor_alltoallw(struct vt_share *s, const void *sendcounts, const void *sendtypes,
	const void *recvcounts, const void *recvtypes, size_t size, int fortran)
{
	int in, out;

	vt_degrees(s->comm->handle, &in, &out);
	s->sent = sum_typed(sendcounts, size, sendtypes, fortran, out);
	s->received = sum_typed(recvcounts, size, recvtypes, fortran, in);
}
