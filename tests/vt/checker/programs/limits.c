/* SPDX-License-Identifier: BSD-3-Clause */
/* limits CASE, with two ranks: more mistakes of one kind than a report or a job shows. errors: 15 sends to ranks that there are not;
 * requests: 15 that are not freed; messages: 25 that are not received; stopped: rank 0 makes a mistake, and rank 1 goes on. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MISTAKES = 15, MESSAGES = 25 };

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	MPI_Request request[MISTAKES];
	int rank, i, data[MESSAGES] = { 0 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 0; !strcmp(what, "errors") && rank == 1 && i < MISTAKES; i++) {
		MPI_Send(data, 1, MPI_INT, 100 + i, 0, MPI_COMM_WORLD);
	}
	for (i = 0; !strcmp(what, "requests") && rank == 1 && i < MISTAKES; i++) {
		MPI_Send_init(&data[i], 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD, &request[i]);
	}
	for (i = 0; !strcmp(what, "messages") && rank == 0 && i < MESSAGES; i++) {
		MPI_Send(&data[i], 1, MPI_INT, 1, 100 + i, MPI_COMM_WORLD);
	}
	if (!strcmp(what, "stopped") && rank == 0) {
		MPI_Send(data, 1, MPI_INT, 100, 0, MPI_COMM_WORLD);
	} else if (!strcmp(what, "stopped")) {
		sleep(3);
		printf("rank 1 has gone on\n");
		fflush(stdout);
	}
	MPI_Finalize();
	return 0;
}
