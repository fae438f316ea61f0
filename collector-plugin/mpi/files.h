/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of MPI-IO and of one-sided operations, as operations on files of the trace (trace/define.h: vt_file()): a file has the name that it was
 * opened by; the part of a window that a rank has is a file "window N of rank R", N counted on the window's communicator. Included by
 * files that include mpi.h. All are called around a call with vt_mpi_enter() that said 1. */
#ifndef COLLECTOR_PLUGIN_MPI_FILES_H
#define COLLECTOR_PLUGIN_MPI_FILES_H

#include <mpi.h>
#include <stdint.h>

#include "collector-plugin/mpi/private.h"

/* After MPI_File_open(), name without its blanks and not terminated; before MPI_File_close(). */
VT_HIDDEN void vt_file_opened(MPI_File file, const char *name, size_t length, MPI_Comm comm);
VT_HIDDEN void vt_file_closed(MPI_File file);
/* After a window was made; before MPI_Win_free(). */
VT_HIDDEN void vt_window_made(MPI_Win win, MPI_Comm comm);
VT_HIDDEN void vt_window_gone(MPI_Win win);

/* A call that moves count x type between here and a file, or the memory of rank `target` in a window, begins; WRITE: from here. */
VT_HIDDEN void vt_io_begin(
	struct vt_mpi_call *k, enum vt_raw_io kind, MPI_File file, long long count, MPI_Datatype type);
VT_HIDDEN void vt_rma_begin(
	struct vt_mpi_call *k, enum vt_raw_io kind, int target, MPI_Win win, long long count, MPI_Datatype type);
/* It has moved what the status says; all of it; or, if it failed, nothing. */
VT_HIDDEN void vt_io_end(struct vt_mpi_call *k, const MPI_Status *status);
VT_HIDDEN void vt_io_all(struct vt_mpi_call *k, int result);
/* It has moved all that it sent, and count x type the other way. */
VT_HIDDEN void vt_rma_both(
	struct vt_mpi_call *k, int target, MPI_Win win, long long count, MPI_Datatype type, int result);

#endif
