/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the ranks of an MPI job: at the end each says how many bytes libVT has gathered to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static long long gathered;

static void count(int n, MPI_Datatype type)
{
	int size = 0;

	PMPI_Type_size(type, &size);
	gathered += (long long)n * size;
}

int PMPI_Allgather(const void *from, int n, MPI_Datatype of, void *to, int m, MPI_Datatype type, MPI_Comm comm)
{
	int (*real)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
	int ranks;

	*(void **)&real = dlsym(RTLD_NEXT, "PMPI_Allgather");
	PMPI_Comm_size(comm, &ranks);
	count(ranks * m, type);
	return real(from, n, of, to, m, type, comm);
}

int PMPI_Allgatherv(const void *from, int n, MPI_Datatype of, void *to, const int *m, const int *at, MPI_Datatype type,
	MPI_Comm comm)
{
	int (*real)(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
	int ranks, i;

	*(void **)&real = dlsym(RTLD_NEXT, "PMPI_Allgatherv");
	PMPI_Comm_size(comm, &ranks);
	for (i = 0; i < ranks; i++) {
		count(m[i], type);
	}
	return real(from, n, of, to, m, at, type, comm);
}

static void __attribute__((destructor)) say(void)
{
	if (gathered) {
		printf("gathered %lld\n", gathered);
	}
}
