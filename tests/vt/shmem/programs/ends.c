/* SPDX-License-Identifier: BSD-3-Clause */
/* ends HOW: all PEs exit without shmem_finalize() (exit, and with a handler of their own: handler), PE 1 ends all by
 * shmem_global_exit(4) (global) or dies (abort), all exit with 3 (status), or as a program should, having started MPI, too
 * (both). */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void own_handler(void)
{
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int me;

	if (!strcmp(how, "both")) {
		MPI_Init(&argc, &argv);
	}
	shmem_init();
	me = shmem_my_pe();
	shmem_barrier_all();
	if (me == 1 && !strcmp(how, "abort")) {
		abort();
	}
	if (me == 1 && !strcmp(how, "global")) {
		shmem_global_exit(4);
	}
	if (!strcmp(how, "handler")) {
		atexit(own_handler);
	}
	if (!strcmp(how, "exit") || !strcmp(how, "handler") || !strcmp(how, "status")) {
		exit(*how == 's' ? 3 : 0);
	}
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
