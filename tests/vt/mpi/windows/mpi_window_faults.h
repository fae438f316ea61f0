/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program wants of the MPI between libVT and its own (mpi_window_faults.c). */
#ifndef TESTS_VT_MPI_WINDOWS_MPI_WINDOW_FAULTS_H
#define TESTS_VT_MPI_WINDOWS_MPI_WINDOW_FAULTS_H

extern int window_calls_fail; /* MPI_Win_post and MPI_Win_complete do nothing but fail */
extern int window_fence_ms;   /* MPI_Win_fence does nothing but last so long; -1: it is that of MPI */

#endif
