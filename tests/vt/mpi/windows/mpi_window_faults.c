/* SPDX-License-Identifier: BSD-3-Clause */
/* A library between libVT and MPI. MPI allows a fence to end before all have come, but not every MPI does that; and which calls
 * fail is up to it as well. A test that finds nothing lasts 0.2 ms: a caller that looks again at once is then inside MPI for all but
 * one per cent of the time, on every machine. */
#include <mpi.h>
#include <time.h>

#include "tests/vt/mpi/windows/mpi_window_faults.h"

int window_calls_fail, window_fence_ms = -1;

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
	return window_calls_fail ? MPI_ERR_OTHER : PMPI_Win_post(group, assert, win);
}

int MPI_Win_complete(MPI_Win win)
{
	return window_calls_fail ? MPI_ERR_OTHER : PMPI_Win_complete(win);
}

int MPI_Win_fence(int assert, MPI_Win win)
{
	struct timespec t = { .tv_nsec = window_fence_ms * 1000000L };

	if (window_fence_ms < 0) {
		return PMPI_Win_fence(assert, win);
	}
	nanosleep(&t, NULL);
	return MPI_SUCCESS;
}

int MPI_Win_test(MPI_Win win, int *flag)
{
	struct timespec t = { .tv_nsec = 200000 };
	int status = PMPI_Win_test(win, flag);

	if (!*flag) {
		nanosleep(&t, NULL);
	}
	return status;
}
