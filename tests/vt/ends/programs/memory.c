/* SPDX-License-Identifier: BSD-3-Clause */
/* memory N: each rank exchanges N messages; rank 0 prints by how many KB MPI_Finalize has raised its greatest memory. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long greatest_kb(void)
{
	char line[200];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "VmHWM: %ld", &kb);
	}
	if (f) {
		fclose(f);
	}
	return kb;
}

int main(int argc, char **argv)
{
	int rank, ranks, i, sent = 1, got, n = argc > 1 ? atoi(argv[1]) : 0;
	long before;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (i = 0; i < n; i++) {
		MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	before = greatest_kb();
	MPI_Finalize();
	return rank == 0 && printf("added %ld KB\n", greatest_kb() - before) < 0;
}
