/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of MPI-IO and of one-sided operations, recorded as operations on files of the trace (trace/define.h:
 * vt_file()). A file of MPI-IO has the name by which it was opened. The part of a window that belongs to a rank is a
 * file "window N of rank R", where N counts the windows of the communicator. All functions are called before or after
 * an MPI call for which vt_mpi_enter() returned 1. Included by files that include mpi.h. */
#ifndef COLLECTOR_PLUGIN_MPI_FILES_H
#define COLLECTOR_PLUGIN_MPI_FILES_H

#include <mpi.h>
#include <stdint.h>

#include "collector-plugin/mpi/private.h"

/* vt_file_opened(): after MPI_File_open(); name is without blanks at its ends and not terminated. vt_file_closed():
 * before MPI_File_close(). */
VT_HIDDEN void vt_file_opened(MPI_File file, const char *name, size_t length, MPI_Comm comm);
VT_HIDDEN void vt_file_closed(MPI_File file);
/* After a window was made; before MPI_Win_free(). */
VT_HIDDEN void vt_window_made(MPI_Win win, MPI_Comm comm);
VT_HIDDEN void vt_window_gone(MPI_Win win);
/* A window: the communicator that it was made on, which is never freed, and its number there; and what windows.c keeps. */
struct vt_comm;
struct vt_window {
	const struct vt_comm *parent;
	uint32_t number;
	struct vt_window_epochs *epochs; /* NULL: not yet */
};
/* NULL: it was made before we could see it. */
VT_HIDDEN struct vt_window *vt_window_of(MPI_Win win);
/* After OpenSHMEM was started: the symmetric memory of each PE, a file "symmetric memory of PE N". */
VT_HIDDEN void vt_symmetric_made(void);

/* windows.c: ranks wait for each other. A fence is a collective operation. A rank that posts its window lets those of the group
 * start, and one that completes lets the targets end their waiting: these are messages without bytes. vt_window_posts(), vt_window_completes():
 * before the call; the others after it. */
VT_HIDDEN void vt_window_fenced(struct vt_mpi_call *k, MPI_Win win);
VT_HIDDEN void vt_window_posts(struct vt_mpi_call *k, MPI_Win win, MPI_Group group);
VT_HIDDEN void vt_window_posted(struct vt_mpi_call *k, MPI_Win win, int failed);
VT_HIDDEN void vt_window_started(struct vt_mpi_call *k, MPI_Win win, MPI_Group group);
VT_HIDDEN void vt_window_completes(struct vt_mpi_call *k, MPI_Win win);
VT_HIDDEN void vt_window_completed(struct vt_mpi_call *k, MPI_Win win, int failed);
VT_HIDDEN void vt_window_waited(struct vt_mpi_call *k, MPI_Win win);
/* A rank gets the lock of a window at a target when another one gives it back; which one, only the merge can tell. All after the call;
 * flushed: target -1: all of them. */
VT_HIDDEN void vt_window_locked(struct vt_mpi_call *k, MPI_Win win, int target, int type, int mode);
VT_HIDDEN void vt_window_flushed(struct vt_mpi_call *k, MPI_Win win, int target);
VT_HIDDEN void vt_window_unlocked(struct vt_mpi_call *k, MPI_Win win, int target);

/* Before a call that moves count x type between this process and a file, or the memory of rank `target` in a window.
 * WRITE: from this process. */
VT_HIDDEN void vt_io_begin(
	struct vt_mpi_call *k, enum vt_raw_io kind, MPI_File file, long long count, MPI_Datatype type);
VT_HIDDEN void vt_rma_begin(
	struct vt_mpi_call *k, enum vt_raw_io kind, int target, MPI_Win win, long long count, MPI_Datatype type);
/* vt_io_end(): after the call, which moved what the status says. vt_io_all(): after the call, which moved everything,
 * or nothing if it failed. */
VT_HIDDEN void vt_io_end(struct vt_mpi_call *k, const MPI_Status *status);
VT_HIDDEN void vt_io_all(struct vt_mpi_call *k, int result);
/* After a call that has posted the transfer, which ends when the request is complete. request: if the result is MPI_SUCCESS. */
VT_HIDDEN void vt_io_posted(struct vt_mpi_call *k, int result, MPI_Request request);
/* After a call that moved all that it sent, and count x type in the other direction. */
VT_HIDDEN void vt_rma_both(
	struct vt_mpi_call *k, int target, MPI_Win win, long long count, MPI_Datatype type, int result);

/* Before a call of OpenSHMEM that moves bytes between this process and the memory of a PE, and after it. back: it has moved
 * as much back from this PE; -1: nothing. */
VT_HIDDEN void vt_symmetric_begin(struct vt_mpi_call *k, enum vt_raw_io kind, int pe, uint64_t bytes);
VT_HIDDEN void vt_symmetric_end(struct vt_mpi_call *k, int back);

#endif
