/* SPDX-License-Identifier: BSD-3-Clause */
/* abrupt kill | abort | exit: rank 1 is killed or calls MPI_Abort; or all ranks exit. None calls MPI_Finalize. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank;

	(void)argc;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argv[1][0] == 'e') {
		exit(4);
	}
	if (rank == 1 && argv[1][0] == 'a') {
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	if (rank == 1) {
		raise(SIGKILL);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
