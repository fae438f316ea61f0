/* SPDX-License-Identifier: BSD-3-Clause */
/* A link inside a program that already runs MPI, for code that may include mpi.h. calib/job/job.h uses it. */
#ifndef CALIB_LINK_MPI_H
#define CALIB_LINK_MPI_H

#include <mpi.h>

#include "calib/session/link.h"

/* Over a duplicate of comm, which its processes call together. Messages of the program are never touched. The
 * link must be closed before MPI_Finalize(). Returns NULL with the reason. */
struct cal_link *cal_link_join(MPI_Comm comm, struct tkm_err *err);
/* That duplicate. It stays the link's. */
MPI_Comm cal_link_comm(const struct cal_link *l);

#endif
