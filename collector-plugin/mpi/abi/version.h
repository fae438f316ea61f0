/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between the MPIs whose header this is compiled with: which calls they have, and where they say const. */
#ifndef COLLECTOR_PLUGIN_MPI_ABI_VERSION_H
#define COLLECTOR_PLUGIN_MPI_ABI_VERSION_H

#include <mpi.h>

/* Which calls of calls4.def this MPI has. Open MPI 5 states version 3.1, and has those of 4.0 that count by int. */
#if defined(OMPI_MAJOR_VERSION) && MPI_VERSION < 4
#define VT_MPI (OMPI_MAJOR_VERSION >= 5 ? 400 : 300)
#else
#define VT_MPI (MPI_VERSION * 100 + MPI_SUBVERSION)
#endif

#if VT_MPI >= 400
/* Open MPI 5 and MPICH 4.0 declare the first without const, MPICH 4.2 the second. */
/* clang-format off */
typedef __typeof__(*_Generic(&PMPI_Pready_list,
	int (*)(int, const int *, MPI_Request): (const int *)0, default: (int *)0)) vt_partition;
#if VT_MPI >= 401
typedef __typeof__(*_Generic(&PMPI_Request_get_status_all,
	int (*)(int, const MPI_Request *, int *, MPI_Status *): (const MPI_Request *)0,
	default: (MPI_Request *)0)) vt_asked_request;
#endif
/* clang-format on */
#endif

#endif
