/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled as a library (-DLIBRARY) that comes between libVTmc and MPI: an MPI_Bcast that gives rank 1 a wrong byte each second
 * time, and an MPI_Barrier that says that it was called. Else a correct program of basic types, of derived ones with another order of
 * the same bytes, and of nothing. */
#include <mpi.h>
#include <stdio.h>

#ifdef LIBRARY
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	static int calls;
	int rank, rc = PMPI_Bcast(buffer, count, type, root, comm);

	PMPI_Comm_rank(comm, &rank);
	if (rank == 1 && ++calls % 2 == 0) {
		((char *)buffer)[count / 2] ^= 4;
	}
	return rc;
}

int MPI_Barrier(MPI_Comm comm)
{
	fprintf(stderr, "a barrier below\n");
	return PMPI_Barrier(comm);
}
#else
int main(int argc, char **argv)
{
	static int data[100000];
	int rank, i, at[2] = { 1, 0 }, one[2] = { 1, 1 };
	MPI_Datatype turned;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Type_indexed(2, one, at, MPI_INT, &turned);
	MPI_Type_commit(&turned);
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < 20; i++) {
		data[1000] = data[i] = i + rank;
		MPI_Bcast(data, 50000 * (i % 3), MPI_INT, i % 2, MPI_COMM_WORLD); /* broken */
		MPI_Bcast((char *)data + 1, 1001 + i, MPI_BYTE, 0, MPI_COMM_WORLD);
		if (rank == 0) {
			MPI_Bcast(data, 1, turned, 0, MPI_COMM_WORLD);
		} else {
			MPI_Bcast(data, 2, MPI_INT, 0, MPI_COMM_WORLD);
		}
	}
	MPI_Type_free(&turned);
	MPI_Finalize();
	return 0;
}
#endif
