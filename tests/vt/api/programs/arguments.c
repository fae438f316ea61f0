/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line as a C program sees it after the start; with WITH_MPI, of MPI. */
#ifdef WITH_MPI
#include <mpi.h>
#else
#include <VT.h>
#endif
#include <stdio.h>

int main(int argc, char **argv)
{
	int i;

#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
#else
	VT_initialize(&argc, &argv);
#endif
	for (i = 1; i < argc; i++) {
		printf("[%s]\n", argv[i]);
	}
	if (argv[argc]) {
		puts("no NULL after the last");
	}
#ifdef WITH_MPI
	MPI_Finalize();
#else
	VT_finalize();
#endif
	return 0;
}
