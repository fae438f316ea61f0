/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of a second with clock sessions in between. */
#include <VT.h>
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
	const struct timespec nap = { 0, 250000000 };
	int i;

	MPI_Init(&argc, &argv);
	for (i = 0; i < 3; i++) {
		nanosleep(&nap, NULL);
		VT_timesync();
	}
	nanosleep(&nap, NULL);
	MPI_Finalize();
	return 0;
}
