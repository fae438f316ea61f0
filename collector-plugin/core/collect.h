/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector of this process as its three users see it: the preloaded library that vtrun starts before main(),
 * the VT_ interface (api/) and the MPI wrappers (mpi/). There is one raw file, one timer, one background thread and
 * one table of threads. The first user starts the collector; the others find it running. Needs libc only. */
#ifndef COLLECTOR_PLUGIN_CORE_COLLECT_H
#define COLLECTOR_PLUGIN_CORE_COLLECT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"
#include "base/err.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/short.h"
#include "sampler/source.h"
#include "timers/timer.h"

struct vt_collector;
struct vt_settings;

/* What the parts of the collector may read of it. core/, run/ and the sampler process set the members; mpi/ sets those of
 * the job, whose texts and set belong to it. */
struct vt_collect {
	struct vt_raw *raw;
	struct tmr_timer *timer; /* shareable */
	ltick_t start;           /* when the collector began, and the time of day then */
	int64_t start_realtime_ns;
	int rank, ranks;             /* of MPI or the launcher's environment; -1, 0: unknown */
	const struct smp_plan *plan; /* the counters that were chosen; NULL: none */
	const uint32_t *counter_ids; /* of each counter of the plan, in the raw file */
	int has_windows;             /* TIME-WINDOWS is given: vt_collect_in_window() */
	double min_interval_s;       /* COUNTER-MIN-INTERVAL between two samples at events; < 0: none are taken */
	_Atomic int64_t period_ns;   /* SAMPLE-PERIOD, as changed by SAMPLE-BUDGET */

	/* the lines INFO NUMPROCS, CLUSTERDEF, PROCESS of all ranks; NULL: this process is alone */
	const char *job_lines;
	const char *default_lines; /* lines of the protocol about options of the job that were not given */
	int together;              /* the ranks make one trace together: the end of one rank makes none */
	/* CPUs of all ranks of this node, which may be used to write the trace; NULL: one thread writes it */
	const struct tkm_cpus *cpus;
	void (*_Atomic at_wake)(void); /* the sampling thread calls this whenever it wakes up; NULL: nothing */
};

/* Returns the present stamp. */
static inline ltick_t vt_ticks_now(const struct vt_collect *c)
{
	return tmr_is_counter(c->timer) ? tmr_read_counter() : tmr_read(c->timer);
}

/* What every event of this process reads first. The page is a page of its own, which the kernel wipes for each child that
 * gets a copy of the memory, however the child is made: there, no collector runs, and no handler has to say so. */
enum { VT_LIFE_BYTES = VT_LARGEST_PAGE };
extern union vt_life {
	struct {
		/* The running collector: NULL before its start, after its end, and in a child that is not followed. Its
		 * memory stays valid, so that a thread that outlives main may finish what it began. */
		_Atomic(struct vt_collect *) collecting;
		int here; /* this process, not its parent, has started a collector */
	};
	char page[VT_LIFE_BYTES];
} vt_life __attribute__((visibility("hidden"), aligned(VT_LIFE_BYTES)));

/* A collector starts in this process. */
void vt_life_begin(void) __attribute__((visibility("hidden")));

static inline struct vt_collect *vt_collect_running(void)
{
	return atomic_load_explicit(&vt_life.collecting, memory_order_acquire);
}

/* The collector of this process, for calls that need one. Only parts that run a collector see its members
 * (collector.h). */
extern struct vt_collector vt_collector __attribute__((visibility("hidden")));

/* ---- about the collector of this process, also after its end ---- */

/* What sampling cost. */
struct vt_account {
	uint64_t ticks, samples;
	int64_t cpu_ns;              /* of the background thread */
	int64_t longest_ns;          /* the longest tick */
	int64_t latest_ns;           /* how late it woke up */
	int64_t started_ns, wall_ns; /* CLOCK_MONOTONIC, and how long it ran */
	double period_s;             /* at the end */
	int slowed;                  /* times that it slowed down */
	int started_error; /* errno: starts of threads and processes are not counted; 0: they are (vtsampler/started.c) */
	uint64_t threads_started, threads_brief, started_lost, children_started;
	uint64_t threads_unseen_ns, children_ns;
	int children_late; /* the program went on before its starts were counted */
	int children_cpu_known;
};

const struct vt_account *vt_collect_account(void);
const struct vt_settings *vt_collect_settings(void);
/* Does the sampler process (vtsampler/) sample this process? If not, a thread inside does, and inside_why has the
 * reason. */
int vt_has_vtsampler(void);
/* If it does not: does it make the trace of the job if the ranks end before MPI_Finalize? */
int vt_is_watched(void);
const char *vt_collect_inside_why(void);
/* The name by which the timer was opened, with {rank} in it; "" before. */
const char *vt_collect_timer_name(void);
/* Was no timer named? */
int vt_collect_timer_by_default(void);
/* What the configuration file contains, and its name; NULL: there is none. */
const char *vt_collect_config(size_t *size, const char **name);
/* The text of VT_RUN_VARIABLE; "": vtrun did not start this process. */
const char *vt_collect_run_text(void);
/* The name that the raw files of one job have in common. */
const char *vt_collect_job(void);

/* Threads of the collector besides the background thread. */
enum vt_helper { VT_HELPER_CLOCK, VT_HELPER_READER, VT_HELPERS };

/* Sets the tid of a helper; 0: it has ended; -1: it begins, and its tid is not known yet. */
void vt_collect_helper(enum vt_helper helper, int tid);

/* The trace's absolute name; NULL before the start. */
const char *vt_collect_trace(void);
const char *vt_collect_raw_path(void);

/* Returns the text of an option that is not in the table, by its name in the guide ("SYNC-MAX-MESSAGES"), or NULL if
 * it was not set. */
const char *vt_collect_option(const char *name);
/* To be called before the start: the variable of this option was set on the program's command line. */
void vt_collect_commanded(const char *name);

/* Is the trace made by all ranks of a job? */
int vt_collect_is_of_job(void);
/* Counts children that are not recorded. Returns how many there were before. */
unsigned vt_collect_leave_out(int more);

/* Called by vt_collect_end() first, while everything still records (VT_setfinalizecallback). */
void vt_call_finalize(void);

/* Do the COUNTER rules allow the program's own counter of this name? Without a rule it is recorded. */
int vt_collect_counter_on(const char *name);

/* Numbers in the raw file: counters, classes and functions of the collector have lower numbers, those of the program
 * begin here. Groups: below 16, and from 16 on. */
enum { VT_FIRST_ID = VT_RAW_FIRST_ID };

/* Is `now` inside TIME-WINDOWS? */
int vt_collect_in_window(ltick_t now);

#endif
