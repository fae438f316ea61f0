/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of a second with clock sessions in between. With the argument "early" it calls VT_ before MPI_Init, too; with "often" its
 * sessions follow each other at once. */
#include <VT.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
	const struct timespec nap = { 0, 250000000 };
	int often = argc > 1 && strcmp(argv[1], "often") == 0, i;

	if (argc > 1 && !often) {
		VT_symdef(1, "early", "coarse_job");
		VT_begin(1);
		VT_end(1);
	}
	MPI_Init(&argc, &argv);
	for (i = 0; i < (often ? 30 : 3); i++) {
		if (!often || i % 10 == 0) {
			nanosleep(&nap, NULL);
		}
		VT_timesync();
	}
	nanosleep(&nap, NULL);
	MPI_Finalize();
	return 0;
}
