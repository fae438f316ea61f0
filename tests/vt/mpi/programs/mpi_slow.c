/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks with equal work, but for the one that the argument names: it takes three times as long. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec work = { .tv_nsec = 10000000 };
	double in = 1, out;
	int rank, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1 && rank == atoi(argv[1])) {
		work.tv_nsec *= 3;
	}
	for (i = 0; i < 40; i++) {
		nanosleep(&work, NULL);
		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
