/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication of which every message and operation is known: the test adds them up from the program's own lines
 * "SENDER RECEIVER BYTES COUNT" and "RANK FUNCTION BYTES COUNT". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 50, SIZES = 5 };
static const int size_of[SIZES] = { 0, 1, 8, 1000, 70000 };
static char out[70000], in[SIZES][70000];

int main(int argc, char **argv)
{
	int rank, n, i, k, more = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : ROUNDS, sum,
			   one = 1;
	MPI_Request r[2 * SIZES];
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	for (i = 0; i < rounds; i++) {
		for (k = 0; k < SIZES; k++) {
			MPI_Irecv(in[k], size_of[k], MPI_CHAR, (rank + n - 1) % n, k, MPI_COMM_WORLD, &r[k]);
			MPI_Isend(out, size_of[k], MPI_CHAR, (rank + 1) % n, k, MPI_COMM_WORLD, &r[SIZES + k]);
		}
		MPI_Waitall(2 * SIZES, r, MPI_STATUSES_IGNORE);
		MPI_Sendrecv(out, 24, MPI_CHAR, (rank + 1) % n, 9, in[0], 24, MPI_CHAR, (rank + n - 1) % n, 9,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Bcast(in[0], 100, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
	}
	/* more sizes than there are rows */
	for (i = 0; i < more; i++) {
		MPI_Sendrecv(out, 2000 + i, MPI_CHAR, (rank + 1) % n, 9, in[0], 2000 + i, MPI_CHAR, (rank + n - 1) % n,
			9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&half);
	MPI_Finalize();
	if (rank == 0) {
		for (i = 0; i < n; i++) {
			for (k = 0; k < SIZES; k++) {
				printf("%d %d %d %d\n", i, (i + 1) % n, size_of[k], rounds);
			}
			printf("%d %d 24 %d\n", i, (i + 1) % n, rounds);
			printf("%d Bcast 400 %d\n%d Allreduce 8 %d\n", i, rounds, i, rounds);
		}
	}
	return 0;
}
