/* SPDX-License-Identifier: BSD-3-Clause */
/* Records what all hosts of one machine share however their monotonic clocks differ: CLOCK_REALTIME, in nanoseconds, as
 * the value of a counter, next to the stamp that the collector takes, and what they show after it ("realtime after") with that value ("realtime of"). Some seconds' tenths long: argv[1]. argv[2] "multiple":
 * as one that may call MPI from several threads; "sync": with VT_timesync() in between; "timed": so long by the clock from the
 * program's begin on, however slow it is, with VT_timesync() each fifth of a second; "much": 300000 more, fast. "timed silent": VT_timesync() each
 * 1.2 s, after which all but rank 0 record a hundred samples and then no more. */
#include <VT.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int64_t realtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void record(int *h, int naps)
{
	int64_t ns[2];

	ns[0] = realtime();
	VT_countval(1, &h[0], ns);
	ns[1] = realtime();
	VT_countval(2, &h[1], ns);
	if (naps) {
		usleep(1000);
	}
}

/* Rank 0 says when it is time for what. */
static void timed(int *h, double end, int rank, int silent)
{
	double every = silent ? 1.2 : 0.2, next = seconds() + (silent ? 0 : every);
	int i, what = 1, left = 0;

	while (what != 2) {
		for (i = 0; i < 10; i++) {
			if (!silent || rank == 0 || left > 0) {
				record(h, 1);
				left--;
			} else {
				usleep(1000);
			}
		}
		what = seconds() > end ? 2 : seconds() > next;
		MPI_Bcast(&what, 1, MPI_INT, 0, MPI_COMM_WORLD);
		if (what == 1) {
			VT_timesync();
			next = seconds() + every;
			left = 100;
		}
	}
}

int main(int argc, char **argv)
{
	int cls, h[3], i, tenths, level, sync = argc > 2 && strstr(argv[2], "sync");
	double begin = seconds();

	if (argc > 2 && strstr(argv[2], "multiple")) {
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	} else {
		MPI_Init(&argc, &argv);
	}
	tenths = argc > 1 ? atoi(argv[1]) : 5;
	VT_classdef("Truth", &cls);
	VT_countdef("realtime", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &h[0]);
	VT_countdef("realtime of", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &h[1]);
	VT_countdef("realtime after", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &h[2]);
	if (argc > 2 && strstr(argv[2], "timed")) {
		int rank;

		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		timed(h, begin + 0.1 * tenths, rank, strstr(argv[2], "silent") != NULL);
		tenths = 0;
	}
	for (i = 0; argc > 2 && strstr(argv[2], "much") && i < 300000; i++) {
		record(h, 0);
	}
	for (i = 0; i < tenths * 100; i++) {
		record(h, 1);
		if (sync && i % 200 == 199) {
			VT_timesync();
		}
	}
	MPI_Finalize();
	return 0;
}
