/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the MPI wrappers share. Does not include mpi.h, because the Fortran wrappers do without it. */
#ifndef COLLECTOR_PLUGIN_MPI_PRIVATE_H
#define COLLECTOR_PLUGIN_MPI_PRIVATE_H

#include "include/VT.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/trace/trace.h"

/* The function `name` of the next library in the order of loading; `own` if there is none. */
VT_HIDDEN void *vt_mpi_next(const char *name, void *own);

/* One call of calls.def. */
struct vt_mpi_function {
	const char *text;
	const char *class_name;    /* NULL: MPI */
	void *next;                /* the function that the wrapper calls */
	const struct vt_raw *file; /* the raw file that the id belongs to */
	uint32_t id;
	uint32_t outside; /* 1: it may wait for what is in no trace: a file, another job */
	uint32_t alone;   /* 1: it may be throttled */
	/* of calls that may find nothing (polls.h): the counters of runs of them, and the raw file these belong to */
	uint32_t polls, span;
	const struct vt_raw *polls_file;
};

/* Instead of its wrapper's frame: the call is inside another one; no collector runs. */
enum { VT_MPI_NESTED = 1, VT_MPI_MISSED = 2 };

/* One call under way. */
struct vt_mpi_call {
	int recorded; /* its state is recorded; filters, VT_traceoff() and so on decide */
	uintptr_t at; /* the frame of its wrapper */
	int folds;    /* polls.h: it becomes part of a run if it finds nothing; until then nothing is recorded */
	const struct vt_collect *collect;
	int64_t enter, leave; /* ticks */
	struct vt_trace_frame *frame;
	/* what it sent, kept in case the call fails; NULL: nothing */
	struct vt_comm *sent;
	int to, tag;
	uint64_t bytes;
	/* what it moves to or from a file (files.h); file 0: nothing */
	uint32_t file;
	enum vt_raw_io io;
	uint64_t moving;
};

/* Returns 1 if the call is to be recorded. Defines the function and registers the thread. `at`: the wrapper's frame. */
VT_HIDDEN int vt_mpi_enter_at(struct vt_mpi_call *k, struct vt_mpi_function *f, uintptr_t at);
static inline __attribute__((always_inline)) int vt_mpi_enter(struct vt_mpi_call *k, struct vt_mpi_function *f)
{
	return vt_mpi_enter_at(k, f, (uintptr_t)__builtin_frame_address(0));
}
/* Calls of MPI by this library, or by MPI itself, begin and end: they are not recorded. */
static inline void vt_mpi_hide(void)
{
	vt_tls.mpi = (struct vt_mpi_outermost){ .at = UINTPTR_MAX, .low = UINTPTR_MAX };
}
static inline void vt_mpi_show(void)
{
	vt_tls.mpi.at = 0;
}

/* The outermost call was left, by longjmp() or an exception. */
VT_HIDDEN void vt_mpi_leave_abandoned(void);

/* Where calls are counted for the sampler process, which searches for deadlocks; NULL: it does not. */
extern struct vt_raw_head *vt_mpi_watched VT_HIDDEN;

/* begins: 1 or 0; outside: as in struct vt_mpi_function. */
static inline void vt_mpi_count(int begins, int outside)
{
	struct vt_raw_head *h = vt_mpi_watched;

	if (__builtin_expect(h != NULL, 0)) {
		if (outside) {
			atomic_fetch_add_explicit(&h->outside, begins ? 1 : -1, memory_order_relaxed);
		}
		atomic_fetch_add_explicit(begins ? &h->entered : &h->left, 1, memory_order_relaxed);
	}
}

/* The call of MPI has returned. may_follow: it may have returned because of what another process did (VT_OUTSIDE: or
 * something that is in no trace). Then all later
 * stamps of this thread are taken after the loads that saw that, whichever instruction reads the timer. VT_ALONE: its state
 * stands for itself, no message or operation needs it. Returns 1 if the call is recorded; vt_mpi_leave() then ends that. */
enum { VT_OUTSIDE = 2, VT_ALONE = 4 };
#define VT_MPI_KIND(may_follow) .outside = (may_follow) == VT_OUTSIDE, .alone = ((may_follow)&VT_ALONE) != 0
static inline int vt_mpi_returned(struct vt_mpi_call *k, int may_follow)
{
	/* also if it was taken for left while the thread was on another stack */
	if (__builtin_expect(k->at != vt_tls.mpi.at, 0)) {
		vt_tls.mpi.at = k->at == VT_MPI_MISSED ? 0 : vt_tls.mpi.at;
		return 0;
	}
	vt_mpi_count(0, may_follow == VT_OUTSIDE);
	if (may_follow & ~VT_ALONE) {
		tmr_order();
	}
	k->leave = vt_ticks_now(k->collect).v;
	return 1;
}

VT_HIDDEN void vt_mpi_leave(struct vt_mpi_call *k);

/* record.c: called when MPI is initialised; from now on its requests and communicators are tracked. */
VT_HIDDEN void vt_record_begin(struct vt_collect *c);

/* ---- start.c: a start and an end of MPI that are not calls of MPI ---- */

/* Before and after a call that starts MPI. Returns 0 if MPI has been started; then the second must not be called. */
VT_HIDDEN int vt_mpi_init_begin(const char *class_name, const char *name);
VT_HIDDEN void vt_mpi_init_end(void);
/* Before a call that ends MPI. */
VT_HIDDEN void vt_mpi_end(const char *class_name, const char *name);

/* ---- run.c: what the ranks do together, with mpi.h. All functions return without a message where something is
 * missing. ---- */

/* After MPI_Init: finds this process's rank, gives all ranks one trace, and makes the first clock session. `enter` is called
 * when rank, timer and options are known; it enters the state of MPI_Init, with the stamp of its beginning. */
VT_HIDDEN void vt_job_begin(int *argc, char ***argv, void (*enter)(struct vt_collect *c));
/* Before MPI_Finalize, whose state has been entered, of that function: makes the last session and brings everything for
 * the trace to LOGFILE-RANK, which writes it while the others wait. */
VT_HIDDEN void vt_job_end(uint32_t function);
/* MPI_Abort, or what else aborts the job: makes the recorded data safe and reports where it is. */
VT_HIDDEN void vt_job_abort(const char *how, int code);
/* A clock session during the run, by all ranks together. */
VT_HIDDEN VT_ErrorCode vt_job_timesync(void);

#endif
