/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank inside an MPI call may be waiting for although no trace has it: other jobs that it is connected to,
 * files, requests and functions of the program's own. A rank for which there is such a thing is not in a deadlock.
 * The head of the raw file has the account, and vtsampler/deadlock.c reads it. All does nothing if deadlocks are not
 * looked for. */
#ifndef COLLECTOR_PLUGIN_MPI_OUTSIDE_H
#define COLLECTOR_PLUGIN_MPI_OUTSIDE_H

#include <mpi.h>

#include "collector-plugin/mpi/private.h"
#include "collector-plugin/raw/format.h"

/* n: 1 when such a thing begins, -1 when it ends. */
static inline void vt_mpi_outside(int n)
{
	if (vt_mpi_watched) {
		atomic_fetch_add_explicit(&vt_mpi_watched->outside, n, memory_order_relaxed);
	}
}

/* Notes that MPI may call this function of the program. */
VT_HIDDEN void vt_mpi_calls_back(void *function);

/* 1: the program has an error handler that may throw or jump. */
extern int vt_mpi_own_errors VT_HIDDEN;

/* The error handler that MPI gets for one that the program wants: libVTfs "overrides all requests to install one", so that
 * the first error of MPI ends the job and leaves a trace (Intel Trace Collector guide, section 2.1.2). */
VT_HIDDEN MPI_Errhandler vt_mpi_errhandler(MPI_Errhandler wanted);

/* MPI calls of the program outside MPI_Init and MPI_Finalize, or in call-backs of the latter, that are not recorded. */
extern _Atomic uint64_t vt_mpi_missed VT_HIDDEN;
/* MPI_Finalize has returned. */
VT_HIDDEN void vt_mpi_finalized(void);
/* At the end of the program: reports, on the first rank, what is missing. */
VT_HIDDEN void vt_mpi_say_missed(void);

/* Before MPI_Init, and after it if several threads may be in MPI at a time: those that came meanwhile are not the
 * program's. */
VT_HIDDEN void vt_mpi_threads_before(void);
VT_HIDDEN void vt_mpi_threads_are_free(void);

#endif
