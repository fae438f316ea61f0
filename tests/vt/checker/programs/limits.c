/* SPDX-License-Identifier: BSD-3-Clause */
/* limits CASE, with two ranks: more mistakes of one kind than a report or a job shows. errors: 15 sends to ranks that there are not;
 * requests: 15 that are not freed; messages: 25 that are not received; stopped: rank 0 makes a mistake, and rank 1 goes on; abort: MPI_Abort with 7;
 * left: rank 0 looks for a message for 2 s, computes for 12 s and sends what rank 1 waits for; late: both wait for a message, until
 * rank 1 has looked 4 s for its own; memory: 210,000 requests without a mistake, and how much memory they take;
 * communicators: the same of 40,000 communicators, one at a time; window: how much of the processor a rank takes that waits beside a
 * window; refused: the same when the other one has unlocked the window, and had not locked it;
 * fibers: calls on stacks of the program. */
#include <alloca.h>
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { MISTAKES = 15, MESSAGES = 25, MANY = 300 };

/* More receives than the checker tells apart, so that it is not known what the rank waits for. */
static void post_many(MPI_Request *many, int *into, int peer)
{
	int i;

	for (i = 0; i < MANY; i++) {
		MPI_Irecv(&into[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &many[i]);
	}
}

static void send_many(int peer)
{
	int i;

	for (i = 0; i < MANY; i++) {
		MPI_Send(&i, 1, MPI_INT, peer, i, MPI_COMM_WORLD);
	}
}

/* At most `times` times, and s seconds. */
static void look(MPI_Request *many, int n, int times, double s)
{
	double end = MPI_Wtime() + s;
	int done = 0, i;

	for (i = 0; i < times && !done && MPI_Wtime() < end; i++) {
		for (int k = 0; k < 20; k++) {
			MPI_Testall(n, many, &done, MPI_STATUSES_IGNORE);
		}
		usleep(10000);
	}
}

static void leave_loop(int rank)
{
	MPI_Request many[MANY];
	int into[MANY];

	if (rank == 0) {
		MPI_Irecv(into, 1, MPI_INT, 1, MANY, MPI_COMM_WORLD, many);
		look(many, 1, 200, 2);
		sleep(12);
		send_many(1);
		MPI_Wait(many, MPI_STATUS_IGNORE);
	} else {
		post_many(many, into, 0);
		MPI_Waitall(MANY, many, MPI_STATUSES_IGNORE);
		MPI_Send(into, 1, MPI_INT, 0, MANY, MPI_COMM_WORLD);
	}
}

static void wait_late(int rank)
{
	MPI_Request many[MANY];
	int into[MANY];
	FILE *f;

	post_many(many, into, 1 - rank);
	f = fopen(rank ? "pid.1" : "pid.0", "w");
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	if (rank == 1) {
		look(many, MANY, 400, 60);
		send_many(0);
	} else {
		MPI_Waitall(MANY, many, MPI_STATUSES_IGNORE);
		send_many(1);
	}
	MPI_Waitall(rank ? MANY : 0, many, MPI_STATUSES_IGNORE);
}

/* Kilobytes of this process that are not those of the program and of MPI, which both use malloc(). The table of messages that the ranks of a node
 * share does not grow; how much of it a rank has looked at depends on how they meet. */
static long others(void)
{
	struct mallinfo2 m = mallinfo2();
	char line[200];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), f) && sscanf(line, "RssAnon: %ld", &kb) != 1) {
	}
	fclose(f);
	return kb - (long)((m.uordblks + m.hblkhd) / 1024);
}

/* 200,000 requests, two at a time, then 10,000 at a time. */
static void use_memory(int rank)
{
	enum { TIMES = 50000, ALIVE = 10000 };
	static int from[ALIVE], into[ALIVE];
	static MPI_Request many[ALIVE];
	long before = 0, after, i;

	for (i = 0; i < TIMES; i++) {
		MPI_Irecv(&into[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &many[0]);
		MPI_Irecv(&into[1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &many[1]);
		MPI_Isend(&from[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &many[2]);
		MPI_Isend(&from[1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &many[3]);
		MPI_Waitall(4, many, MPI_STATUSES_IGNORE);
		if (i == 0) {
			memset(into, 1, sizeof(into));
			memset(many, 1, sizeof(many));
			before = others();
		}
	}
	for (i = 0; i < ALIVE; i++) {
		MPI_Irecv(&into[i], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &many[i]);
	}
	after = others();
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < ALIVE; i++) {
		MPI_Send(&from[i], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
	}
	MPI_Waitall(ALIVE, many, MPI_STATUSES_IGNORE);
	fprintf(stderr, "%ld kB: %s\n", after - before, after - before <= 8192 ? "as few as wanted" : "too many");
}

static void make_communicators(void)
{
	enum { TIMES = 40000 };
	long before = 0, after, i;
	MPI_Comm own;

	for (i = 0; i < TIMES; i++) {
		MPI_Comm_dup(MPI_COMM_SELF, &own);
		MPI_Comm_free(&own);
		before = i == 100 ? others() : before;
	}
	after = others();
	fprintf(stderr, "%ld kB: %s\n", after - before, after - before <= 2048 ? "as few as wanted" : "too many");
}

/* Rank 0 waits 2 s for a message beside a window that nobody uses. */
static void wait_beside_window(int rank, int refused)
{
	struct timespec begin, end;
	int value = 0;
	double s;
	MPI_Win w;

	MPI_Win_create(&value, sizeof(value), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_fence(0, w);
	if (refused && rank == 1) {
		MPI_Win_unlock(0, w);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	if (rank == 0) {
		MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
		s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
		fprintf(stderr, "%g s of the processor: %s\n", s, s < 0.2 ? "as little as wanted" : "too much");
	} else {
		sleep(2);
		MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	}
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
}

static size_t skipped;

static void call_from_fiber(void)
{
	volatile char *room = alloca(skipped + 16);
	MPI_Request request;

	room[0] = 1;
	MPI_Irecv((void *)room, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_SELF, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same call at the same address, on a stack that ends above it, and on one of which that was the middle. */
static void switch_stacks(void)
{
	enum { LARGE = 1 << 19, SMALL = 1 << 18 };
	ucontext_t fiber, back;
	char *stack;

	stack = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (skipped = SMALL;; skipped = 0) {
		getcontext(&fiber);
		fiber.uc_stack.ss_sp = stack;
		fiber.uc_stack.ss_size = LARGE - (SMALL - skipped);
		fiber.uc_link = &back;
		makecontext(&fiber, call_from_fiber, 0);
		swapcontext(&back, &fiber);
		if (!skipped) {
			break;
		}
		munmap(stack + LARGE - SMALL, SMALL);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	MPI_Request request[MISTAKES];
	int rank, i, data[MESSAGES] = { 0 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 0; !strcmp(what, "errors") && rank == 1 && i < MISTAKES; i++) {
		MPI_Send(data, 1, MPI_INT, 100 + i, 0, MPI_COMM_WORLD);
	}
	for (i = 0; !strcmp(what, "requests") && rank == 1 && i < MISTAKES; i++) {
		MPI_Send_init(&data[i], 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD, &request[i]);
	}
	for (i = 0; !strcmp(what, "messages") && rank == 0 && i < MESSAGES; i++) {
		MPI_Send(&data[i], 1, MPI_INT, 1, 100 + i, MPI_COMM_WORLD);
	}
	if (!strcmp(what, "abort") && rank == 0) {
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	if (!strcmp(what, "stopped") && rank == 0) {
		MPI_Send(data, 1, MPI_INT, 100, 0, MPI_COMM_WORLD);
	} else if (!strcmp(what, "stopped")) {
		sleep(3);
		printf("rank 1 has gone on\n");
		fflush(stdout);
	}
	if (!strcmp(what, "left")) {
		leave_loop(rank);
	} else if (!strcmp(what, "late")) {
		wait_late(rank);
	} else if (!strcmp(what, "fibers")) {
		switch_stacks();
	} else if (!strcmp(what, "communicators")) {
		make_communicators();
	} else if (!strcmp(what, "window") || !strcmp(what, "refused")) {
		wait_beside_window(rank, what[0] == 'r');
	} else if (!strcmp(what, "memory")) {
		use_memory(rank);
	}
	MPI_Finalize();
	return 0;
}
