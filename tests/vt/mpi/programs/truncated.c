/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends 20 bytes to rank 1, which has room for 10, once for each call that can receive them; after each comes a message of 5
 * bytes, which is received whole. */
#include <mpi.h>
#include <stdio.h>

enum { CASES = 11 };
static char room[64];

static void receive_too_long(int how)
{
	MPI_Request q;
	MPI_Status status;
	MPI_Message m;
	int one, which, flag = 0;

	switch (how) {
	case 0:
		MPI_Recv(room, 10, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	case 1:
		MPI_Sendrecv(room, 3, MPI_BYTE, 0, 8, room + 8, 10, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &status);
		return;
	case 2:
		MPI_Mprobe(0, 7, MPI_COMM_WORLD, &m, &status);
		MPI_Mrecv(room, 10, MPI_BYTE, &m, MPI_STATUS_IGNORE);
		return;
	case 3:
		MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &m, &status);
		MPI_Imrecv(room, 10, MPI_BYTE, &m, &q);
		break;
	default:
		MPI_Irecv(room, 10, MPI_BYTE, how % 2 ? MPI_ANY_SOURCE : 0, how % 2 ? MPI_ANY_TAG : 7, MPI_COMM_WORLD,
			&q);
	}
	switch (how) {
	case 5:
		MPI_Waitall(1, &q, MPI_STATUSES_IGNORE);
		break;
	case 6:
		MPI_Waitany(1, &q, &one, &status);
		break;
	case 7:
		MPI_Waitsome(1, &q, &one, &which, &status);
		break;
	case 8:
		while (!flag) {
			MPI_Test(&q, &flag, &status);
		}
		break;
	case 9:
		while (!flag) {
			MPI_Testany(1, &q, &one, &flag, &status);
		}
		break;
	case 10:
		while (!flag) {
			MPI_Testall(1, &q, &flag, &status);
		}
		break;
	default:
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int rank, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 0; i < CASES; i++) {
		if (rank == 0) {
			MPI_Send(room, 20, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
			MPI_Send(room, 5, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
			if (i == 1) {
				MPI_Recv(room, 3, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
		} else {
			receive_too_long(i);
			MPI_Recv(room, 5, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
