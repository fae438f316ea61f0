/* SPDX-License-Identifier: BSD-3-Clause */
/* Under MPI: bench_vt_mpi overhead: ns that libVT adds to an MPI call when nothing is sampled, in slices that
 * alternate with the profiling name of the same call. bench_vt_mpi finalize N: N counter samples per rank, then the
 * seconds of MPI_Finalize as rank 0 sees it. bench_vt_mpi sync N: N clock sessions, 0.1 s apart. bench_vt_mpi start: nothing at all. */
#include "config.h"
#include "collector-plugin/api/VT.h"
#include "tests/bench/bench.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 31, CALLS = 1000000 };

/* MPI_Wtime() ends with MPI. */
static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ---- what a call costs more; by itself it costs next to nothing ---- */

static void inquire(void)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void inquire_bare(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void test(void)
{
	MPI_Request none = MPI_REQUEST_NULL;
	int done;

	MPI_Test(&none, &done, MPI_STATUS_IGNORE);
}

static void test_bare(void)
{
	MPI_Request none = MPI_REQUEST_NULL;
	int done;

	PMPI_Test(&none, &done, MPI_STATUS_IGNORE);
}

static double loop(void (*call)(void))
{
	double begin = seconds();
	int k;

	for (k = 0; k < CALLS; k++) {
		call();
	}
	return (seconds() - begin) / CALLS * 1e9;
}

static void overhead(const char *name, void (*call)(void), void (*bare)(void))
{
	double added[RUNS];
	int i;

	for (i = -3; i < RUNS; i++) {
		double with = loop(call), without = loop(bare);

		if (i >= 0) {
			added[i] = with - without;
		}
	}
	bench_print(name, added, RUNS, "ns");
}

static void record(long n)
{
	int cls, h;
	int64_t i;

	VT_classdef("Bench", &cls);
	VT_countdef("samples", cls, VT_COUNT_INTEGER64 | VT_COUNT_RATE, VT_ME, NULL, "#", &h);
	for (i = 0; i < n; i++) {
		VT_countval(1, &h, &i);
	}
}

static void sync_clocks(long sessions)
{
	const struct timespec apart = { 0, 100000000 };

	while (sessions-- > 0) {
		nanosleep(&apart, NULL);
		VT_timesync();
	}
}

int main(int argc, char **argv)
{
	int rank, finalize = argc > 2 && strcmp(argv[1], "finalize") == 0;
	double t;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1 && strcmp(argv[1], "overhead") == 0) {
		overhead("vt.mpi.overhead", inquire, inquire_bare);
		/* what this thread stamps next must not be taken before the call has finished */
		overhead("vt.mpi.overhead.ordered", test, test_bare);
	}
	if (finalize) {
		record(atol(argv[2]));
	}
	if (argc > 2 && strcmp(argv[1], "sync") == 0) {
		sync_clocks(atol(argv[2]));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	t = seconds();
	MPI_Finalize();
	if (finalize && rank == 0) {
		printf("%.6f\n", seconds() - t);
	}
	return 0;
}
