/* SPDX-License-Identifier: BSD-3-Clause */
/* Every pair of ranks in turn: ping-pongs whose sends and receives the program stamps itself, with a counter whose
 * value says which event it is: message number x 4 + 0 sent by the lower rank, 1 received by the higher, 2 sent by the
 * higher, 3 received by the lower. In a trace with true time stamps they rise. Beside it is the clock of day, which all
 * hosts of one machine share, and after it once more (truth.c). argv[1]: VT_timesync() before every pair; "last": ahead
 * of the last but one. argv[2]: all ranks are killed by SIGKILL instead of ending; argv[3]: when
 * there is a file of that name. */
#include <VT.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGES = 50 };

static int handle[2], after[2];

static int64_t realtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void stamp(long n, int what)
{
	int64_t v[3];

	v[0] = n * 4 + what;
	v[1] = realtime();
	VT_countval(2, handle, v);
	v[2] = realtime();
	VT_countval(2, after, v + 1);
}

static void pair(int rank, int a, int b, long first)
{
	char byte = 0;
	long i;

	for (i = first; i < first + MESSAGES; i++) {
		if (rank == a) {
			stamp(i, 0);
			MPI_Send(&byte, 1, MPI_CHAR, b, 1, MPI_COMM_WORLD);
			MPI_Recv(&byte, 1, MPI_CHAR, b, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			stamp(i, 3);
		} else if (rank == b) {
			MPI_Recv(&byte, 1, MPI_CHAR, a, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			stamp(i, 1);
			stamp(i, 2);
			MPI_Send(&byte, 1, MPI_CHAR, a, 2, MPI_COMM_WORLD);
		}
	}
}

int main(int argc, char **argv)
{
	int rank, size, cls, a, b;
	long n = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	VT_classdef("Messages", &cls);
	VT_countdef("event", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "#", &handle[0]);
	VT_countdef("realtime", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &handle[1]);
	VT_countdef("realtime of", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &after[0]);
	VT_countdef("realtime after", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &after[1]);
	for (a = 0; a < size; a++) {
		for (b = a + 1; b < size; b++) {
			if (argc > 1 && (strcmp(argv[1], "last") || b + 2 == size)) {
				VT_timesync();
			}
			pair(rank, a, b, n);
			n += MESSAGES;
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	printf("rank %d of %d\n", rank, size);
	while (argc > 3 && access(argv[3], F_OK) < 0) {
		usleep(10000);
	}
	if (argc > 2) {
		raise(SIGKILL);
	}
	MPI_Finalize();
	return 0;
}
