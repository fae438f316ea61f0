/* SPDX-License-Identifier: BSD-3-Clause */
/* corrupted CASE, with two ranks. changed: rank 0 changes a large message after MPI_Isend, before MPI_Wait, while rank 1 has not received it;
 * posted: the same into MPI_Irecv; correct: messages of which each byte comes as it was sent, in many ways. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 1 << 20, MANY = 40 };

static int rank, peer, data[N], other[N];

static void fill(int *to, int n, int seed)
{
	for (int i = 0; i < n; i++) {
		to[i] = seed * 1000003 + i;
	}
}

static void change_while_sending(int posted)
{
	MPI_Request request;

	if (rank == 0) {
		MPI_Isend(data, N, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
		data[N / 2] += 1;
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else if (posted) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Irecv(other, N, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE); /* mistake */
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Recv(other, N, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* mistake */
	}
}

/* Several of one channel, received in another order than they come in, into room that is too large. */
static void many_in_order(void)
{
	MPI_Request request[MANY];

	for (int i = 0; i < MANY; i++) {
		fill(data + 100 * i, 100, i);
		if (rank == 0) {
			MPI_Isend(data + 100 * i, 1 + i, MPI_INT, 1, i % 3, MPI_COMM_WORLD, &request[i]);
		} else {
			MPI_Irecv(other + 100 * i, 100, MPI_INT, 0, i % 3, MPI_COMM_WORLD, &request[i]);
		}
	}
	MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
}

/* Which message came into which receive is known only when all are complete, and they are completed from the last to the first. */
static void last_first(void)
{
	MPI_Request request[4];
	MPI_Message message;
	int at;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++) {
			int from = round == 1 && i == 3 ? 0 : MPI_ANY_SOURCE;

			fill(data + 10 * i, 10, 100 * round + i);
			if (rank == 0) {
				MPI_Send(data + 10 * i, 10, MPI_INT, 1, 4, MPI_COMM_WORLD);
			} else {
				MPI_Irecv(other + 10 * i, 10, MPI_INT, from, 4, MPI_COMM_WORLD, &request[i]);
			}
		}
		if (rank == 0) {
			MPI_Send(data, 10, MPI_INT, 1, 4, MPI_COMM_WORLD);
			continue;
		}
		MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		for (int i = 3; i >= 0; i--) {
			if (round == 2) {
				MPI_Waitany(4, request, &at, MPI_STATUS_IGNORE);
			} else {
				MPI_Wait(&request[i], MPI_STATUS_IGNORE);
			}
		}
		MPI_Mrecv(other, 10, MPI_INT, &message, MPI_STATUS_IGNORE);
	}
}

/* Without holes, and not in the order of the memory. */
static void permuted(void)
{
	const int swapped[] = { 1, 0 };
	MPI_Datatype swap, many;

	MPI_Type_create_indexed_block(2, 1, swapped, MPI_INT, &swap);
	MPI_Type_contiguous(8, swap, &many);
	MPI_Type_commit(&many);
	fill(data, 16, 5);
	if (rank == 0) {
		MPI_Send(data, 1, many, 1, 9, MPI_COMM_WORLD);
		MPI_Send(data, 16, MPI_INT, 1, 9, MPI_COMM_WORLD);
	} else {
		MPI_Recv(other, 16, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(other, 1, many, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Type_free(&many);
	MPI_Type_free(&swap);
}

static void wildcards_and_types(void)
{
	MPI_Datatype column, pair;
	MPI_Status status;

	MPI_Type_vector(10, 1, 10, MPI_INT, &column);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&column);
	MPI_Type_commit(&pair);
	for (int i = 0; i < 10; i++) {
		fill(data, 100, 77 + i);
		if (rank == 0) {
			MPI_Send(data, 1, column, 1, i, MPI_COMM_WORLD);
			MPI_Ssend(data, 5, pair, 1, i, MPI_COMM_WORLD);
		} else {
			MPI_Recv(other, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
			MPI_Recv(other, 1, column, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status);
		}
	}
	MPI_Type_free(&column);
	MPI_Type_free(&pair);
}

static void persistent_and_both_ways(void)
{
	MPI_Request request[2];

	MPI_Send_init(data, 1000, MPI_INT, peer, 1, MPI_COMM_WORLD, &request[0]);
	MPI_Recv_init(other, 1000, MPI_INT, peer, 1, MPI_COMM_WORLD, &request[1]);
	for (int i = 0; i < 10; i++) {
		fill(data, 1000, rank + 10 * i);
		MPI_Startall(2, request);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	MPI_Sendrecv(data, 500, MPI_INT, peer, 2, other, 500, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(data, 500, MPI_INT, peer, 3, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(data, 5, MPI_INT, rank, 2, other, 5, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void probed(void)
{
	MPI_Message message;
	MPI_Status status;
	int n;

	for (int i = 0; i < 4; i++) {
		fill(data, 10, i);
		if (rank == 0) {
			MPI_Send(data, 10, MPI_INT, 1, 6, MPI_COMM_WORLD);
		} else if (i % 2) {
			MPI_Mprobe(0, 6, MPI_COMM_WORLD, &message, &status);
			MPI_Mrecv(other, 10, MPI_INT, &message, &status);
		} else {
			MPI_Probe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
			MPI_Get_count(&status, MPI_INT, &n);
			MPI_Recv(other, n, MPI_INT, status.MPI_SOURCE, 6, MPI_COMM_WORLD, &status);
		}
	}
}

/* A receive that is cancelled has not taken the message that comes next. */
static void cancelled(void)
{
	MPI_Request request;

	if (rank == 1) {
		MPI_Irecv(other, 10, MPI_INT, 0, 8, MPI_COMM_WORLD, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 2; i++) {
		fill(data, 10, i);
		if (rank == 0) {
			MPI_Send(data, 10, MPI_INT, 1, 8, MPI_COMM_WORLD);
		} else {
			MPI_Recv(other, 10, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
}

/* Memory that MPI may have and that cannot be read, like that of a GPU. */
static void unreadable(void)
{
	void *memory = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MPI_Bcast(memory, 1000, MPI_INT, 0, MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	peer = 1 - rank;
	fill(data, N, 1);
	if (strcmp(what, "correct")) {
		change_while_sending(!strcmp(what, "posted"));
	} else {
		many_in_order();
		last_first();
		permuted();
		wildcards_and_types();
		persistent_and_both_ways();
		probed();
		cancelled();
		unreadable();
	}
	MPI_Finalize();
	return 0;
}
