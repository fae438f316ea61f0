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
#include "collector-plugin/core/thread.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/rules.h"

/* The sink that prepares each thread for events, and closes its states when it ends. */
extern const struct vt_sink_ops vt_trace_sink VT_HIDDEN;

/* Are events recorded at all? 0: COUNTERS-ONLY. */
extern int vt_trace_wanted VT_HIDDEN;
/* Makes the tables; must be called before the first definition. Returns 0 or -1. */
VT_HIDDEN int vt_trace_start(int wanted);
/* Kinds of states: of VT_begin() and VT_end(); of VT_enter() and VT_leave(); the call of an instrumented function;
 * the whole of a thread (ENTER-USERCODE). */
enum vt_trace_kind { VT_TRACE_REGION = 1, VT_TRACE_FUNCTION = 2, VT_TRACE_CALL = 3, VT_TRACE_THREAD = 4 };

enum { VT_TRACE_QUICK = 1 };
/* Is the enter of a state in the raw file? Not if a filter rejected it, or if it is lost; then its leave counts as
 * lost, too. */
enum { VT_TRACE_NOT = 0, VT_TRACE_RECORDED = 1, VT_TRACE_LOST = 2 };

/* A state of the calling thread that has been entered and not left. */
struct vt_trace_frame {
	uintptr_t sp; /* VT_TRACE_CALL: the stack pointer; others: UINTPTR_MAX */
	uintptr_t
		address; /* VT_TRACE_CALL: of the function; others: VT_TRACE_QUICK where its leave is a record and no more, else 0 */
	uint32_t function;
	struct vt_trace_how {
		uint8_t kind;
		uint8_t recorded; /* VT_TRACE_NOT, _RECORDED or _LOST */
		uint8_t folded;   /* its caller folds the functions that it calls */
		uint8_t ruled;
	} how;
	/* STATISTICS: when it was entered, and the ticks of what it called */
	int64_t start, inner;
};

/* The states of a thread. Only the thread itself uses them. */
struct vt_trace_thread {
	struct vt_trace_frame *top; /* one after the innermost state */
	/* States below this limit are entered and left the short way. It is `end` if nothing needs more than a record
	 * (owed, beyond, stats, folded, TIME-WINDOWS, a timer that is not the counter), else `frame`.
	 * update_plain_limits() of trace.c sets it. Code that changes one of these must call vt_trace_not_plain()
	 * first. */
	struct vt_trace_frame *plain;
	/* the same limit if STATISTICS counts states, recorded or not, and nothing else is needed */
	struct vt_trace_frame *counted;
	struct vt_raw_stream *stream; /* of the thread */
	struct vt_trace_frame *end;
	struct vt_callstack_thread stack;
	uint64_t owed;          /* leaves that were lost, of states whose enter is in the raw file */
	uint64_t beyond;        /* states nested beyond the room; they are not recorded */
	struct vt_stats *stats; /* NULL: STATISTICS is off */
	int counts_lost;        /* 1: it counts only the calls that are left out since FLUSH-LIMIT was reached */
	/* what the call of MPI at `communicating` has sent and received so far */
	struct vt_raw_row *communication;
	uint32_t n_communications, communications;
	const struct vt_trace_frame *communicating;
	uint32_t scl;                 /* the location from VT_thisloc() for the next event; 0: none */
	struct vt_trace_frame *frame; /* the outermost state; before it is one frame without a function */
	struct vt_open_scope {
		uint32_t scope, seqnr;
	} scopes[64]; /* open scopes of this thread, the latest last */
	uint32_t n_scopes;
	int folded;                /* functions called now are not recorded unless they are unfolded */
	enum vt_tls_state restore; /* the thread's state before the last trigger */
};

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
/* instrument.c: the calling thread, which need not be registered, calls an instrumented function, or returns from
 * one. Calls that ended otherwise (longjmp) are closed. */
VT_HIDDEN void vt_trace_call(uint32_t function, uint32_t rule, uintptr_t address, uintptr_t sp);
/* The same for a replacement of a function of libc: the call stack begins with the caller of that function. */
VT_HIDDEN void vt_trace_call_of(uint32_t function, uint32_t rule, uintptr_t address, uintptr_t sp);
VT_HIDDEN void vt_trace_return(uint32_t function);
/* longjmp() sets the stack back to `sp`: calls below that have ended. */
VT_HIDDEN void vt_trace_jump(uintptr_t sp);
/* An object may have been unloaded. */
VT_HIDDEN void vt_instrument_unloaded(void);
VT_HIDDEN int vt_instrument_start(void);

/* STATISTICS: the innermost state, a call of MPI, has sent or received this many bytes. */
VT_HIDDEN void vt_trace_communicates(enum vt_raw_row_kind kind, uint32_t communicator, int32_t peer, uint64_t bytes);
/* The innermost state, if it is recorded, moves bytes to or from a file of vt_file(): so many are requested (begins
 * 1), or have been moved (begins 0). at NULL: now. */
VT_HIDDEN void vt_trace_transfer(const ltick_t *at, int begins, enum vt_raw_io kind, uint32_t file, uint64_t bytes);
/* The id of the innermost state of the calling thread that is recorded; 0: none. */
VT_HIDDEN uint32_t vt_trace_current(void);
/* The function of the innermost state, recorded or not; 0: none. */
VT_HIDDEN uint32_t vt_trace_innermost(void);

static inline void vt_trace_not_plain(struct vt_trace_thread *t)
{
	t->plain = t->counted = t->frame;
}

/* The rule of a function whose states are recorded, with nothing else to do. */
enum { VT_TRACE_PLAIN = VT_TRACE_KNOWN | VT_TRACE_RECORD | VT_TRACE_PUSH };

/* Are counters to be read at this event? */
static inline int vt_trace_is_sampled(ltick_t now)
{
	return __builtin_expect(now.v >= vt_tls.quiet_until, 0) && vt_tls.wanted;
}

/* Is the calling thread registered and recording? */
static inline int vt_trace_on(void)
{
	return vt_tls.state == VT_TLS_ON && vt_trace_wanted && vt_tls.collect == vt_collect_running();
}

/* Samples counters at an event of a recording thread. */
static inline void vt_trace_sample(ltick_t now)
{
	if (vt_tls.wanted && now.v >= vt_tls.quiet_until) {
		vt_event_at(now);
	}
}

/* Records any other event of raw/events.h with its own stamp, by a thread with vt_trace_on(). Returns 0, or -1: the
 * event was lost, and is counted. */
static inline int vt_trace_record(ltick_t stamp, unsigned type, uint8_t n, const void *body, size_t size)
{
	return vt_raw_event(vt_tls.thread->stream, stamp, (uint16_t)vt_tls.thread->number, type, n, body, size);
}

/* Records one end of a message, or both, likewise. */
static inline int vt_trace_message(ltick_t stamp, enum vt_raw_message_kind kind, const struct vt_raw_message *m)
{
	return vt_raw_message(vt_tls.thread->stream, stamp, (uint16_t)vt_tls.thread->number, kind, m);
}

#endif
