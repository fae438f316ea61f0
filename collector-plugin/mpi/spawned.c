/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that MPI_Comm_spawn starts are not started by vtrun. */
#include "config.h"
#include "collector-plugin/mpi/spawned.h"

#include <stdatomic.h>

#include "collector-plugin/host/program/exec_target.h"
#include "collector-plugin/host/program/needed.h"
#include "collector-plugin/host/say.h"

static int has_libvt(const char *command)
{
	struct tkm_err err;
	char path[4096];
	int status;

	return vt_exec_target(command, path, sizeof(path), &status, &err) >= 0 &&
		vt_each_needed(path, vt_is_mpi_recorder, NULL);
}

void vt_ranks_spawned(int n, const char *const *commands, int root, MPI_Comm comm)
{
	static _Atomic int said;
	int rank, i;

	if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS || rank != root) {
		return;
	}
	for (i = 0; i < n && has_libvt(commands[i]); i++) {
	}
	if ((i < n || n == 0) && !atomic_exchange(&said, 1)) {
		vt_say(1, "WARNING",
			"MPI_Comm_spawn starts %s, whose ranks are recorded only if it is linked with -lVT",
			n ? commands[i] : "a program");
	}
}
