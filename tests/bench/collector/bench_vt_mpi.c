/* SPDX-License-Identifier: BSD-3-Clause */
/* Under MPI: bench_vt_mpi overhead: ns that libVT adds to an MPI call when nothing is sampled, in slices that
 * alternate with the profiling name of the same call. bench_vt_mpi finalize N: N counter samples per rank, then the
 * seconds of MPI_Finalize as rank 0 sees it. bench_vt_mpi sync N: N clock sessions, 0.1 s apart. bench_vt_mpi start: nothing at all.
 * bench_vt_mpi trace: ns that a recorded call costs more than its profiling name; pingpong: the same of the one-way latency of two
 * ranks; messages N: N messages to itself, three calls each. */
#include "config.h"
#include "include/VT.h"
#include "tests/bench/lib/bench.h"

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

/* ---- what a call costs more while it is recorded ---- */

static void probe(void)
{
	int there;

	MPI_Iprobe(0, 1, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
}

static void probe_bare(void)
{
	int there;

	PMPI_Iprobe(0, 1, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
}

/* Three calls and a message. */
enum { MESSAGE_CALLS = 3 };

static void message(void)
{
	MPI_Request r[2];
	int a = 1, b;

	MPI_Irecv(&b, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]);
	MPI_Isend(&a, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void message_bare(void)
{
	MPI_Request r[2];
	int a = 1, b;

	PMPI_Irecv(&b, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]);
	PMPI_Isend(&a, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[1]);
	PMPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

enum { RECORDED = 30000 };

/* Of the processor: what else the machine does is not in it, page faults and writing to the file are. */
static double thread_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double short_loop(void (*call)(void))
{
	double begin = thread_seconds();
	int k;

	for (k = 0; k < RECORDED; k++) {
		call();
	}
	return (thread_seconds() - begin) / RECORDED * 1e9;
}

/* Slices in turn, with time in between for whoever gets blocks ready. */
static void recorded(const char *name, void (*call)(void), void (*bare)(void), int calls)
{
	const struct timespec pause = { 0, 10000000 };
	double added[RUNS];
	int i;

	for (i = -3; i < RUNS; i++) {
		double with = short_loop(call), without = short_loop(bare);

		nanosleep(&pause, NULL);
		if (i >= 0) {
			added[i] = (with - without) / calls;
		}
	}
	bench_print(name, added, RUNS, "ns");
}

enum { TURNS = 2000 };

/* One-way latency of 8 bytes between two ranks, the median of a slice, which a busy machine disturbs less than the mean. */
static double one_way(int rank, int bare)
{
	static double took[TURNS];
	double begin, v = 0;
	int k;

	PMPI_Barrier(MPI_COMM_WORLD);
	for (k = 0; k < TURNS; k++) {
		begin = seconds();
		if (rank == 0 && bare) {
			PMPI_Send(&v, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
			PMPI_Recv(&v, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == 0) {
			MPI_Send(&v, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(&v, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (bare) {
			PMPI_Recv(&v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			PMPI_Send(&v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
		} else {
			MPI_Recv(&v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&v, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
		}
		took[k] = (seconds() - begin) / 2 * 1e9;
	}
	return tkm_spread(took, TURNS).median;
}

static void pingpong(int rank)
{
	double added[RUNS], plain[RUNS];
	int i;

	for (i = -3; i < RUNS; i++) {
		double with = one_way(rank, 0), without = one_way(rank, 1);

		if (i >= 0) {
			added[i] = with - without;
			plain[i] = without;
		}
	}
	if (rank == 0) {
		bench_print("trace.mpi.pingpong", added, RUNS, "ns");
		bench_print("trace.mpi.pingpong.plain", plain, RUNS, "ns");
	}
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
	if (argc > 1 && strcmp(argv[1], "trace") == 0) {
		recorded("trace.mpi.inquire", inquire, inquire_bare, 1);
		recorded("trace.mpi.test", test, test_bare, 1);
		recorded("trace.mpi.probe", probe, probe_bare, 1);
		recorded("trace.mpi.message", message, message_bare, MESSAGE_CALLS);
	}
	if (argc > 1 && strcmp(argv[1], "pingpong") == 0) {
		pingpong(rank);
	}
	if (argc > 2 && strcmp(argv[1], "messages") == 0) {
		long k;

		for (k = 0; k < atol(argv[2]); k++) {
			message();
		}
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
