/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that are wrong in the way that the argument names; the last rank makes the mistake. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
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

/* Rank 0 and this one end while the sampler process of both is stopped, which then finds both gone at the same time. */
static void end_both(int other)
{
	char line[300];
	FILE *protocol = fopen("tracing.prot", "r"), *stopped = fopen("stopped.new", "w");
	int sampler = 0;

	while (protocol && fgets(line, sizeof(line), protocol) &&
		!sscanf(line, "INFO SAMPLED by process %d", &sampler)) {
	}
	if (sampler > 0 && stopped) {
		kill(sampler, SIGSTOP);
		fprintf(stopped, "%d\n", sampler);
		fclose(stopped);
		rename("stopped.new", "stopped");
		kill(other, SIGKILL);
		raise(SIGSEGV);
	}
}

static void end(const char *how, int other)
{
	if (!strcmp(how, "signal")) {
		raise(SIGSEGV);
	} else if (!strcmp(how, "both")) {
		end_both(other);
	} else if (!strcmp(how, "error")) {
		MPI_Send(how, -1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		raise(SIGSEGV);
	} else if (!strcmp(how, "term")) {
		raise(SIGTERM);
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
	int rank, ranks, other = (int)getpid();

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Bcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "kill") || !strcmp(how, "both")) {
		/* then the launcher ends the others by SIGKILL, after some time */
		signal(SIGTERM, SIG_IGN);
	}
	if (!strcmp(how, "operation")) {
		operation(rank);
	} else if (!strcmp(how, "leak")) {
		leak(rank);
	} else if (!strcmp(how, "deadlock")) {
		deadlock(rank);
	} else if (rank == ranks - 1) {
		end(how, other);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
