/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that all ranks read is set back by 1 s while rank 0 waits in a call for the 50th of 100 messages, all of different length:
 * its gettimeofday() is this one, and argv[1] a file whose first 8 bytes are what is added, in microseconds. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift;

int gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec t;
	int64_t us;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000 + (shift ? *shift : 0);
	tv->tv_sec = us / 1000000;
	tv->tv_usec = us % 1000000;
	return 0;
}

int main(int argc, char **argv)
{
	static char data[200];
	int rank, i, fd = open(argv[argc - 1], O_RDWR);
	void *p = mmap(NULL, sizeof(*shift), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		return 1;
	}
	shift = p;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 1; i <= 100; i++) {
		if (rank == 0) {
			MPI_Recv(data, sizeof(data), MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == 1) {
			usleep(i == 50 ? 100000 : 10000);
			*shift = i < 50 ? 0 : -1000000;
			MPI_Send(data, i, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return 0;
}
