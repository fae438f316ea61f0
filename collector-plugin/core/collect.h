/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector of this process as its three users see it: the preloaded library that vtrun starts ahead of
 * main(), the VT_ interface (api/) and the MPI wrappers (mpi/). One raw file, one timer, one background
 * thread, one table of threads. Whoever comes first starts it; the others find it running. libc only. */
#ifndef COLLECTOR_PLUGIN_CORE_COLLECT_H
#define COLLECTOR_PLUGIN_CORE_COLLECT_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/err.h"
#include "sampler/source.h"
#include "timers/timer.h"

struct vt_collect {
	struct vt_raw *raw;
	struct tmr_timer *timer; /* shareable */
	ltick_t start;           /* when it began, and the clock of day then */
	int64_t start_realtime_ns;
	int rank, ranks;             /* of MPI or the launcher's environment; -1, 0: neither */
	const struct smp_plan *plan; /* the counters that were chosen; NULL: none */
	const uint32_t *counter_id;  /* of each counter of the plan, in the raw file */
	const char *processes; /* set by the MPI wrappers: the lines INFO NUMPROCS, CLUSTERDEF, PROCESS of all ranks, */
	const char *defaults;  /* and what the protocol says of the job's options that nobody gave */
	int together;          /* set by the MPI wrappers: the ranks make one trace, so the end of one makes none */
	const void *cpus;      /* set by the MPI wrappers: cpu_set_t of those that the ranks of this node had, which may
	                                * write the trace; NULL: one thread does */
	size_t cpus_size;
	void (*_Atomic at_wake)(
		void); /* set by the MPI wrappers: what the sampling thread calls whenever it wakes up; NULL: nothing */
	int windows;   /* TIME-WINDOWS are given: vt_collect_in_window() says whether a stamp is in one */
	double min_interval_s;     /* COUNTER-MIN-INTERVAL: not oftener than this at events; < 0: never there */
	_Atomic int64_t period_ns; /* SAMPLE-PERIOD, as SAMPLE-BUDGET has left it */
};

/* The running collector: NULL before its start, after its end, in a forked child that is not followed. It stays
 * valid memory for ever, so that a thread that outlives main may finish what it began. */
extern _Atomic(struct vt_collect *) vt_collecting;

static inline struct vt_collect *vt_collect_running(void)
{
	return atomic_load_explicit(&vt_collecting, memory_order_acquire);
}

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

/* Is `now` inside TIME-WINDOWS? */
int vt_collect_in_window(ltick_t now);

#endif
