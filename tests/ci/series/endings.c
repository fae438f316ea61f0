/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that ends in one of many ways after a short time: endings HOW [MPI]. Compiled with -DWITH_MPI it is a rank of a job, of
 * which rank 1 ends so, or all ranks where the name begins with "all-", and the others wait for it in MPI_Barrier. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static volatile int *nowhere;

static void work(double s)
{
	struct timespec a, b;
	volatile double x = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		x += 1;
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < s);
}

static void use_up_cpu_time(void)
{
	struct rlimit l = { 1, 10 };

	setrlimit(RLIMIT_CPU, &l);
	work(60);
}

static void end(const char *how, char *self)
{
	static const struct {
		const char *name;
		int signal;
	} signals[] = { { "SIGTERM", SIGTERM }, { "SIGINT", SIGINT }, { "SIGKILL", SIGKILL } };
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (!strcmp(how, signals[i].name)) {
			kill(getpid(), signals[i].signal);
			sleep(60);
		}
	}
	if (!strcmp(how, "SIGSEGV")) {
		*nowhere = 1;
	} else if (!strcmp(how, "SIGXCPU")) {
		use_up_cpu_time();
	} else if (!strcmp(how, "abort") || !strcmp(how, "uncaught")) {
		abort();
	} else if (!strcmp(how, "_exit")) {
		_exit(3);
	} else if (!strcmp(how, "exit")) {
		exit(4);
	} else if (!strcmp(how, "exec")) {
		execlp("true", "true", (char *)0);
	} else if (!strcmp(how, "pthread_exit")) {
		pthread_exit(NULL);
#ifdef WITH_MPI
	} else if (!strcmp(how, "MPI_Abort")) {
		MPI_Abort(MPI_COMM_WORLD, 5);
#endif
	}
	(void)self;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	int mine = 1;
#ifdef WITH_MPI
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	mine = rank == 1 || !strncmp(how, "all-", 4);
#endif
	how += strncmp(how, "all-", 4) ? 0 : 4;
	work(0.15);
	if (mine) {
		end(how, argv[0]);
	}
#ifdef WITH_MPI
	if (!strcmp(how, "wait")) {
		sleep(60);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
#endif
	return 0;
}
