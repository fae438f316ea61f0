/* SPDX-License-Identifier: BSD-3-Clause */
/* Four ranks wait for each other in all ways that stftool --analyze knows. Rank 0 prints what each has waited, by the clock of
 * the node, in nanoseconds: "wait KIND|RANK|CALL|TIME|CAUSE"; and the efficiencies: "share NAME VALUE". */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CASES = 64, LARGE = 1 << 20, RANKS = 4 };

static int rank, n_cases;
static double begin, outside, enter[CASES], leave[CASES];
static char large[LARGE];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void sleep_ms(int ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000L };

	nanosleep(&t, NULL);
}

/* A call of MPI. Those that belong to a case are measured as that. */
#define CALL(call) \
	do { \
		double from = now(); \
		outside += from - begin; \
		call; \
		begin = now(); \
	} while (0)
#define MEASURED(call) \
	do { \
		enter[n_cases] = now(); \
		CALL(call); \
		leave[n_cases] = begin; \
	} while (0)

static double all_enter[RANKS][CASES], all_leave[RANKS][CASES];
static struct {
	const char *kind, *call;
	int waits[RANKS], cause;
} cases[CASES];

/* This case: who waits for `cause`, and in what. */
static void plan(const char *kind, const char *call, const int waits[RANKS], int cause)
{
	int i;

	cases[n_cases].kind = kind;
	cases[n_cases].call = call;
	cases[n_cases].cause = cause;
	for (i = 0; i < RANKS; i++) {
		cases[n_cases].waits[i] = waits[i];
	}
	n_cases++;
	CALL(MPI_Allgather(&rank, 1, MPI_INT, (int[RANKS]){ 0 }, 1, MPI_INT, MPI_COMM_WORLD));
}
#define ONLY(r) \
	(const int[RANKS]) \
	{ \
		(r) == 0, (r) == 1, (r) == 2, (r) == 3 \
	}
#define ALL_BUT(r) \
	(const int[RANKS]) \
	{ \
		(r) != 0, (r) != 1, (r) != 2, (r) != 3 \
	}
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static void late_senders(void)
{
	MPI_Request q[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	int x = 0, y = 0, at, some[2];

	if (rank == 0) {
		sleep_ms(60);
		MEASURED(MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD));
	} else if (rank == 1) {
		MEASURED(MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, IGNORE));
	}
	plan("late sender", "MPI_Recv", ONLY(1), 0);
	if (rank >= 2) {
		sleep_ms(rank == 2 ? 60 : 0);
		MEASURED(MPI_Sendrecv(&x, 1, MPI_INT, 5 - rank, 1, &y, 1, MPI_INT, 5 - rank, 1, WORLD, IGNORE));
	}
	plan("late sender", "MPI_Sendrecv", ONLY(3), 2);
	if (rank == 3) {
		sleep_ms(60);
		MEASURED(MPI_Send(&x, 1, MPI_INT, 1, 2, WORLD));
	} else if (rank == 1) {
		CALL(MPI_Irecv(&x, 1, MPI_INT, 3, 2, WORLD, q));
		MEASURED(MPI_Wait(q, IGNORE));
	}
	plan("late sender", "MPI_Wait", ONLY(1), 3);
	if (rank == 0 || rank == 2) {
		sleep_ms(rank == 2 ? 60 : 0);
		MEASURED(MPI_Send(&x, 1, MPI_INT, 3, 3, WORLD));
	} else if (rank == 3) {
		CALL(MPI_Irecv(&x, 1, MPI_INT, 2, 3, WORLD, &q[0]));
		CALL(MPI_Irecv(&y, 1, MPI_INT, 0, 3, WORLD, &q[1]));
		MEASURED(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
	}
	plan("late sender", "MPI_Waitall", ONLY(3), 2);
	if (rank == 3) {
		sleep_ms(60);
		MEASURED(MPI_Send(&x, 1, MPI_INT, 2, 4, WORLD));
	} else if (rank == 2) {
		CALL(MPI_Irecv(&x, 1, MPI_INT, 3, 4, WORLD, &q[0]));
		CALL(MPI_Irecv(&y, 1, MPI_INT, 1, 5, WORLD, &q[1]));
		MEASURED(MPI_Waitany(2, q, &at, IGNORE));
	}
	plan("late sender", "MPI_Waitany", ONLY(2), 3);
	if (rank == 1) {
		sleep_ms(60);
		MEASURED(MPI_Send(&x, 1, MPI_INT, 2, 5, WORLD));
	} else if (rank == 2) {
		MEASURED(MPI_Waitsome(2, q, &at, some, MPI_STATUSES_IGNORE));
	}
	plan("late sender", "MPI_Waitsome", ONLY(2), 1);
	if (rank == 1) {
		sleep_ms(60);
		MEASURED(MPI_Send(&x, 1, MPI_INT, 0, 6, WORLD));
	} else if (rank == 0) { /* persistent */
		CALL(MPI_Recv_init(&x, 1, MPI_INT, 1, 6, WORLD, q));
		CALL(MPI_Start(q));
		MEASURED(MPI_Wait(q, IGNORE));
		CALL(MPI_Request_free(q));
	}
	plan("late sender", "MPI_Wait", ONLY(0), 1);
}

static void late_receivers(void)
{
	int x = 0, y = 0;

	if (rank == 0) {
		MEASURED(MPI_Ssend(&x, 1, MPI_INT, 1, 7, WORLD));
	} else if (rank == 1) {
		sleep_ms(60);
		MEASURED(MPI_Recv(&x, 1, MPI_INT, 0, 7, WORLD, IGNORE));
	}
	plan("late receiver", "MPI_Ssend", ONLY(0), 1);
	if (rank == 2) {
		MEASURED(MPI_Send(large, LARGE, MPI_CHAR, 3, 8, WORLD));
	} else if (rank == 3) {
		sleep_ms(60);
		MEASURED(MPI_Recv(large, LARGE, MPI_CHAR, 2, 8, WORLD, IGNORE));
	}
	plan("late receiver", "MPI_Send", ONLY(2), 3);
	if (rank == 0) {
		MEASURED(MPI_Sendrecv(large, LARGE, MPI_CHAR, 1, 9, &y, 1, MPI_INT, 2, 9, WORLD, IGNORE));
	} else if (rank == 1) {
		sleep_ms(60);
		MEASURED(MPI_Recv(large, LARGE, MPI_CHAR, 0, 9, WORLD, IGNORE));
	} else if (rank == 2) {
		CALL(MPI_Send(&x, 1, MPI_INT, 0, 9, WORLD));
	}
	plan("late receiver", "MPI_Sendrecv", ONLY(0), 1);
	if (rank == 3) {
		MEASURED(MPI_Sendrecv_replace(large, LARGE, MPI_CHAR, 1, 9, 2, 9, WORLD, IGNORE));
	} else if (rank == 1) {
		sleep_ms(60);
		MEASURED(MPI_Recv(large, LARGE, MPI_CHAR, 3, 9, WORLD, IGNORE));
	} else if (rank == 2) {
		CALL(MPI_Send(large, LARGE, MPI_CHAR, 3, 9, WORLD));
	}
	plan("late receiver", "MPI_Sendrecv_replace", ONLY(3), 1);
}

static void operations(void)
{
	MPI_Request q;
	int x = 0, y = 0;

	sleep_ms(rank == 1 ? 60 : 0);
	MEASURED(MPI_Barrier(WORLD));
	plan("wait at barrier", "MPI_Barrier", ALL_BUT(1), 1);
	sleep_ms(rank == 2 ? 60 : 0);
	MEASURED(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, WORLD));
	plan("wait at N to N", "MPI_Allreduce", ALL_BUT(2), 2);
	sleep_ms(rank == 2 ? 60 : 0);
	MEASURED(MPI_Bcast(&x, 1, MPI_INT, 2, WORLD));
	plan("late broadcast", "MPI_Bcast", ALL_BUT(2), 2);
	sleep_ms(rank == 3 ? 60 : 0);
	MEASURED(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 1, WORLD));
	plan("early reduce", "MPI_Reduce", ONLY(1), 3);
	sleep_ms(rank == 0 ? 60 : 0);
	MEASURED(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, WORLD));
	plan("early scan", "MPI_Scan", ALL_BUT(0), 0);
	sleep_ms(rank == 3 ? 60 : 0);
	enter[n_cases] = now();
	CALL(MPI_Ibarrier(WORLD, &q));
	if (rank != 3) {
		MEASURED(MPI_Waitall(1, &q, MPI_STATUSES_IGNORE));
	} else {
		CALL(MPI_Waitall(1, &q, MPI_STATUSES_IGNORE));
	}
	plan("wait at barrier", "MPI_Waitall", ALL_BUT(3), 3);
}

/* The rank that came last of those that rank i waits for in a case. On a busy node it may not be the one that has slept. */
static int cause_of(int k, int i)
{
	int n = strcmp(cases[k].kind, "early scan") ? RANKS : i, cause = cases[k].cause, j;

	if (!strcmp(cases[k].kind, "wait at barrier") || !strcmp(cases[k].kind, "wait at N to N") ||
		!strncmp(cases[k].kind, "early", 5)) {
		for (j = 0; j < n; j++) {
			cause = j != i && all_enter[j][k] > all_enter[cause][k] ? j : cause;
		}
	}
	return cause;
}

int main(int argc, char **argv)
{
	double times[3], all[RANKS][3], run_begin, run_end, most = 0, sum = 0;
	int i, k;

	MPI_Init(&argc, &argv);
	begin = times[0] = now();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	plan("start", "", ONLY(RANKS), 0);
	late_senders();
	late_receivers();
	operations();
	CALL(MPI_Allgather(enter, CASES, MPI_DOUBLE, all_enter, CASES, MPI_DOUBLE, WORLD));
	CALL(MPI_Allgather(leave, CASES, MPI_DOUBLE, all_leave, CASES, MPI_DOUBLE, WORLD));
	times[1] = now();
	times[2] = outside;
	CALL(MPI_Allgather(times, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, WORLD));
	run_begin = all[0][0];
	run_end = all[0][1];
	for (i = 0; i < RANKS; i++) {
		run_begin = all[i][0] < run_begin ? all[i][0] : run_begin;
		run_end = all[i][1] > run_end ? all[i][1] : run_end;
		most = all[i][2] > most ? all[i][2] : most;
		sum += all[i][2];
	}
	for (k = 0; rank == 0 && k < n_cases; k++) {
		for (i = 0; i < RANKS; i++) {
			if (cases[k].waits[i]) {
				printf("wait %s|0:%d|MPI:%s|%.0f|0:%d\n", cases[k].kind, i, cases[k].call,
					all_enter[cause_of(k, i)][k] - all_enter[i][k], cause_of(k, i));
			}
		}
	}
	if (rank == 0) {
		printf("share parallel %.6f\n", sum / RANKS / (run_end - run_begin));
		printf("share load_balance %.6f\n", sum / RANKS / most);
		printf("share communication %.6f\n", most / (run_end - run_begin));
	}
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
