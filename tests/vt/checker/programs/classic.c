/* SPDX-License-Identifier: BSD-3-Clause */
/* classic CASE [MUTANT], with four ranks: programs as they are in books, each correct. mutate.py changes one call of MPI each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8 };

static int rank, size;
static double u[N + 2], v[N + 2];

static int right(void)
{
	return (rank + 1) % size;
}

static int left(void)
{
	return (rank + size - 1) % size;
}

static double halo(void)
{
	MPI_Request q[4];

	MPI_Irecv(&u[0], 1, MPI_DOUBLE, left(), 1, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(&u[N + 1], 1, MPI_DOUBLE, right(), 2, MPI_COMM_WORLD, &q[1]);
	MPI_Isend(&u[N], 1, MPI_DOUBLE, right(), 1, MPI_COMM_WORLD, &q[2]);
	MPI_Isend(&u[1], 1, MPI_DOUBLE, left(), 2, MPI_COMM_WORLD, &q[3]);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	return u[0] + u[N + 1];
}

static double ring(void)
{
	double out = rank, in = 0, sum = 0;

	for (int i = 0; i < size; i++) {
		MPI_Sendrecv(&out, 1, MPI_DOUBLE, right(), 3, &in, 1, MPI_DOUBLE, left(), 3, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		sum += in;
		out = in;
	}
	return sum;
}

static double workers(void)
{
	MPI_Status status;
	int task = 0, got = 0, i, sum = 0;

	if (rank == 0) {
		for (i = 1; i < size; i++) {
			task = 10 * i;
			MPI_Send(&task, 1, MPI_INT, i, 4, MPI_COMM_WORLD);
		}
		for (i = 1; i < size; i++) {
			MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
			MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 5, MPI_COMM_WORLD, &status);
			sum += got;
		}
	} else {
		MPI_Recv(&task, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &status);
		task++;
		MPI_Ssend(&task, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	}
	return sum;
}

static double collect(void)
{
	double all[4 * N], part[N], sum = 0, total = 0, scan = 0;
	int n = N;

	for (int i = 0; i < 4 * N; i++) {
		all[i] = i;
	}
	MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatter(all, N, MPI_DOUBLE, part, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int i = 0; i < N; i++) {
		sum += part[i] * n;
	}
	MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	MPI_Scan(&sum, &scan, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Gather(part, N, MPI_DOUBLE, all, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Allgather(&scan, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Alltoall(all, 1, MPI_DOUBLE, part, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	return total + scan + part[1];
}

static double persistent(void)
{
	MPI_Request q[2];
	double sum = 0;

	MPI_Recv_init(v, N, MPI_DOUBLE, left(), 6, MPI_COMM_WORLD, &q[0]);
	MPI_Send_init(u, N, MPI_DOUBLE, right(), 6, MPI_COMM_WORLD, &q[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, q);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		sum += v[1];
		u[1] += 1;
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
	return sum;
}

static double grid(void)
{
	int sizes[2] = { 2, 2 }, periods[2] = { 1, 1 }, keep[2] = { 0, 1 }, from, to;
	double in = 0, out = rank, sum = 0;
	MPI_Comm cart, row;

	MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &cart);
	MPI_Cart_shift(cart, 0, 1, &from, &to);
	MPI_Sendrecv(&out, 1, MPI_DOUBLE, to, 7, &in, 1, MPI_DOUBLE, from, 7, cart, MPI_STATUS_IGNORE);
	MPI_Cart_sub(cart, keep, &row);
	MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
	MPI_Comm_free(&row);
	MPI_Comm_free(&cart);
	return sum;
}

static double columns(void)
{
	double a[4][4] = { { rank } }, b[4] = { 0 };
	MPI_Datatype column;
	MPI_Request q;

	MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	MPI_Irecv(b, 4, MPI_DOUBLE, left(), 8, MPI_COMM_WORLD, &q);
	MPI_Send(&a[0][0], 1, column, right(), 8, MPI_COMM_WORLD);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Type_free(&column);
	return b[0];
}

static double halves(void)
{
	MPI_Group all, some;
	MPI_Comm half, copy;
	int which[2] = { 0, 2 }, n = 0, sum = 0, one = 1;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_dup(half, &copy);
	MPI_Comm_size(copy, &n);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 2, which, &some);
	MPI_Group_free(&some);
	MPI_Group_free(&all);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&half);
	return n + sum;
}

static double overlapped(void)
{
	int n = rank ? 0 : 5, one = 1, sum = 0, done = 0;
	MPI_Request q[2];

	MPI_Ibcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD, &q[0]);
	MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[1]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	while (!done) {
		MPI_Test(&q[1], &done, MPI_STATUS_IGNORE);
	}
	return n + sum;
}

static double fence(void)
{
	double *memory, x = rank, y = 0;
	MPI_Win win;

	MPI_Win_allocate(2 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memory[0] = memory[1] = 0;
	MPI_Win_fence(0, win);
	MPI_Put(&x, 1, MPI_DOUBLE, right(), 0, 1, MPI_DOUBLE, win);
	MPI_Win_fence(0, win);
	MPI_Get(&y, 1, MPI_DOUBLE, left(), 0, 1, MPI_DOUBLE, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	return y;
}

static double locks(void)
{
	int *memory, one = 1, got = -1;
	MPI_Win win;

	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	*memory = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_unlock(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_unlock(0, win);
	MPI_Win_free(&win);
	return got;
}

static double vectors(void)
{
	int counts[4] = { 1, 2, 1, 2 }, at[4] = { 0, 1, 3, 4 }, all[6] = { 0 }, mine[2] = { rank, 1 }, n = counts[rank];

	MPI_Allgatherv(mine, n, MPI_INT, all, counts, at, MPI_INT, MPI_COMM_WORLD);
	MPI_Scatterv(all, counts, at, MPI_INT, mine, n, MPI_INT, 1, MPI_COMM_WORLD);
	MPI_Gatherv(mine, n, MPI_INT, all, counts, at, MPI_INT, 2, MPI_COMM_WORLD);
	return all[4];
}

int main(int argc, char **argv)
{
	static double (*const cases[])(void) = { halo, ring, workers, collect, persistent, grid, columns, halves,
		overlapped, fence, locks, vectors };
	double result;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < N + 2; i++) {
		u[i] = rank + 0.1 * i;
	}
	result = cases[atoi(argv[1])]();
	MPI_Finalize();
	printf("%d: %g\n", rank, result);
	return 0;
}
