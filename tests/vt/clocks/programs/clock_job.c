/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's clock in an MPI program under libVT: a token goes round the ranks, each of which takes a reading before it passes it on.
 * No reading may be certainly later than one that was taken after it. Then each rank compares its readings with CLOCK_MONOTONIC, which
 * is ahead of rank 0's by the first argument times the rank, in seconds; the job's timer must be that clock. With a second argument
 * the program then waits for so many seconds, and rank 0 prints its readings beside its own clock. Prints for the script clock.sh. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "include/clock.h"

enum { ROUNDS = 2000 };

static long asked, well, wrong, certain, outside;

static void one_round(const struct tickmark_clock *c, int rank, int size)
{
	struct tickmark_time before, own;

	if (rank > 0) {
		MPI_Recv(&before, sizeof(before), MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	tickmark_now(c, &own);
	asked++;
	well += own.status == TICKMARK_OK;
	if (rank > 0) {
		wrong += tickmark_after(&before, &own) == TICKMARK_YES || tickmark_before(&before, &own) == TICKMARK_NO;
		certain += tickmark_before(&before, &own) == TICKMARK_YES;
	}
	if (rank + 1 < size) {
		MPI_Send(&own, sizeof(own), MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
	}
}

static int64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* By what rank 0 reads of the job's clock and of its own, the job's zero is known to within its intervals. */
static void compare_with_truth(const struct tickmark_clock *c, int rank, int64_t ahead_ns)
{
	int64_t zero[2] = { INT64_MIN, INT64_MAX }, before, after;
	struct timespec nap = { 0, 1000000 };
	struct tickmark_time t;
	int i;

	for (i = 0; rank == 0 && i < 1000; i++) {
		before = monotonic_ns();
		if (tickmark_now(c, &t) == TICKMARK_OK) {
			after = monotonic_ns();
			zero[0] = before - t.latest_ns > zero[0] ? before - t.latest_ns : zero[0];
			zero[1] = after - t.earliest_ns < zero[1] ? after - t.earliest_ns : zero[1];
		}
	}
	MPI_Bcast(zero, sizeof(zero), MPI_BYTE, 0, MPI_COMM_WORLD);
	for (i = 0; i < 50000; i++) {
		before = monotonic_ns() - ahead_ns;
		asked++;
		well += tickmark_now(c, &t) == TICKMARK_OK;
		after = monotonic_ns() - ahead_ns;
		outside += t.latest_ns < before - zero[1] || t.earliest_ns > after - zero[0];
		if (i % 50 == 0) {
			nanosleep(&nap, NULL);
		}
	}
}

int main(int argc, char **argv)
{
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tickmark_error err = { 0, "" };
	struct tickmark_clock *c;
	long sum[5], all[5];
	int rank, size, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	c = tickmark_open(&o, &err);
	if (!c) {
		fprintf(stderr, "rank %d: %s\n", rank, err.text);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (i = 0; i < ROUNDS; i++) {
		one_round(c, rank, size);
	}
	if (argc > 1) {
		compare_with_truth(c, rank, (int64_t)rank * atoi(argv[1]) * 1000000000);
	}
	sum[0] = asked;
	sum[1] = well;
	sum[2] = wrong;
	sum[3] = certain;
	sum[4] = outside;
	MPI_Reduce(sum, all, 5, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		printf("asked %ld well %ld wrong %ld certain %ld outside %ld\n", all[0], all[1], all[2], all[3],
			all[4]);
		fflush(stdout);
	}
	if (argc > 2) {
		sleep((unsigned)atoi(argv[2]));
	}
	if (rank == 0) {
		struct tickmark_time t;
		int64_t begin = monotonic_ns(), end;

		tickmark_now(c, &t);
		end = monotonic_ns();
		printf("own %" PRId64 " %" PRId64 " clock %" PRId64 " %" PRId64 "\n", begin, end, t.earliest_ns,
			t.latest_ns);
		fflush(stdout);
	}
	tickmark_close(c);
	MPI_Finalize();
	return 0;
}
