/* SPDX-License-Identifier: BSD-3-Clause */
/* Three ranks wait for each other on a window in the ways that stftool --analyze knows. In each case one rank sleeps for 60 ms. Rank
 * 0 prints what each has waited, by the clock of the node, in nanoseconds: "wait KIND|RANK|CALL|TIME|CAUSE". With an argument nobody
 * sleeps. Some calls fail before the one that counts (mpi_window_faults.c). */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "tests/vt/mpi/windows/mpi_window_faults.h"

enum { CASES = 16, RANKS = 3 };

static int rank, n_cases, sleeps;
static double enter[CASES], all[RANKS][CASES];
static struct {
	const char *kind, *call;
	int waits, cause;
} cases[CASES];
static MPI_Win win;
static MPI_Group group[RANKS]; /* of one rank */

static void come_later(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000L };

	if (sleeps) {
		nanosleep(&t, NULL);
	}
}

static void come_late(void)
{
	come_later(60);
}

/* This rank is about to make the call of the case. */
static void note_call(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	enter[n_cases] = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void all_come(void)
{
	int there[RANKS];

	MPI_Allgather(&rank, 1, MPI_INT, there, 1, MPI_INT, MPI_COMM_WORLD);
}

static void end_case(const char *kind, const char *call, int waits, int cause)
{
	cases[n_cases].kind = kind;
	cases[n_cases].call = call;
	cases[n_cases].waits = waits;
	cases[n_cases++].cause = cause;
	all_come();
}

static void put(int to)
{
	MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, win);
}

static void failing_post(MPI_Group origins)
{
	window_calls_fail = 1;
	MPI_Win_post(origins, 0, win);
	window_calls_fail = 0;
}

static void failing_complete(void)
{
	window_calls_fail = 1;
	MPI_Win_complete(win);
	window_calls_fail = 0;
}

/* The fence ends for rank 0 after rank 1 has come, and before rank 2 does. */
static void early_fence(void)
{
	static const int later[RANKS] = { 0, 20, 60 }, stays[RANKS] = { 40, 60, 1 };

	come_later(later[rank]);
	note_call();
	window_fence_ms = sleeps ? stays[rank] : 0;
	MPI_Win_fence(0, win);
	window_fence_ms = -1;
	end_case("wait at fence", "MPI_Win_fence", 0, 1);
	cases[n_cases] = cases[n_cases - 1];
	cases[n_cases].waits = 1;
	cases[n_cases].cause = 2;
	enter[n_cases] = enter[n_cases - 1];
	n_cases++;
}

/* Rank 0 puts into the window of rank 1, which posts late. */
static void late_post(void)
{
	if (rank == 0) {
		note_call();
		MPI_Win_start(group[1], 0, win);
		put(1);
		MPI_Win_complete(win);
	} else if (rank == 1) {
		failing_post(group[0]);
		come_late();
		note_call();
		MPI_Win_post(group[0], 0, win);
		MPI_Win_wait(win);
	}
	end_case("late post", "MPI_Win_start", 0, 1);
}

/* Rank 2 puts into the window of rank 0, and completes late. */
static void late_complete(int tests)
{
	int done = 0;

	if (rank == 2) {
		MPI_Win_start(group[0], 0, win);
		put(0);
		failing_complete();
		come_late();
		note_call();
		MPI_Win_complete(win);
	} else if (rank == 0) {
		MPI_Win_post(group[2], 0, win);
		failing_post(group[1]);
		failing_post(MPI_GROUP_NULL);
		note_call();
		while (tests && !done) {
			MPI_Win_test(win, &done);
		}
		if (!tests) {
			MPI_Win_wait(win);
		}
	}
	end_case("late complete", tests ? "MPI_Win_test" : "MPI_Win_wait", 0, 2);
}

/* Both ranks 0 and 2 put into the window of rank 1; rank 2 completes late. */
static void late_complete_of_two(void)
{
	MPI_Group world, both;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, (int[]){ 2, 0 }, &both);
	if (rank == 1) {
		MPI_Win_post(both, 0, win);
		note_call();
		MPI_Win_wait(win);
	} else {
		MPI_Win_start(group[1], 0, win);
		put(1);
		if (rank == 2) {
			come_late();
			note_call();
		}
		MPI_Win_complete(win);
	}
	end_case("late complete", "MPI_Win_wait", 1, 2);
}

/* Rank 2 has a lock of the window of rank 1 for long, and rank 0 asks for one: it waits unless both are shared. */
static void long_lock(int type)
{
	if (rank == 2) {
		MPI_Win_lock(type, 1, 0, win);
		put(1);
		MPI_Win_flush(1, win);
	}
	all_come();
	if (rank == 2) {
		come_late();
		note_call();
		MPI_Win_unlock(1, win);
	} else if (rank == 0) {
		note_call();
		MPI_Win_lock(type, 1, 0, win);
		put(1);
		MPI_Win_flush(1, win);
		MPI_Win_unlock(1, win);
	}
	if (type == MPI_LOCK_EXCLUSIVE) {
		end_case("wait for window lock", "MPI_Win_lock", 0, 2);
	} else {
		all_come();
	}
}

int main(int argc, char **argv)
{
	int memory[RANKS] = { 0 }, i, k;
	MPI_Group world;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sleeps = argc == 1;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (i = 0; i < RANKS; i++) {
		MPI_Group_incl(world, 1, &i, &group[i]);
	}
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	all_come();
	if (rank == 1) {
		come_late();
	}
	note_call();
	MPI_Win_fence(0, win);
	end_case("wait at fence", "MPI_Win_fence", 0, 1);
	cases[n_cases] = cases[n_cases - 1]; /* rank 2 waited at the same fence */
	cases[n_cases].waits = 2;
	enter[n_cases] = enter[n_cases - 1];
	n_cases++;
	put((rank + 1) % RANKS);
	all_come();
	early_fence();
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	all_come();
	late_post();
	late_complete(0);
	late_complete(1);
	late_complete_of_two();
	long_lock(MPI_LOCK_EXCLUSIVE);
	long_lock(MPI_LOCK_SHARED);
	MPI_Win_free(&win);
	MPI_Allgather(enter, CASES, MPI_DOUBLE, all, CASES, MPI_DOUBLE, MPI_COMM_WORLD);
	for (k = 0; rank == 0 && k < n_cases; k++) {
		printf("wait %s|0:%d|MPI:%s|%.0f|0:%d\n", cases[k].kind, cases[k].waits, cases[k].call,
			all[cases[k].cause][k] - all[cases[k].waits][k], cases[k].cause);
	}
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
