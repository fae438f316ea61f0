/* SPDX-License-Identifier: BSD-3-Clause */
/* The states that a thread is in, and the events that it records besides states. */
#ifndef COLLECTOR_PLUGIN_TRACE_STATES_H
#define COLLECTOR_PLUGIN_TRACE_STATES_H

#include <stdint.h>

#include "collector-plugin/core/thread.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/trace/callstack.h"
#include "collector-plugin/trace/rules.h"

/* Kinds of states: of VT_begin() and VT_end(); of VT_enter() and VT_leave(); the call of an instrumented function;
 * the whole of a thread (ENTER-USERCODE). */
enum vt_trace_kind { VT_TRACE_REGION = 1, VT_TRACE_FUNCTION = 2, VT_TRACE_CALL = 3, VT_TRACE_THREAD = 4 };

enum { VT_TRACE_QUICK = 1 };
/* Is the enter of a state in the raw file? Not if a filter rejected it, or if it is lost; then its leave counts as
 * lost, too. */
enum { VT_TRACE_NOT = 0, VT_TRACE_RECORDED = 1, VT_TRACE_LOST = 2 };

/* A state of the calling thread that has been entered and not left. */
struct vt_trace_frame {
	uintptr_t sp; /* VT_TRACE_CALL and calls of MPI: the stack pointer; others: UINTPTR_MAX; being
		       * filled: 0 */
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

/* Calls of MPI in a row that found nothing (mpi/polls.c): of one function, where the end of its state and its number of
 * calls are in the raw file, and the ticks in it. */
struct vt_trace_poll {
	uint32_t function;
	uint8_t *leave, *count;
	uint64_t calls;
};
enum { VT_TRACE_POLLS = 4 };
struct vt_trace_polls {
	const uint8_t *after; /* where the stream was after the latest one; NULL: the latest event was no such call */
	int64_t first;        /* begin of the run in the raw file */
	int64_t longest;      /* ticks that the run may last */
	double tick_ns;       /* of the timer */
	uint8_t *span;        /* where its length is */
	uint32_t n;           /* functions in it; 0: none has begun */
	struct vt_trace_poll of[VT_TRACE_POLLS];
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
	struct vt_trace_polls polls;
	int folded;                /* functions called now are not recorded unless they are unfolded */
	enum vt_tls_state restore; /* the thread's state before the last trigger */
};

/* A handler of a signal may come between any two instructions of the thread, and enter and leave states. So a place on
 * the stack of states is taken before it is filled, and one that is not taken, or not filled, has a stack pointer of 0:
 * it counts as not left. */
static inline struct vt_trace_frame *vt_trace_take_frame(struct vt_trace_thread *t)
{
	struct vt_trace_frame *f = t->top;

	t->top = f + 1;
	atomic_signal_fence(memory_order_seq_cst);
	return f;
}

/* To be called when the rest of the frame is filled. */
static inline void vt_trace_fill_sp(struct vt_trace_frame *f, uintptr_t sp)
{
	atomic_signal_fence(memory_order_seq_cst);
	f->sp = sp;
}

/* Gives the innermost place back. A handler may write to it at once, so what is needed of it must be read before. */
static inline void vt_trace_give_frame(struct vt_trace_thread *t, struct vt_trace_frame *f)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->top = f;
	atomic_signal_fence(memory_order_seq_cst);
	f->sp = 0;
}

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

/* Does it record what the program itself logs? */
static inline int vt_trace_logs(void)
{
	return vt_trace_on() && !vt_trace_idle;
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
