/* SPDX-License-Identifier: BSD-3-Clause */
/* suppress, with two ranks: mistakes each in a function of its own, all but the first of which MPI does not mind. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>

static int rank;

static void wrong_tag(void)
{
	int x = 0;

	if (rank == 1) {
		MPI_Send(&x, 1, MPI_INT, 0, -4, MPI_COMM_WORLD);
	}
}

static void wrong_type(void)
{
	int x = 0;

	if (rank == 0) {
		MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&x, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void wrong_bcast(void)
{
	int x = rank == 0 ? 42 : 0;

	MPI_Bcast(&x, 1, rank == 0 ? MPI_INT : MPI_FLOAT, 0, MPI_COMM_WORLD);
	printf("rank %d has %d\n", rank, x);
}

static void no_epoch(void)
{
	int memory[2] = { 0 }, x = 0;
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Get(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
	MPI_Win_free(&win);
}

static MPI_Comm left(void)
{
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	return comm;
}

static MPI_Comm left_by_library(void)
{
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	return comm;
}

static void not_received(int tag)
{
	if (rank == 0) {
		MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	wrong_tag();
	wrong_type();
	wrong_bcast();
	no_epoch();
	left();
	left_by_library();
	not_received(5);
	MPI_Finalize();
	return 0;
}
