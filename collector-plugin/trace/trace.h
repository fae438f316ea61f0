/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the calling thread: which states it enters and leaves, and other events. The callers are api/ (VT_
 * calls), mpi/ (calls of MPI) and trace/instrument.c (functions compiled with -finstrument-functions). raw/events.h
 * has the records, and merge/records/events.c turns them into the trace. Except for the first event of a thread, nothing here
 * calls malloc(), takes a lock or makes a system call.
 *
 *     static _Atomic uint32_t f;
 *     id = vt_function(c, "MPI", "MPI_Send");           core/names.h; once, any thread
 *     if (vt_trace_enter(id, 0, VT_TRACE_FUNCTION) == VT_OK) { ... vt_trace_leave(0, VT_TRACE_FUNCTION); }
 *
 * If a filter rejects a state, or the thread does not record, vt_trace_enter() returns VT_OK, too, and the state must
 * be left. Its leave is not recorded either. */
#ifndef COLLECTOR_PLUGIN_TRACE_TRACE_H
#define COLLECTOR_PLUGIN_TRACE_TRACE_H

#include <stdint.h>

#include "include/VT.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/trace/rules.h"
#include "collector-plugin/trace/states.h"

/* The sink that prepares each thread for events, and closes its states when it ends. */
extern const struct vt_sink_ops vt_trace_sink VT_HIDDEN;

/* Makes the tables; must be called before the first definition. wanted: sets vt_trace_wanted. Returns 0 or -1. */
VT_HIDDEN int vt_trace_start(int wanted);

/* The calling thread enters this function (id) at a source location (id; 0: none, or that of VT_thisloc()). Returns
 * VT_OK, VT_ERR_BADSYMBOLID, VT_ERR_NOTINITIALIZED or VT_ERR_NOMEMORY; or VT_ERR_INVT if the caller is a call-back of
 * the program that the collector called. */
VT_HIDDEN VT_ErrorCode vt_trace_enter(uint32_t function, uint32_t scl, enum vt_trace_kind kind);
/* The calling thread leaves the innermost state. VT_ERR_BADREQUEST: there is none, or it is of another kind; nothing
 * changes. */
VT_HIDDEN VT_ErrorCode vt_trace_leave(uint32_t scl, enum vt_trace_kind kind);
/* The same for a function, at a time that the caller has just read. */
VT_HIDDEN VT_ErrorCode vt_trace_leave_at(ltick_t now);
/* Enters and leaves without sampling counters. The caller read the time of the enter earlier or now. */
VT_HIDDEN VT_ErrorCode vt_trace_enter_unsampled(uint32_t function, ltick_t at);
VT_HIDDEN void vt_trace_leave_unsampled(uint32_t function);
/* For instrument.c: the calling thread, which need not be registered, calls an instrumented function, or returns from
 * one. Calls that ended otherwise (longjmp) are closed. */
VT_HIDDEN void vt_trace_call(uint32_t function, uint32_t rule, uintptr_t address, uintptr_t sp);
/* The same for a replacement of a function of libc: the call stack begins with the caller of that function. */
VT_HIDDEN void vt_trace_call_of(uint32_t function, uint32_t rule, uintptr_t address, uintptr_t sp);
VT_HIDDEN void vt_trace_return(uint32_t function);
/* longjmp() sets the stack back to `sp`: calls below that have ended, if that is the present stack. */
VT_HIDDEN void vt_trace_jump(uintptr_t sp);

/* STATISTICS: the innermost state, a call of MPI, has sent or received this many bytes. */
VT_HIDDEN void vt_trace_communicates(enum vt_raw_row_kind kind, uint32_t communicator, int32_t peer, uint64_t bytes);
/* The innermost state, if it is recorded, moves bytes to or from a file of vt_file(): so many are requested (begins
 * 1), or have been moved (begins 0). at NULL: now. The end of a transfer that was POSTED may be in any state, or in none. */
VT_HIDDEN void vt_trace_transfer(const ltick_t *at, int begins, enum vt_raw_io kind, uint32_t file, uint64_t bytes);
/* The id of the innermost state of the calling thread that is recorded; 0: none. */
VT_HIDDEN uint32_t vt_trace_current(void);
/* STATISTICS: counts the calls of the calling thread that have not ended, since the run ends. */
VT_HIDDEN void vt_trace_count_open(void);
/* The function of the innermost state, recorded or not; 0: none. */
VT_HIDDEN uint32_t vt_trace_innermost(void);

#endif
