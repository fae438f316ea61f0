/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call knows about the thread that makes it (Intel Trace Collector guide, section 3.1). */
#ifndef COLLECTOR_PLUGIN_CORE_THREAD_H
#define COLLECTOR_PLUGIN_CORE_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/writer.h"

#define VT_HIDDEN __attribute__((visibility("hidden")))
#define VT_LIKELY(x) __builtin_expect(!!(x), 1)

/* The state of a thread for its calls. It is checked first, so that a call that is off costs a load and a jump. */
enum vt_tls_state {
	VT_TLS_NEW, /* not looked up yet: vt_self_slow() */
	VT_TLS_OFF, /* VT_traceoff(), PROCESS OFF or NO */
	VT_TLS_ON,
};

struct vt_sampling;
struct vt_mpi_function;

/* Depths are places on the stack: what an exception or a jump has left is known by them. */
struct vt_tls {
	enum vt_tls_state state;
	int inside;                 /* calls of this thread under way: no sampling in sampling */
	struct vt_collect *collect; /* the collector that this belongs to */
	struct vt_thread *thread;
	int wanted;                    /* some sink wants its events (core/sink.h); 0: they trigger nothing */
	struct vt_sampling *sampling;  /* of the sampling sink (sample/) */
	int64_t quiet_until;           /* tick before which no sink wants an event */
	struct vt_trace_thread *trace; /* of the tracing sink (trace/) */
	uintptr_t inside_at;           /* where the first of `inside` began */
	/* the outermost call of MPI under way, the only one that is recorded */
	struct vt_mpi_outermost {
		uintptr_t at;                           /* the frame of its wrapper; 0: none is under way */
		uintptr_t low;                          /* the lowest address of that frame; the `sp` of its state */
		const struct vt_mpi_function *function; /* NULL: it is not recorded */
		/* what it sent, while the program has error handlers of its own, which may leave the call; NULL: nothing */
		struct vt_comm *sent;
		int64_t sent_at; /* ticks */
		int to, tag, recorded;
	} mpi;
};

extern _Thread_local struct vt_tls vt_tls VT_HIDDEN __attribute__((tls_model("initial-exec")));

/* Calls of this library begin, in which it records nothing. vt_trace_jump() ends them. */
static inline void vt_inside_begin(void)
{
	if (vt_tls.inside++ == 0) {
		vt_tls.inside_at = (uintptr_t)__builtin_frame_address(0);
	}
}

static inline void vt_inside_end(void)
{
	vt_tls.inside--;
}

/* Finds the state of the calling thread, and registers the thread if necessary. VT_ERR_NOTINITIALIZED if no
 * collector runs. */
VT_HIDDEN VT_ErrorCode vt_self_slow(void);
/* The same, with this number if the thread is not registered and the number is free; -1: any. */
VT_HIDDEN VT_ErrorCode vt_self_numbered(int number);

/* A child begins that has the memory of the calling thread, and its thread-local variables, too: vfork(), clone() with
 * CLONE_VM. What it calls is no call of this thread. *until is 0 when the child has ended; NULL: when vt_self_back()
 * is called. */
VT_HIDDEN void vt_self_lend(const _Atomic int *until);
VT_HIDDEN void vt_self_back(void);
VT_HIDDEN int vt_self_is_lent(void);

/* As vt_self(), for calls that define something: a program that uses the interface makes one of them first. If nothing
 * was ever started, the first such call prints a line, because the owner of the program would not know why there is no trace. */
VT_HIDDEN VT_ErrorCode vt_self_to_define(void);

/* Registers the calling thread with c under this number, -1: any. */
VT_HIDDEN VT_ErrorCode vt_register_self(struct vt_collect *c, int number);

static inline VT_ErrorCode vt_self(void)
{
	struct vt_collect *c = vt_collect_running();

	if (VT_LIKELY(c && c == vt_tls.collect)) {
		return VT_OK;
	}
	return vt_self_slow();
}

/* Reports a state change of the calling thread; VT_ calls and MPI calls do that. Cheap if nothing is sampled. */
VT_HIDDEN VT_ErrorCode vt_event_slow(void);

/* Reports a state change with its stamp, for a thread that is registered and whose recording is on. */
VT_HIDDEN void vt_event_at(ltick_t now);

static inline VT_ErrorCode vt_event(void)
{
	if (VT_LIKELY(vt_tls.state == VT_TLS_OFF ||
		    (vt_tls.state == VT_TLS_ON && !vt_tls.wanted && vt_tls.collect == vt_collect_running()))) {
		return VT_OK;
	}
	return vt_event_slow();
}

/* ---- the table of threads ---- */

enum { VT_MAX_THREADS = 0x7fff };

/* One thread of this process. Only the thread itself uses the members after `number`. */
struct vt_thread {
	pid_t tid;
	int number;                      /* in the trace */
	int rounds;                      /* of destructors at the thread's end */
	struct vt_raw_stream *stream;    /* NULL: not yet, or no memory */
	struct vt_raw_thread_slot *slot; /* shared with the sampler process; NULL: there are too many threads */
	struct vt_threads_private *private;
};

/* Returns the number of a thread in the trace: 0 for the thread that is the process (tid == getpid()). A thread that
 * has not called us has a place instead (raw/writer.h). For the background thread, which finds such threads: it must
 * ask again at every sample, because the thread gets a number when it registers. -1: there are 16384 already. */
int vt_threads_number(pid_t tid);
/* Returns vt_threads_number(), but -1 for a thread that has no number because it has ended. */
int vt_threads_where(pid_t tid);

/* Has recording been turned off for the thread, by VT_traceoff() or by PROCESS? Then its counters are not read
 * either. If tid is getpid(), this holds for the counters of the process, too. */
int vt_threads_off(pid_t tid);

/* A thread that reads its counters at its events takes over those that count from their opening
 * (vt_counts_from_opening()). Two totals that began at different times must not be mixed, and a CPU has room for one
 * set only. The calling thread asks the background thread to close its set, and waits at most 0.25 s. total[] (a
 * value for each counter of the plan) gets the last counts. Returns 0, or -1: no answer. From then on
 * sample/reader.c reads the thread's counters. */
int vt_threads_take_over(struct vt_collect *c, pid_t tid, uint64_t *total, size_t n);
/* Has the thread taken over its counters? Then the background thread opens and reads none of them. */
int vt_threads_counts(pid_t tid);
/* For the background thread: returns a thread that waits for an answer; 0: none waits. The answer is NULL if there
 * never was a set. */
pid_t vt_threads_asking(void);
void vt_threads_hand_over_counters(pid_t tid, const uint64_t *total, size_t n);

/* Calls f for each registered thread, which cannot end meanwhile. */
void vt_threads_each(void (*f)(const struct vt_thread *t));

/* The thread has ended: its number may be given to another thread. */
void vt_threads_gone(pid_t tid);

/* The collector is about to start again. Forgets the calling thread if no other thread that lives has called us and, unless
 * definitions and names of threads are kept, nothing was defined. Returns 0, or -1 otherwise. */
int vt_threads_restart(int keep_names);

/* In the child of a fork, called by the code that detects forks: no thread is registered there. */
VT_IN_CHILD void vt_threads_forget(void);

/* Registers the calling thread; number -1: any. *t stays valid until the thread ends. */
VT_HIDDEN VT_ErrorCode vt_threads_self(struct vt_collect *c, int number, struct vt_thread **t);
/* Gives the calling thread another number, a name, or both. -1 or NULL leaves the number or the name as it is. */
VT_HIDDEN VT_ErrorCode vt_threads_register(struct vt_collect *c, struct vt_thread *t, int number, const char *name);
/* VT_traceon() or VT_traceoff() of the calling thread: tells the background thread. */
VT_HIDDEN void vt_threads_switch(const struct vt_thread *t, int on);

#endif
