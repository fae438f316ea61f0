/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 has a delay in each round that the argument 1 switches on. Without it rank 0 is the last one. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

/* part of the function that calls it */
static __attribute__((no_instrument_function)) void pass_ms(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	nanosleep(&t, NULL);
}

static void work(int rank)
{
	pass_ms(rank == 0 ? 36 : 20);
}

static void delay(void)
{
	pass_ms(40);
}

int main(int argc, char **argv)
{
	double in = 1, out;
	int rank, size, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (i = 0; i < 20; i++) {
		work(rank);
		if (rank == 1 && argc > 1 && atoi(argv[1])) {
			delay();
		}
		MPI_Sendrecv(&in, 1, MPI_DOUBLE, (rank + 1) % size, 0, &out, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
