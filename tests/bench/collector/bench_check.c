/* SPDX-License-Identifier: BSD-3-Clause */
/* Under vtrun --check-mpi, with four ranks: what libVTmc adds to a call. Slices of the call alternate with slices of its profiling
 * name, which libVTmc does not see. Calls that need no other rank are measured by rank 0 in time of the processor, while the others
 * sleep. bench_check alive N: the rows of N receives that are alive meanwhile. */
#include "config.h"
#include "tests/bench/lib/bench.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 31, CALLS = 10000, TURNS = 300, ELEMENTS = 8192 };

static MPI_Request never; /* a receive that nothing comes for */
static double from[ELEMENTS], to[4 * ELEMENTS];
static int elements;

static double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ---- calls of one rank ---- */

#define CALL(name, ...) \
	static void name(void) \
	{ \
		__VA_ARGS__ \
	}
#define BOTH(name, calls) CALL(name, calls(MPI_)) CALL(name##_bare, calls(PMPI_))

#define INQUIRE(P) \
	int rank; \
	P##Comm_rank(MPI_COMM_WORLD, &rank);
#define TEST(P) \
	int flag; \
	P##Test(&never, &flag, MPI_STATUS_IGNORE);
/* with its call stack, and with memory that must be there */
#define START(P) \
	MPI_Request r; \
	P##Send_init(from, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &r); \
	P##Request_free(&r);
#define MESSAGE(P) \
	MPI_Request r[2]; \
	P##Irecv(to, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &r[0]); \
	P##Isend(from, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &r[1]); \
	P##Waitall(2, r, MPI_STATUSES_IGNORE);
#define BARRIER(P) P##Barrier(MPI_COMM_WORLD);
#define BCAST(P) P##Bcast(to, elements, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#define ALLREDUCE(P) P##Allreduce(from, to, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#define ALLTOALL(P) P##Alltoall(from, elements / 4, MPI_DOUBLE, to, elements / 4, MPI_DOUBLE, MPI_COMM_WORLD);
/* clang-format off */
BOTH(inquire, INQUIRE)
BOTH(test, TEST)
BOTH(start, START)
BOTH(message, MESSAGE)
BOTH(barrier, BARRIER)
BOTH(bcast, BCAST)
BOTH(allreduce, ALLREDUCE)
BOTH(alltoall, ALLTOALL)
/* clang-format on */

static double slice_ns(void (*call)(void), int n, clockid_t clock)
{
	double begin = clock_ns(clock);
	int i;

	for (i = 0; i < n; i++) {
		call();
	}
	return (clock_ns(clock) - begin) / n;
}

static void local(const char *name, void (*call)(void), void (*bare)(void), int calls)
{
	double added[RUNS];
	int i, n = CALLS / 10;

	for (i = -3; i < RUNS; i++) {
		double with = slice_ns(call, n, CLOCK_THREAD_CPUTIME_ID);

		if (i >= 0) {
			added[i] = (with - slice_ns(bare, n, CLOCK_THREAD_CPUTIME_ID)) / calls;
		}
	}
	bench_print(name, added, RUNS, "ns");
}

static void local_rows(long alive)
{
	MPI_Request *more = calloc((size_t)alive + 1, sizeof(MPI_Request));
	char *room = malloc((size_t)alive * 64 + 64);
	long i;

	for (i = 0; i < alive; i++) {
		MPI_Irecv(room + 64 * i, 64, MPI_BYTE, 0, 3, MPI_COMM_SELF, &more[i]);
	}
	MPI_Irecv(to + ELEMENTS, 1, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &never);
	if (!alive) {
		local("check.inquire", inquire, inquire_bare, 1);
		local("check.test", test, test_bare, 1);
		local("check.start", start, start_bare, 2);
	} else {
		local("check.alive.test", test, test_bare, 1);
	}
	local(alive ? "check.alive.message" : "check.message", message, message_bare, 1);
	MPI_Cancel(&never);
	MPI_Wait(&never, MPI_STATUS_IGNORE);
	for (i = 0; i < alive; i++) {
		MPI_Cancel(&more[i]);
	}
	MPI_Waitall((int)alive, more, MPI_STATUSES_IGNORE);
	free(room);
	free(more);
}

/* ---- ranks together ---- */

/* The median of a slice, which a busy machine disturbs less than the mean. */
static double median_ns(void (*call)(void))
{
	static double took[TURNS];
	int i;

	PMPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < TURNS; i++) {
		took[i] = slice_ns(call, 1, CLOCK_MONOTONIC);
	}
	return tkm_spread(took, TURNS).median;
}

static void together(const char *name, void (*call)(void), void (*bare)(void), int n)
{
	double over[RUNS], base[RUNS];
	char row[100];
	int i, rank;

	elements = n;
	for (i = -3; i < RUNS; i++) {
		double with = median_ns(call), without = median_ns(bare);

		if (i >= 0) {
			over[i] = with / without;
			base[i] = without;
		}
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		snprintf(row, sizeof(row), "check.%s.%d", name, n * (int)sizeof(double));
		bench_print(row, over, RUNS, "1");
		strcat(row, ".plain");
		bench_print(row, base, RUNS, "ns");
	}
}

/* Without the processor. */
static void wait_for_rank_0(void)
{
	const struct timespec t = { 0, 1000000 };
	MPI_Request all;
	int done = 0;

	PMPI_Ibarrier(MPI_COMM_WORLD, &all);
	while (!done) {
		nanosleep(&t, NULL);
		PMPI_Test(&all, &done, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	long alive = argc > 2 && !strcmp(argv[1], "alive") ? atol(argv[2]) : 0;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		local_rows(alive);
	}
	wait_for_rank_0();
	if (!alive) {
		together("barrier", barrier, barrier_bare, 0);
		together("bcast", bcast, bcast_bare, 1);
		together("bcast", bcast, bcast_bare, ELEMENTS);
		together("allreduce", allreduce, allreduce_bare, 1);
		together("allreduce", allreduce, allreduce_bare, ELEMENTS);
		together("alltoall", alltoall, alltoall_bare, ELEMENTS);
	}
	MPI_Finalize();
	return 0;
}
