/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_MPI_SPAWNED_H
#define COLLECTOR_PLUGIN_MPI_SPAWNED_H

#include <mpi.h>

#include "collector-plugin/core/thread.h"

/* After MPI_Comm_spawn of n programs, or 0 if they are not known: the root says, once, when ranks of a program without libVT
 * are not recorded. */
VT_HIDDEN void vt_ranks_spawned(int n, const char *const *commands, int root, MPI_Comm comm);

#endif
