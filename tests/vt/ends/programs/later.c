/* SPDX-License-Identifier: BSD-3-Clause */
/* later HOW: rank 1 ends after MPI_Finalize with exit status 3 ("exit"), by a signal ("signal"), or calls MPI_Abort with code 7. */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1 && !strcmp(how, "abort")) {
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	if (rank == 1) {
		/* mpirun terminates those that are left */
		sleep(1);
	}
	if (rank == 1 && !strcmp(how, "signal")) {
		signal(SIGFPE, SIG_DFL);
		raise(SIGFPE);
	}
	return rank == 1 && !strcmp(how, "exit") ? 3 : 0;
}
