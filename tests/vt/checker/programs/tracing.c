/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that are wrong in the way that the argument names; rank 1 makes the mistake. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void operation(int rank)
{
	int x = 1;

	if (rank == 1) {
		MPI_Barrier(MPI_COMM_WORLD); /* mistake */
	} else {
		MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
}

static void leak(int rank)
{
	MPI_Comm copy;

	MPI_Comm_dup(MPI_COMM_SELF, &copy);
	(void)rank;
}

static void deadlock(int rank)
{
	int x;

	MPI_Recv(&x, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end(const char *how)
{
	if (!strcmp(how, "signal")) {
		raise(SIGSEGV);
	} else if (!strcmp(how, "kill")) {
		raise(SIGKILL);
	} else if (!strcmp(how, "abort")) {
		MPI_Abort(MPI_COMM_WORLD, 3);
	} else if (!strcmp(how, "exit")) {
		exit(0);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "operation")) {
		operation(rank);
	} else if (!strcmp(how, "leak")) {
		leak(rank);
	} else if (!strcmp(how, "deadlock")) {
		deadlock(rank);
	} else if (rank == 1) {
		end(how);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
