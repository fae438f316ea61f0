/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI jobs, each with one trouble: job KIND. Each takes about a second. */
#include <mpi.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cli/vtreport/findings/compute.h"

static int rank, ranks;

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

/* The last rank works a little longer. */
static void slower(void)
{
	int i;

	for (i = 0; i < 12; i++) {
		compute(rank == ranks - 1 ? 0.118 : 0.1);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* The last rank works on when the others have nothing left to do. */
static void late_end(void)
{
	even();
	compute(rank == ranks - 1 ? 0.8 : 0);
}

/* Now this rank works, now the other one, and all meet after that. */
static void take_turns(int by_sum)
{
	int i, all;

	for (i = 0; i < 12; i++) {
		compute(i % ranks == rank ? 0.1 : 0.001);
		if (by_sum) {
			MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		} else {
			MPI_Barrier(MPI_COMM_WORLD);
		}
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

/* Each rank only with itself: how often, it says. */
static void meet_itself(void)
{
	enum { ITEMS = 20000 };
	static double out[ITEMS], in[ITEMS];
	double begin = MPI_Wtime(), now;
	int n = 0;

	do {
		MPI_Allreduce(out, in, ITEMS, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
		now = MPI_Wtime();
		n++;
	} while (now < begin + 1);
	printf("%.0f\n", n / (now - begin));
}

#ifdef _OPENMP
/* Large messages, and threads that wait longer for each other than ranks do. */
static void talk_and_work(void)
{
	int i;

	for (i = 0; i < 5; i++) {
#pragma omp parallel num_threads(2)
		compute(omp_get_thread_num() ? 0.001 : 0.15);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	talk();
}
#endif

static void grow(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		take_memory();
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
	} else if (!strcmp(kind, "slower")) {
		slower();
	} else if (!strcmp(kind, "late-end")) {
		late_end();
	} else if (!strcmp(kind, "turns") || !strcmp(kind, "turns-sum")) {
		take_turns(!strcmp(kind, "turns-sum"));
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
	} else if (!strcmp(kind, "self")) {
		meet_itself();
#ifdef _OPENMP
	} else if (!strcmp(kind, "hybrid")) {
		talk_and_work();
#endif
	} else if (!strcmp(kind, "grows")) {
		grow();
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
