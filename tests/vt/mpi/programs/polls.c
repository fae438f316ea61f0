/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 waits for messages of rank 0 by calls that look and return, and prints for each function how often it was called and
 * for how long: "FUNCTION calls SECONDS". An argument: rank 1 is killed while it waits; then what it has counted so far is in
 * the file of that name. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEST, TESTALL, TESTANY, TESTSOME, IPROBE, IMPROBE, GET_STATUS, FUNCTIONS };
static const char *const name[FUNCTIONS] = { "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe",
	"MPI_Improbe", "MPI_Request_get_status" };
static long calls[FUNCTIONS];
static double seconds[FUNCTIONS];
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Message message;

static int look(int how)
{
	int flag = 0, which = 0;
	double begin = MPI_Wtime();

	switch (how) {
	case TEST:
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		break;
	case TESTALL:
		MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
		break;
	case TESTANY:
		MPI_Testany(1, &request, &which, &flag, MPI_STATUS_IGNORE);
		break;
	case TESTSOME:
		MPI_Testsome(1, &request, &flag, &which, MPI_STATUSES_IGNORE);
		break;
	case IPROBE:
		MPI_Iprobe(0, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		break;
	case IMPROBE:
		MPI_Improbe(0, 7, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
		break;
	default:
		MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	}
	seconds[how] += MPI_Wtime() - begin;
	calls[how]++;
	return flag;
}

static void receive(int how, char *byte)
{
	int rank;

	if (how != IPROBE && how != IMPROBE) {
		MPI_Irecv(byte, 1, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
	}
	while (!look(how)) {
		/* two functions in turn; and an event between some of them */
		if (how == TEST && look(IPROBE)) {
			continue;
		}
		if (how == TESTALL && calls[how] % 1000 == 0) {
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		}
	}
	if (how == IPROBE) {
		MPI_Recv(byte, 1, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (how == IMPROBE) {
		MPI_Mrecv(byte, 1, MPI_BYTE, &message, MPI_STATUS_IGNORE);
	} else if (how == GET_STATUS) {
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void poll_until_killed(const char *file)
{
	double until = MPI_Wtime() + 0.2;
	char byte;
	FILE *f;

	MPI_Irecv(&byte, 1, MPI_BYTE, 0, 8, MPI_COMM_WORLD, &request);
	while (MPI_Wtime() < until) {
		look(TEST);
	}
	f = fopen(file, "w");
	if (f) {
		fprintf(f, "%s calls %ld %.6f\n", name[TEST], calls[TEST], seconds[TEST]);
		fclose(f);
	}
	kill(getpid(), SIGKILL);
}

/* The first call of a thread looks. */
static void *look_once(void *unused)
{
	(void)unused;
	look(IPROBE);
	return NULL;
}

int main(int argc, char **argv)
{
	int rank, how, level;
	char byte = 0;
	pthread_t t;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1 && level >= MPI_THREAD_SERIALIZED && pthread_create(&t, NULL, look_once, NULL) == 0) {
		pthread_join(t, NULL);
	}
	if (argc > 1) {
		if (rank == 1) {
			poll_until_killed(argv[1]);
		}
		MPI_Recv(&byte, 1, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (how = 0; how < FUNCTIONS; how++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			usleep(30000);
			MPI_Send(&byte, 1, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
		} else if (rank == 1) {
			receive(how, &byte);
		}
	}
	for (how = 0; rank == 1 && how < FUNCTIONS; how++) {
		printf("%s calls %ld %.6f\n", name[how], calls[how], seconds[how]);
	}
	MPI_Finalize();
	return 0;
}
