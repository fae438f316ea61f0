/* SPDX-License-Identifier: BSD-3-Clause */
/* How many bytes one process sends and receives in a collective operation. This follows from MPI's definition of each
 * operation, whatever algorithm the library uses. Arguments that are significant only at the root are read only
 * there. */
#include "config.h"
#include "collector-plugin/mpi/shares.h"

enum { IS_ROOT = 1, TAKES_PART = 2 };

int vt_share_begin(struct vt_share *s, int op, MPI_Comm comm)
{
	*s = (struct vt_share){ .op = op, .comm = vt_comm_of(comm), .root = -1 };
	return s->comm != NULL;
}

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

static long long count_of_rank(const struct vt_side *a, int i)
{
	return a->size == sizeof(int) ? ((const int *)a->counts)[i] : (long long)((const MPI_Count *)a->counts)[i];
}

/* What one process has on this side. */
static inline uint64_t bytes_of_rank(const struct vt_side *a, int i)
{
	return vt_type_bytes(a->counts ? count_of_rank(a, i) : a->count, a->type);
}

static MPI_Datatype type_of_rank(const struct vt_side *a, int i)
{
	return a->fortran ? PMPI_Type_f2c(((const MPI_Fint *)a->types)[i]) : ((const MPI_Datatype *)a->types)[i];
}

static __attribute__((noinline)) uint64_t sum_of_counts(const struct vt_side *a, int n)
{
	uint64_t bytes = 0;
	long long count = 0;
	int i;

	for (i = 0; i < n && a->types; i++) {
		bytes += vt_type_bytes(count_of_rank(a, i), type_of_rank(a, i));
	}
	for (i = 0; i < n && !a->types; i++) {
		count += count_of_rank(a, i);
	}
	return a->types ? bytes : vt_type_bytes(count, a->type);
}

/* What n processes have. */
static inline uint64_t bytes_of_all(const struct vt_side *a, int n)
{
	return a->counts ? sum_of_counts(a, n) : vt_type_bytes(a->count, a->type) * (uint64_t)n;
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

void vt_share_gather(
	struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive, int root)
{
	int r = role(s, root);

	s->sent = !(r & TAKES_PART) ? 0 : in_place ? bytes_of_rank(receive, s->comm->rank) : bytes_of_rank(send, 0);
	s->received = r & IS_ROOT ? bytes_of_all(receive, s->comm->remote) : 0;
}

void vt_share_scatter(
	struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive, int root)
{
	int r = role(s, root);

	s->sent = r & IS_ROOT ? bytes_of_all(send, s->comm->remote) : 0;
	s->received = !(r & TAKES_PART) ? 0 : in_place ? bytes_of_rank(send, s->comm->rank) : bytes_of_rank(receive, 0);
}

void vt_share_allgather(struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive)
{
	s->sent = in_place ? bytes_of_rank(receive, s->comm->rank) : bytes_of_rank(send, 0);
	s->received = bytes_of_all(receive, s->comm->remote);
}

void vt_share_alltoall(struct vt_share *s, int in_place, const struct vt_side *send, const struct vt_side *receive)
{
	s->received = bytes_of_all(receive, s->comm->remote);
	s->sent = in_place ? s->received : bytes_of_all(send, s->comm->remote);
}

void vt_share_reduce_scatter(struct vt_share *s, const struct vt_side *receive)
{
	s->sent = bytes_of_all(receive, s->comm->size);
	s->received = bytes_of_rank(receive, s->comm->rank);
}

void vt_share_neighbors(struct vt_share *s, const struct vt_side *send, const struct vt_side *receive)
{
	int in, out;

	vt_degrees(s->comm->handle, &in, &out);
	/* each neighbour gets the bytes of an operation without counts */
	s->sent = bytes_of_all(send, out);
	s->received = bytes_of_all(receive, in);
}

void vt_degrees(MPI_Comm comm, int *in, int *out)
{
	int topology = MPI_UNDEFINED, n = 0, rank = 0, weighted;

	*in = *out = 0;
	PMPI_Topo_test(comm, &topology);
	if (topology == MPI_CART) {
		PMPI_Cartdim_get(comm, &n);
		*in = *out = 2 * n;
	} else if (topology == MPI_GRAPH) {
		PMPI_Comm_rank(comm, &rank);
		PMPI_Graph_neighbors_count(comm, rank, &n);
		*in = *out = n;
	} else if (topology == MPI_DIST_GRAPH) {
		PMPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
	}
}
