/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 has four times the work of the others, which wait for it. */
#include <mpi.h>

static double work(int rank)
{
	double sum = 0;

	for (long i = 1; i < 2000000L * (rank == 1 ? 4 : 1); i++) {
		sum += 1.0 / (double)i;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size, round;
	double sum = 0, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (round = 0; round < 30; round++) {
		sum += work(rank);
		MPI_Sendrecv_replace(&sum, 1, MPI_DOUBLE, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
