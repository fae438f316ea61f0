/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring that exchanges halos with both neighbours: halo sendrecv | waitall [SLOW]. The ranks have equal work, but for the rank SLOW,
 * whose work takes 1.3 times as long: its neighbours wait for it, and the others for them. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 40, CELLS = 512 };

static int left, right;
static double cells[4][CELLS];

static void work(double ms)
{
	struct timespec t = { .tv_nsec = (long)(1e6 * ms) };

	nanosleep(&t, NULL);
}

static void exchange_in_turn(void)
{
	MPI_Sendrecv(cells[0], CELLS, MPI_DOUBLE, right, 1, cells[1], CELLS, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	MPI_Sendrecv(cells[2], CELLS, MPI_DOUBLE, left, 2, cells[3], CELLS, MPI_DOUBLE, right, 2, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
}

static void exchange_at_once(void)
{
	MPI_Request q[4];

	MPI_Irecv(cells[1], CELLS, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(cells[3], CELLS, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &q[1]);
	MPI_Isend(cells[0], CELLS, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[2]);
	MPI_Isend(cells[2], CELLS, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &q[3]);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, ranks, i, slow;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	left = (rank + ranks - 1) % ranks;
	right = (rank + 1) % ranks;
	slow = argc > 2 && rank == atoi(argv[2]);
	for (i = 0; i < ROUNDS; i++) {
		work(slow ? 26 : 20);
		if (!strcmp(argv[1], "sendrecv")) {
			exchange_in_turn();
		} else {
			exchange_at_once();
		}
	}
	MPI_Finalize();
	return 0;
}
