/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations in the raw file, numbered as in VT.h (enum _VT_OpTypes), and which ranks send and receive in
 * each. */
#ifndef COLLECTOR_PLUGIN_RAW_OPERATIONS_H
#define COLLECTOR_PLUGIN_RAW_OPERATIONS_H

/* collective_operation_definition.type: which record it becomes */
enum { VT_RAW_ALL = 1, VT_RAW_ONE_TO_ALL = 2, VT_RAW_ALL_TO_ONE = 3, VT_RAW_ALL_TO_ALL = 4 };

/* clang-format off */
#define VT_RAW_OPERATIONS(X) \
	X(BARRIER, "MPI_Barrier", VT_RAW_ALL) \
	X(IBARRIER, "MPI_Ibarrier", VT_RAW_ALL) \
	X(BCAST, "MPI_Bcast", VT_RAW_ONE_TO_ALL) \
	X(IBCAST, "MPI_Ibcast", VT_RAW_ONE_TO_ALL) \
	X(GATHER, "MPI_Gather", VT_RAW_ALL_TO_ONE) \
	X(IGATHER, "MPI_Igather", VT_RAW_ALL_TO_ONE) \
	X(GATHERV, "MPI_Gatherv", VT_RAW_ALL_TO_ONE) \
	X(IGATHERV, "MPI_Igatherv", VT_RAW_ALL_TO_ONE) \
	X(SCATTER, "MPI_Scatter", VT_RAW_ONE_TO_ALL) \
	X(ISCATTER, "MPI_Iscatter", VT_RAW_ONE_TO_ALL) \
	X(SCATTERV, "MPI_Scatterv", VT_RAW_ONE_TO_ALL) \
	X(ISCATTERV, "MPI_Iscatterv", VT_RAW_ONE_TO_ALL) \
	X(ALLGATHER, "MPI_Allgather", VT_RAW_ALL_TO_ALL) \
	X(IALLGATHER, "MPI_Iallgather", VT_RAW_ALL_TO_ALL) \
	X(ALLGATHERV, "MPI_Allgatherv", VT_RAW_ALL_TO_ALL) \
	X(IALLGATHERV, "MPI_Iallgatherv", VT_RAW_ALL_TO_ALL) \
	X(ALLTOALL, "MPI_Alltoall", VT_RAW_ALL_TO_ALL) \
	X(IALLTOALL, "MPI_Ialltoall", VT_RAW_ALL_TO_ALL) \
	X(ALLTOALLV, "MPI_Alltoallv", VT_RAW_ALL_TO_ALL) \
	X(IALLTOALLV, "MPI_Ialltoallv", VT_RAW_ALL_TO_ALL) \
	X(ALLTOALLW, "MPI_Alltoallw", VT_RAW_ALL_TO_ALL) \
	X(IALLTOALLW, "MPI_Ialltoallw", VT_RAW_ALL_TO_ALL) \
	X(NEIGHBOR_ALLGATHER, "MPI_Neighbor_allgather", VT_RAW_ALL_TO_ALL) \
	X(INEIGHBOR_ALLGATHER, "MPI_Ineighbor_allgather", VT_RAW_ALL_TO_ALL) \
	X(NEIGHBOR_ALLGATHERV, "MPI_Neighbor_allgatherv", VT_RAW_ALL_TO_ALL) \
	X(INEIGHBOR_ALLGATHERV, "MPI_Ineighbor_allgatherv", VT_RAW_ALL_TO_ALL) \
	X(NEIGHBOR_ALLTOALL, "MPI_Neighbor_alltoall", VT_RAW_ALL_TO_ALL) \
	X(INEIGHBOR_ALLTOALL, "MPI_Ineighbor_alltoall", VT_RAW_ALL_TO_ALL) \
	X(NEIGHBOR_ALLTOALLV, "MPI_Neighbor_alltoallv", VT_RAW_ALL_TO_ALL) \
	X(INEIGHBOR_ALLTOALLV, "MPI_Ineighbor_alltoallv", VT_RAW_ALL_TO_ALL) \
	X(NEIGHBOR_ALLTOALLW, "MPI_Neighbor_alltoallw", VT_RAW_ALL_TO_ALL) \
	X(INEIGHBOR_ALLTOALLW, "MPI_Ineighbor_alltoallw", VT_RAW_ALL_TO_ALL) \
	X(REDUCE, "MPI_Reduce", VT_RAW_ALL_TO_ONE) \
	X(REDUCE_LOCAL, "MPI_Reduce_local", VT_RAW_ALL) \
	X(IREDUCE, "MPI_Ireduce", VT_RAW_ALL_TO_ONE) \
	X(ALLREDUCE, "MPI_Allreduce", VT_RAW_ALL_TO_ALL) \
	X(IALLREDUCE, "MPI_Iallreduce", VT_RAW_ALL_TO_ALL) \
	X(REDUCE_SCATTER, "MPI_Reduce_scatter", VT_RAW_ALL_TO_ALL) \
	X(REDUCE_SCATTER_BLOCK, "MPI_Reduce_scatter_block", VT_RAW_ALL_TO_ALL) \
	X(IREDUCE_SCATTER, "MPI_Ireduce_scatter", VT_RAW_ALL_TO_ALL) \
	X(IREDUCE_SCATTER_BLOCK, "MPI_Ireduce_scatter_block", VT_RAW_ALL_TO_ALL) \
	X(SCAN, "MPI_Scan", VT_RAW_ALL_TO_ALL) \
	X(ISCAN, "MPI_Iscan", VT_RAW_ALL_TO_ALL) \
	X(EXSCAN, "MPI_Exscan", VT_RAW_ALL_TO_ALL) \
	X(IEXSCAN, "MPI_Iexscan", VT_RAW_ALL_TO_ALL) \
	X(SHMEM_BARRIER, "shmem_barrier", VT_RAW_ALL) \
	X(SHMEM_SYNC, "shmem_sync", VT_RAW_ALL) \
	X(SHMEM_BROADCAST, "shmem_broadcast", VT_RAW_ONE_TO_ALL) \
	X(SHMEM_COLLECT, "shmem_collect", VT_RAW_ALL_TO_ALL) \
	X(SHMEM_FCOLLECT, "shmem_fcollect", VT_RAW_ALL_TO_ALL) \
	X(SHMEM_TO_ALL, "shmem_to_all", VT_RAW_ALL_TO_ALL) \
	X(SHMEM_ALLTOALL, "shmem_alltoall", VT_RAW_ALL_TO_ALL) \
	X(SHMEM_ALLTOALLS, "shmem_alltoalls", VT_RAW_ALL_TO_ALL) \
	X(WIN_FENCE, "MPI_Win_fence", VT_RAW_ALL) \
	X(SHMEM_REDUCE, "shmem_reduce", VT_RAW_ALL_TO_ALL)
/* clang-format on */

enum vt_raw_operation {
#define VT_RAW_OP(name, text, type) VT_RAW_OP_##name,
	VT_RAW_OPERATIONS(VT_RAW_OP)
#undef VT_RAW_OP
		VT_RAW_OP_COUNT
};

#endif
