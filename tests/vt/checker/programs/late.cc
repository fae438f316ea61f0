/* SPDX-License-Identifier: BSD-3-Clause */
/* Correct programs that call MPI_Finalize when they exit: in a destructor, of the program or with -DIN_LIBRARY of a library, or in
 * a handler. */
#include <mpi.h>
#include <cstdlib>
#include <cstring>

static void end()
{
	int begun = 0, over = 0;

	MPI_Initialized(&begun);
	MPI_Finalized(&over);
	if (begun && !over) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Finalize();
	}
}

#ifndef ONLY_MAIN
struct environment {
	bool ends = false;
	~environment()
	{
		if (ends) {
			end();
		}
	}
};

static environment with_mpi;
void end_in_destructor();
void end_in_destructor()
{
	with_mpi.ends = true;
}
#else
void end_in_destructor();
#endif

#ifndef IN_LIBRARY
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (argc > 1 && !std::strcmp(argv[1], "handler")) {
		std::atexit(end);
	} else {
		end_in_destructor();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return 0;
}
#endif
