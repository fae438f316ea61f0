/* SPDX-License-Identifier: BSD-3-Clause */
/* Another tool that intercepts MPI calls, as most tools do: it calls the PMPI_ functions. */
#include <mpi.h>
#include <stdio.h>

static int inits, sends;

int MPI_Init(int *argc, char ***argv)
{
	inits++;
	return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Finalize(void)
{
	printf("tool: %d start, %d sends\n", inits, sends);
	fflush(stdout);
	return PMPI_Finalize();
}
