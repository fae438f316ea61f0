/* SPDX-License-Identifier: BSD-3-Clause */
/* main is open when MPI_Finalize writes the trace; it waits for 0.4 s itself, and its callee for 0.2 s. */
#include <mpi.h>
#include <unistd.h>

static void work(void)
{
	usleep(200000);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	work();
	usleep(400000);
	MPI_Finalize();
	work();
	return 0;
}
