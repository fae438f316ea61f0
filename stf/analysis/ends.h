/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits that are only known at the end of the reading: in MPI_Init, in MPI_Finalize, and in calls that are open then. */
#ifndef STF_ANALYSIS_ENDS_H
#define STF_ANALYSIS_ENDS_H

#include "stf/analysis/threads.h"

/* Adds these waits to those of t, after stf_threads_end(). Returns 0 or -1: no memory. */
int stf_find_end_waits(struct stf_threads *t, uint64_t end);

#endif
