/* SPDX-License-Identifier: BSD-3-Clause */
/* ends HOW: all PEs exit without shmem_finalize() (exit, and with a handler of their own: handler), PE 1 ends all by
 * shmem_global_exit(4) (global) or dies (abort), all exit with 3 (status), PE 1 alone exits with 3 (one), PE 1 waits for what
 * a handler of PE 0 puts at its exit (late), or as a program should, having started MPI, too (both). */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long flag;

static void own_handler(void)
{
}

static void put_flag(void)
{
	shmem_long_p(&flag, 1, 1);
	shmem_quiet();
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
	if (me == 1 && !strcmp(how, "one")) {
		exit(3);
	}
	if (!strcmp(how, "late")) {
		if (me == 0) {
			atexit(put_flag);
		} else {
			shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
		}
		return 0;
	}
	if (strcmp(how, "one") != 0) {
		shmem_barrier_all();
	}
	shmem_finalize();
	return 0;
}
