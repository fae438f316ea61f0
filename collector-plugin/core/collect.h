/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector of this process as its three users see it: the preloaded library that vtrun starts ahead of
 * main(), the VT_ interface (vt_*.c) and the MPI wrappers (mpi_*.c). One raw file, one timer, one background
 * thread, one table of threads. Whoever comes first starts it; the others find it running. libc only.
 *
 * collect*.c: start, background sampling, end. vt_threads.c: the table of threads. */
#ifndef COLLECTOR_PLUGIN_COLLECT_H
#define COLLECTOR_PLUGIN_COLLECT_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/err.h"
#include "collector-plugin/raw/raw.h"
#include "sampler/source.h"
#include "timers/timer.h"

struct vt_collect {
	struct vt_raw *raw;
	struct tmr_timer *timer;       /* shareable */
	ltick_t start;                 /* when it began, and the clock of day then */
	int64_t start_realtime_ns;
	int rank, ranks;               /* of MPI or the launcher's environment; -1, 0: neither */
	const struct smp_plan *plan;   /* the counters that were chosen; NULL: none */
	const uint32_t *counter_id;    /* of each counter of the plan, in the raw file */
	const char *processes;         /* set by the MPI wrappers: the lines INFO NUMPROCS, CLUSTERDEF, PROCESS of all ranks, */
	const char *defaults;          /* and what the protocol says of the job's options that nobody gave */
	int together;                  /* set by the MPI wrappers: the ranks make one trace, so the end of one makes none */
	const void *cpus;              /* set by the MPI wrappers: cpu_set_t of those that the ranks of this node had, which may
	                                * write the trace; NULL: one thread does */
	size_t cpus_size;
	double min_interval_s;         /* COUNTER-MIN-INTERVAL: not oftener than this at events; < 0: never there */
	_Atomic int64_t period_ns;     /* SAMPLE-PERIOD, as SAMPLE-BUDGET has left it */
};

/* The running collector: NULL before its start, after its end, in a forked child that is not followed. It stays
 * valid memory for ever, so that a thread that outlives main may finish what it began. */
extern _Atomic(struct vt_collect *) vt_collecting;

static inline struct vt_collect *vt_collect_running(void)
{
	return atomic_load_explicit(&vt_collecting, memory_order_acquire);
}

/* Starts it with the options of the environment (VT_CONFIG, VT_*) unless it runs already or has ended. rank -1: not
 * known; a collector that runs with another rank, or none, takes this one. argv0 may be NULL. Returns 0 when it
 * runs, 1 when it has ended or the options say no, -1 with err. */
int vt_collect_start(int rank, int ranks, const char *argv0, struct tkm_err *err);

/* Ends it: the last samples, then the raw file is closed. merge 1: and made into a trace, if this process is the only
 * one of its job; 0: somebody else does that (MPI: all ranks together). Again is nothing. Not under a lock. */
void vt_collect_end(int merge);

/* One trace of several raw files (merge.h), with what the options say of it: LOGFILE-*, COMPRESS, STF-*, KEEP-RAW-EVENTS.
 * After the end too. period_s: of the maps' global ticks. Returns 0 or -1. */
struct vt_merge_input;
struct vt_merge_hosts;
int vt_collect_merge(struct vt_merge_input *in, size_t n, double period_s, const struct vt_merge_hosts *hosts, struct tkm_err *err);

/* The trace's absolute name; NULL before the start. */
const char *vt_collect_trace(void);

/* Options beyond the common ones, as text, by their guide's name ("SYNC-MAX-MESSAGES"); NULL if nobody set it. */
const char *vt_collect_option(const char *name);
/* Ahead of the start: this one's variable is from the program's command line. */
void vt_collect_commanded(const char *name);

/* Called by vt_collect_end() while everything still records, ahead of all else it does (VT_setfinalizecallback). */
void vt_call_finalize(void);

/* Do the COUNTER rules say that a counter of the program's own, by name, is recorded? Without a rule it is. */
int vt_collect_counter_on(const char *name);

/* Numbers in the raw file: the collector's own counters, classes and functions stand below, those of the program from
 * here on. Groups: below 16, and from 16 on. */
enum { VT_FIRST_ID = 0x10000 };

/* The collector is about to begin anew: forgets the calling thread if it is the only one that has called us, and nothing
 * was defined. Returns 0, or -1: there is more. */
int vt_threads_begin_anew(void);

/* In the child of a fork, by whoever watches for it: nobody is registered there. */
void vt_threads_forget(void);

/* ---- threads (vt_threads.c) ------------------------------------------------------------------ */

enum { VT_MAX_THREADS = 0x7fff };

/* One thread of this process. Only the thread itself touches what stands behind `number`. */
struct vt_thread {
	pid_t tid;
	int number;                   /* in the trace */
	struct vt_raw_stream *stream; /* NULL: not yet, or no memory */
	struct vt_threads_private *private;
};

/* The number of a thread in the trace: 0 for the thread that is the process (tid == getpid()); of one that has not called us a
 * place (raw.h). For the background thread that finds them: ask again at every sample, it has a number when it registers. -1:
 * there are 16384 already. */
int vt_threads_number(pid_t tid);
/* The same, but -1 for a thread that has none, since it has ended. */
int vt_threads_where(pid_t tid);

/* Has recording been turned off for it, by VT_traceoff() or by PROCESS? Then its counters are not read either; those of
 * the process when tid is getpid(). */
int vt_threads_off(pid_t tid);

/* A thread that reads its counters at its events takes those over that count from their opening (vt_counts_from_opening()):
 * two totals that began at different times must not be mixed, and a CPU has places for one set. The calling thread asks the background
 * thread to close its set, and waits a quarter of a second at most; total[] (a value for each counter of the plan) gets
 * where the counts stood. Returns 0, or -1: nobody answered. Its counters are read by vt_reader.c from then on. */
int vt_threads_take_over(struct vt_collect *c, pid_t tid, uint64_t *total, size_t n);
/* Has it? Then the background thread opens and reads none. */
int vt_threads_counts(pid_t tid);
/* For the background thread: a thread that waits, and what to answer it: NULL if there never was a set. 0: none waits. */
pid_t vt_threads_asking(void);
void vt_threads_let_go(pid_t tid, const uint64_t *total, size_t n);

/* Does the i-th counter of the plan count from when it was opened, not from the thread's or the process's start? */
int vt_counts_from_opening(const struct smp_plan *plan, size_t i);

/* Around opening a set of PAPI's, which tells its descriptors by what is new in the table. */
void vt_opening(void) __attribute__((visibility("hidden")));
void vt_opened(void) __attribute__((visibility("hidden")));

/* Is `now` inside TIME-WINDOWS? */
int vt_collect_in_window(ltick_t now);

/* That thread is gone: its number may be given to another. */
void vt_threads_gone(pid_t tid);

#endif
