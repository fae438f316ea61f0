/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI jobs, each with one trouble: job KIND. Each takes about a second. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;

static double thread_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Uses a processor for that long, however long it has to wait for one. */
static void compute(double s)
{
	double until = thread_cpu_s() + s;
	volatile long k;

	while (thread_cpu_s() < until) {
		for (k = 0; k < 20000; k++) {
		}
	}
}

static void sleep_s(double s)
{
	struct timespec t = { (time_t)s, (long)(1e9 * (s - (double)(time_t)s)) };

	nanosleep(&t, NULL);
}

static void even(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		compute(0.25);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* The last rank does four times the work of the others. */
static void uneven(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		compute(rank == ranks - 1 ? 0.4 : 0.1);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void sleeper(void)
{
	int i;

	for (i = 0; i < 4; i++) {
		if (rank == 0) {
			sleep_s(0.3);
		} else {
			compute(0.03);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Rank 0 sleeps before each message that the others wait for. */
static void late_sender(void)
{
	int i, k, word = 0;

	for (i = 0; i < 6; i++) {
		if (rank == 0) {
			sleep_s(0.2);
			for (k = 1; k < ranks; k++) {
				MPI_Send(&word, 1, MPI_INT, k, 1, MPI_COMM_WORLD);
			}
		} else {
			MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
}

/* Each rank exchanges much and computes little. */
static void talk(void)
{
	enum { BYTES = 1 << 20 };
	static char out[BYTES], in[BYTES];
	double end = MPI_Wtime() + 1.2;
	int more;

	do {
		MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % ranks, 1, in, BYTES, MPI_CHAR,
			(rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		more = MPI_Wtime() < end;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	} while (more);
}

/* Each message is four bytes. */
static void talk_often(void)
{
	double end = MPI_Wtime() + 1;
	int word = 0, i;

	while (word >= 0) {
		for (i = 0; i < 1000; i++) {
			if (rank == 0) {
				MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
				MPI_Recv(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			} else {
				MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
			}
		}
		word = rank == 0 && MPI_Wtime() > end ? -1 : word;
		MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
}

static void meet_often(void)
{
	double end = MPI_Wtime() + 1, now, last;

	do {
		now = MPI_Wtime();
		MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		MPI_Allreduce(&end, &now, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	} while (last < now);
}

/* No memory is ever given back. */
static void take_memory(void)
{
	enum { BYTES = 8 << 20 };
	char *p;
	int i;

	for (i = 0; i < 20; i++) {
		p = malloc(BYTES);
		if (p) {
			memset(p, 1, BYTES);
		}
		compute(0.05);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void wait_for_each_other(void)
{
	int word = 0;

	sleep_s(0.3);
	MPI_Recv(&word, 1, MPI_INT, (rank + 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void lose_a_rank(int by_signal)
{
	compute(0.2);
	sleep_s(0.2);
	if (rank == 1 && by_signal) {
		kill(getpid(), SIGKILL);
	} else if (rank == 1) {
		exit(3);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "", *late = getenv("LATE_RANK"), *own = getenv("OMPI_COMM_WORLD_RANK");

	own = own ? own : getenv("PMI_RANK");
	if (late && own && !strcmp(late, own)) {
		sleep_s(2);
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!strcmp(kind, "even")) {
		even();
	} else if (!strcmp(kind, "uneven")) {
		uneven();
	} else if (!strcmp(kind, "sleeper")) {
		sleeper();
	} else if (!strcmp(kind, "late")) {
		late_sender();
	} else if (!strcmp(kind, "talk")) {
		talk();
	} else if (!strcmp(kind, "small")) {
		talk_often();
	} else if (!strcmp(kind, "meet")) {
		meet_often();
	} else if (!strcmp(kind, "grows")) {
		take_memory();
	} else if (!strcmp(kind, "deadlock")) {
		wait_for_each_other();
	} else if (!strcmp(kind, "killed") || !strcmp(kind, "exits")) {
		lose_a_rank(!strcmp(kind, "killed"));
	} else {
		fprintf(stderr, "job: no kind '%s'\n", kind);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Finalize();
	return 0;
}
