/* SPDX-License-Identifier: BSD-3-Clause */
/* polls CASE, with two ranks: rank 0 looks for a message of rank 1, which waits for one of rank 0. What rank 0 does between its calls, and
 * for how long: calls: nothing, in two bursts with 2.5 s of computation after each; chunks: 5 ms of computation, 4 s long; probe: the
 * same with MPI_Iprobe and 0.2 ms; rare: computation in each 1000th call; starved: the same with a
 * third of a processor; naps: MPI_Testsome and sleep(1), four times; tail: nothing,
 * 1.6 s long, and then 3 s of computation; self-probe: MPI_Iprobe for a message of itself, 4 s long. These send in the end. hang, hang-sleep, hang-late (nothing,
 * and 5 ms of sleep from the 1000th call on), hang-yield, hang-probe, hang-some: they do not. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The thread runs so long; a busy machine makes that longer. */
static void compute(double s)
{
	double end = now_s() + s;

	while (now_s() < end) {
		for (int i = 0; i < 1000; i++) {
			sum += 1.0 / (1 + i);
		}
	}
}

static int looks(const char *what, MPI_Request *request)
{
	int flag = 0, n, index;

	if (strstr(what, "probe")) {
		MPI_Iprobe(strcmp(what, "self-probe") ? 1 : 0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	} else if (!strcmp(what, "naps") || strstr(what, "some")) {
		MPI_Testsome(1, request, &n, &index, MPI_STATUSES_IGNORE);
		flag = n > 0;
	} else {
		MPI_Test(request, &flag, MPI_STATUS_IGNORE);
	}
	return flag;
}

static void between(const char *what, int i)
{
	if (!strcmp(what, "chunks")) {
		compute(5e-3);
	} else if (!strcmp(what, "probe")) {
		compute(2e-4);
	} else if ((!strcmp(what, "rare") || !strcmp(what, "starved")) && i % 1000 == 999) {
		compute(5e-3);
	} else if (!strcmp(what, "naps")) {
		sleep(1);
	} else if (!strcmp(what, "hang-late") && i >= 1000) {
		usleep(5000);
	} else if (strstr(what, "sleep") && i % 3 == 2) {
		usleep(1000);
	} else if (strstr(what, "yield")) {
		sched_yield();
	}
}

static void look_around(const char *what, double s)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int in = 0, out = 1, i, hangs = !strncmp(what, "hang", 4);
	double end = now_s() + s;

	if (!strstr(what, "probe")) {
		MPI_Irecv(&in, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
	}
	for (i = 0; hangs || now_s() < end; i++) {
		if (looks(what, &request)) {
			break;
		}
		between(what, i);
		if (!strcmp(what, "calls") && i % 200 == 199) {
			compute(2.5);
		}
	}
	if (!strcmp(what, "tail")) {
		compute(3);
	}
	MPI_Send(&out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	if (request == MPI_REQUEST_NULL) {
		MPI_Recv(&in, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* Two processes keep this one's processor busy, and a call that finds nothing yields to them. */
static pid_t hog[2];
static void starve(void)
{
	cpu_set_t one;
	int i;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (i = 0; i < 2; i++) {
		hog[i] = fork();
		if (hog[i] == 0) {
			for (alarm(50);;) {
			}
		}
	}
}

static void feed(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		kill(hog[i], SIGKILL);
		waitpid(hog[i], NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rank, data = 0, starved = !strcmp(what, "starved");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		if (starved) {
			starve();
		}
		look_around(what, !strcmp(what, "tail") ? 1.6 : starved ? 15 : 4);
		if (starved) {
			feed();
		}
	} else if (rank == 1) {
		MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
