/* SPDX-License-Identifier: BSD-3-Clause */
/* The job is killed when all raw files are closed and no trace is ordered yet: the collector calls PMPI_Reduce then. The sampler
 * process is the one that the protocol names. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int PMPI_Reduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
	char line[4000];
	int rank, sampler = 0;
	FILE *f = fopen("killed_late.prot", "r");

	(void)from;
	(void)to;
	(void)n;
	(void)type;
	(void)op;
	(void)root;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	while (f && rank == 0 && fgets(line, sizeof(line), f) &&
		sscanf(line, "INFO SAMPLED by process %d", &sampler) != 1) {
	}
	if (sampler > 0) {
		kill(sampler, SIGKILL);
	}
	PMPI_Barrier(comm);
	kill(getpid(), SIGKILL);
	return MPI_ERR_OTHER;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
