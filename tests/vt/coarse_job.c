/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of a second with clock sessions in between. With an argument it calls VT_ before MPI_Init, too. */
#include <VT.h>
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
	const struct timespec nap = { 0, 250000000 };
	int i;

	if (argc > 1) {
		VT_symdef(1, "early", "coarse_job");
		VT_begin(1);
		VT_end(1);
	}
	MPI_Init(&argc, &argv);
	for (i = 0; i < 3; i++) {
		nanosleep(&nap, NULL);
		VT_timesync();
	}
	nanosleep(&nap, NULL);
	MPI_Finalize();
	return 0;
}
