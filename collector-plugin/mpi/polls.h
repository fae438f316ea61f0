/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of calls of MPI that found nothing. */
#ifndef COLLECTOR_PLUGIN_MPI_POLLS_H
#define COLLECTOR_PLUGIN_MPI_POLLS_H

#include "collector-plugin/mpi/private.h"

/* The three steps of a wrapper around such a call, in place of vt_mpi_enter(), nothing, and vt_mpi_leave(). found: the
 * call failed, or completed a request, or found a message. */
VT_HIDDEN int vt_poll_enter_at(struct vt_mpi_call *k, struct vt_mpi_function *f, uintptr_t at);
static inline __attribute__((always_inline)) int vt_poll_enter(struct vt_mpi_call *k, struct vt_mpi_function *f)
{
	return vt_poll_enter_at(k, f, (uintptr_t)__builtin_frame_address(0));
}
/* After vt_mpi_returned(), before what the call completed is recorded. */
VT_HIDDEN void vt_poll_returned(struct vt_mpi_call *k, const struct vt_mpi_function *f, int found);
VT_HIDDEN void vt_poll_leave_state(struct vt_mpi_call *k, int found);
static inline void vt_poll_leave(struct vt_mpi_call *k, int found)
{
	if (k->folds) {
		vt_tls.mpi.at = 0;
	} else {
		vt_poll_leave_state(k, found);
	}
}

#endif
