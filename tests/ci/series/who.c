/* SPDX-License-Identifier: BSD-3-Clause */
/* who SHAPE STEPS BASE EXTRA SLOW: a job of one shape. All ranks work, that is sleep, BASE ms in each step, and rank SLOW sleeps EXTRA ms
 * more (-1: none does). Work is slept, so that the load of the machine changes little. `who` alone lists the shapes,
 * `who even` those in which no rank is slow whatever SLOW is; they need three ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, BYTES = 512 };

static int rank, ranks, steps, slow;
static double base_ms, extra_ms;
static char from[MOST][BYTES], to[MOST][BYTES];

static void sleep_ms(double ms)
{
	struct timespec t = { (time_t)(ms / 1e3), (long)(1e6 * (ms - 1e3 * (double)(long)(ms / 1e3))) };

	nanosleep(&t, NULL);
}

__attribute__((noinline)) static void work(void)
{
	sleep_ms(base_ms + (rank == slow ? extra_ms : 0));
}

static int next_to(int by)
{
	return (rank + by + ranks) % ranks;
}

static void post(int other, int k, MPI_Request *r)
{
	MPI_Irecv(from[k], BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(to[k], BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD, &r[1]);
}

static void ring(void)
{
	MPI_Request r;

	work();
	MPI_Isend(to[0], BYTES, MPI_BYTE, next_to(1), 0, MPI_COMM_WORLD, &r);
	MPI_Recv(from[0], BYTES, MPI_BYTE, next_to(-1), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
	work();
	MPI_Sendrecv(to[0], BYTES, MPI_BYTE, next_to(1), 0, from[0], BYTES, MPI_BYTE, next_to(-1), 0, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	MPI_Sendrecv(to[1], BYTES, MPI_BYTE, next_to(-1), 1, from[1], BYTES, MPI_BYTE, next_to(1), 1, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
}

static MPI_Comm grid(void)
{
	static MPI_Comm c = MPI_COMM_NULL;
	int dims[2] = { 0, 0 }, periods[2] = { 1, 0 };

	if (c == MPI_COMM_NULL) {
		MPI_Dims_create(ranks, 2, dims);
		MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c);
	}
	return c;
}

/* overlapped: the work is between the begin of the exchange and its end */
static void exchange(int overlapped)
{
	MPI_Request r[8];
	int other[4], k;

	MPI_Cart_shift(grid(), 0, 1, &other[0], &other[1]);
	MPI_Cart_shift(grid(), 1, 1, &other[2], &other[3]);
	if (!overlapped) {
		work();
	}
	for (k = 0; k < 4; k++) {
		post(other[k], k, r + 2 * k);
	}
	if (overlapped) {
		work();
	}
	MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}

static void halo(void)
{
	exchange(0);
}

static void overlap(void)
{
	exchange(1);
}

/* Requests are made once; each step looks at them one after the other. */
static void persistent(void)
{
	static MPI_Request r[4];
	int k, i;

	if (!r[0]) {
		for (k = 0; k < 2; k++) {
			MPI_Recv_init(from[k], BYTES, MPI_BYTE, next_to(k ? 1 : -1), k, MPI_COMM_WORLD, &r[2 * k]);
			MPI_Send_init(to[k], BYTES, MPI_BYTE, next_to(k ? -1 : 1), k, MPI_COMM_WORLD, &r[2 * k + 1]);
		}
	}
	work();
	MPI_Startall(4, r);
	for (k = 0; k < 4; k++) {
		MPI_Waitany(4, r, &i, MPI_STATUS_IGNORE);
	}
}

/* Rank 0 gives each of the others a part, and takes their results. */
static void master(void)
{
	int k;

	if (rank) {
		MPI_Recv(from[0], BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		work();
		MPI_Send(to[0], BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
		return;
	}
	for (k = 1; k < ranks; k++) {
		MPI_Send(to[k], BYTES, MPI_BYTE, k, 0, MPI_COMM_WORLD);
	}
	if (slow == 0) {
		sleep_ms(extra_ms);
	}
	for (k = 1; k < ranks; k++) {
		MPI_Recv(from[k], BYTES, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* Each rank goes on with what the one before it has done, which waits until that is taken. */
static void pipeline(void)
{
	if (rank) {
		MPI_Recv(from[0], BYTES, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	work();
	if (rank + 1 < ranks) {
		MPI_Ssend(to[0], BYTES, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
	}
}

static void allreduce(void)
{
	int in = rank, out;

	work();
	MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void)
{
	work();
	MPI_Alltoall(to, 8, MPI_BYTE, from, 8, MPI_BYTE, MPI_COMM_WORLD);
}

static void barrier(void)
{
	work();
	MPI_Barrier(MPI_COMM_WORLD);
}

/* What all have found goes to rank 0, which tells all what to do next. */
static void rooted(void)
{
	int in = rank, out = 0;

	work();
	MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Bcast(&out, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void nonblocking(void)
{
	MPI_Request r;
	int in = rank, out;

	MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
	work();
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void neighbours(void)
{
	work();
	MPI_Neighbor_alltoall(to, 64, MPI_BYTE, from, 64, MPI_BYTE, grid());
}

static void fence(void)
{
	static MPI_Win w = MPI_WIN_NULL;

	if (w == MPI_WIN_NULL) {
		MPI_Win_create(from, sizeof(from), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
		MPI_Win_fence(0, w);
	}
	work();
	MPI_Put(to[0], 64, MPI_BYTE, next_to(1), 0, 64, MPI_BYTE, w);
	MPI_Win_fence(0, w);
}

/* Two threads of OpenMP in each rank. */
static void hybrid(void)
{
	int in = rank, out;

#pragma omp parallel num_threads(2)
	work();
	MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* An exchange with neighbours, and a sum now and then. */
static void mixed(void)
{
	static int n;

	halo();
	if (n++ % 5 == 4) {
		double in = rank, out;

		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
}

/* ---- even jobs in which a rank has nothing to do with the others, or pauses once ---- */

/* Two ranks take turns, and rank 0 does something of its own. */
static void apart(void)
{
	int other = rank == 1 ? 2 : 1;

	if (rank == 0 || rank > 2) {
		sleep_ms(rank == 0 ? 2 * base_ms : 0);
		return;
	}
	if (rank == 2) {
		MPI_Recv(from[0], BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	sleep_ms(base_ms);
	MPI_Send(to[0], BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Recv(from[0], BYTES, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* All but rank 0 meet, and one after the other of them is late. */
static void split(void)
{
	static MPI_Comm c = MPI_COMM_NULL;
	static int n;

	if (c == MPI_COMM_NULL) {
		MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &c);
	}
	sleep_ms(rank == 0 || rank == 1 + n % (ranks - 1) ? 4 * base_ms : base_ms);
	n++;
	MPI_Barrier(c);
}

/* The others write while rank 0 computes. */
static void files(void)
{
	static char some[1 << 20];
	double end = MPI_Wtime() + base_ms / 1e3;
	char name[40];
	MPI_File f;

	if (rank == 0) {
		sleep_ms(base_ms);
		return;
	}
	snprintf(name, sizeof(name), "who.%d", rank);
	MPI_File_open(
		MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	while (MPI_Wtime() < end) {
		MPI_File_write_at(f, 0, some, sizeof(some), MPI_BYTE, MPI_STATUS_IGNORE);
	}
	MPI_File_close(&f);
}

/* An operation that does not block, and rank 0 pauses in the middle. */
static void pause_once(void)
{
	static int n;
	MPI_Request r;

	MPI_Ibarrier(MPI_COMM_WORLD, &r);
	sleep_ms(base_ms * (rank == 0 && n++ == steps / 2 ? 6 : 1));
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct {
	const char *name;
	void (*step)(void);
} shapes[] = { { "ring", ring }, { "halo", halo }, { "master", master }, { "allreduce", allreduce },
	{ "pipeline", pipeline }, { "overlap", overlap }, { "sendrecv", sendrecv }, { "alltoall", alltoall },
	{ "fence", fence }, { "neighbours", neighbours }, { "hybrid", hybrid }, { "rooted", rooted },
	{ "persistent", persistent }, { "barrier", barrier }, { "nonblocking", nonblocking }, { "mixed", mixed },
	/* the even ones */
	{ "apart", apart }, { "split", split }, { "files", files }, { "pause", pause_once } };

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]), EVEN = 4 };

int main(int argc, char **argv)
{
	int i, k;

	if (argc < 6) {
		for (k = argc > 1 ? SHAPES - EVEN : 0; k < (argc > 1 ? SHAPES : SHAPES - EVEN); k++) {
			puts(shapes[k].name);
		}
		return 0;
	}
	for (k = 0; k < SHAPES && strcmp(argv[1], shapes[k].name) != 0; k++) {
	}
	steps = atoi(argv[2]);
	base_ms = atof(argv[3]);
	extra_ms = atof(argv[4]);
	slow = atoi(argv[5]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (i = 0; k < SHAPES && ranks <= MOST && i < steps; i++) {
		shapes[k].step();
	}
	MPI_Finalize();
	return k == SHAPES || ranks > MOST;
}
