/* SPDX-License-Identifier: BSD-3-Clause */
/* With -DSLOW_END rank 0 comes two seconds late to the clock session in MPI_Finalize, as on a busy machine.
 * Ranks that wait for each other for ever, each in a function of its own. argv[1]: "collective": rank 0 waits for a message, the others
 * in a collective operation; "moves": they talk all the time and end after two seconds, rank 0 a second later than the others; "late": rank 0
 * computes for 20 s before it sends what the others wait for; "skips": rank 0 lacks a call of a collective operation; "dies": rank 0 ends by SIGKILL; "dies-last": the last rank does; "handler": a signal for which the program has a handler; "overflow": the stack of each is too small. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, finalizing;

#ifdef SLOW_END
int PMPI_Barrier(MPI_Comm comm)
{
	void *found = dlsym(RTLD_NEXT, "PMPI_Barrier");
	int (*barrier)(MPI_Comm), rc;

	memcpy(&barrier, &found, sizeof(barrier));
	rc = barrier(comm);
	if (finalizing && rank == 0) {
		sleep(2);
		finalizing = 0;
	}
	return rc;
}
#endif

static void handler(int n)
{
	printf("handled %d\n", n);
	exit(7);
}

__attribute__((noinline)) static void wait_for_message(int from)
{
	int x;

	MPI_Recv(&x, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* blocked here */
	printf("%d\n", x);
}

static void send_late(void)
{
	int i;

	sleep(20);
	for (i = 1; i < size; i++) {
		MPI_Send(&i, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
	}
}

__attribute__((noinline)) static void wait_in_collective(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	printf("never\n");
}

__attribute__((noinline)) static int overflow(int n)
{
	volatile char piece[4096];

	piece[0] = (char)n;
	return overflow(n + 1) + piece[0];
}

static void keep_exchanging(void)
{
	double end = MPI_Wtime() + 2;
	int go = 1;

	while (go) {
		go = MPI_Wtime() < end;
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
		usleep(1000);
	}
	if (rank == 0) {
		sleep(1);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "handler")) {
		signal(SIGTERM, handler);
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(how, "moves")) {
		keep_exchanging();
	} else if (!strcmp(how, "late") && rank == 0) {
		send_late();
	} else if (!strcmp(how, "skips")) {
		rank > 0 ? MPI_Barrier(MPI_COMM_WORLD) : 0;
	} else if (!strcmp(how, "handler") || (!strcmp(how, "dies") && rank == 0) ||
		(!strcmp(how, "dies-last") && rank == size - 1)) {
		raise(*how == 'h' ? SIGTERM : SIGKILL);
	} else if (!strcmp(how, "overflow")) {
		printf("%d\n", overflow(1));
	} else if (!strcmp(how, "collective") && rank > 0) {
		wait_in_collective();
	} else {
		wait_for_message(strcmp(how, "late") ? (rank + 1) % size : 0);
	}
	finalizing = 1;
	MPI_Finalize();
	return 0;
}
