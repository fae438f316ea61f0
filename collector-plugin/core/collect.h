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

#include "base/err.h"
#include "collector-plugin/raw/short.h"
#include "sampler/source.h"
#include "timers/timer.h"

struct vt_collector;
struct vt_settings;

/* Only core/ reads and writes the members, whose names end in _. All other parts call the functions below. */
struct vt_collect {
	struct vt_raw *raw_;
	struct tmr_timer *timer_; /* shareable */
	ltick_t start_;           /* when the collector began, and the time of day then */
	int64_t start_realtime_ns_;
	int rank_, ranks_;            /* of MPI or the launcher's environment; -1, 0: neither */
	const struct smp_plan *plan_; /* the counters that were chosen; NULL: none */
	const uint32_t *counter_id_;  /* of each counter of the plan, in the raw file */
	const char *job_lines_, *default_lines_;
	int together_;
	const void *cpus_;
	size_t cpus_size_;
	void (*_Atomic at_wake_)(void);
	int windows_;
	double min_interval_s_;
	_Atomic int64_t period_ns_;
};

/* The raw file of this process. */
static inline struct vt_raw *vt_raw_of(const struct vt_collect *c)
{
	return c->raw_;
}

static inline struct tmr_timer *vt_timer_of(const struct vt_collect *c)
{
	return c->timer_;
}

/* Returns the present stamp. */
static inline ltick_t vt_ticks_now(const struct vt_collect *c)
{
	return tmr_is_counter(c->timer_) ? tmr_read_counter() : tmr_read(c->timer_);
}

/* When the collector began, and the time of day then. */
static inline ltick_t vt_start_of(const struct vt_collect *c)
{
	return c->start_;
}

static inline int64_t vt_start_realtime_ns(const struct vt_collect *c)
{
	return c->start_realtime_ns_;
}

/* The rank, from MPI or the launcher's environment; -1: unknown. */
static inline int vt_rank_of(const struct vt_collect *c)
{
	return c->rank_;
}

/* The number of ranks; 0: unknown. */
static inline int vt_ranks_of(const struct vt_collect *c)
{
	return c->ranks_;
}

/* The counters that were chosen; NULL: none. */
static inline const struct smp_plan *vt_plan_of(const struct vt_collect *c)
{
	return c->plan_;
}

/* The number of each counter of the plan, in the raw file. */
static inline const uint32_t *vt_counter_ids(const struct vt_collect *c)
{
	return c->counter_id_;
}

/* Is TIME-WINDOWS given? Then vt_collect_in_window() returns whether a stamp is in a window. */
static inline int vt_has_windows(const struct vt_collect *c)
{
	return c->windows_;
}

/* COUNTER-MIN-INTERVAL: the shortest time between two samples at events; < 0: no samples at events. */
static inline double vt_min_interval_s(const struct vt_collect *c)
{
	return c->min_interval_s_;
}

/* SAMPLE-PERIOD, as changed by SAMPLE-BUDGET. */
static inline int64_t vt_period_ns(const struct vt_collect *c)
{
	return atomic_load_explicit(&c->period_ns_, memory_order_relaxed);
}

/* ---- what the MPI wrappers tell about the job; the texts and the set belong to them ---- */

/* The lines INFO NUMPROCS, CLUSTERDEF, PROCESS of all ranks; NULL: this process is alone. */
static inline const char *vt_job_lines_of(const struct vt_collect *c)
{
	return c->job_lines_;
}

static inline void vt_set_job_lines(struct vt_collect *c, const char *lines)
{
	c->job_lines_ = lines;
}

/* Lines of the protocol about options of the job that were not given. */
static inline const char *vt_default_lines_of(const struct vt_collect *c)
{
	return c->default_lines_;
}

static inline void vt_set_default_lines(struct vt_collect *c, const char *lines)
{
	c->default_lines_ = lines;
}

/* Do the ranks make one trace together? Then the end of one rank makes none. */
static inline int vt_is_together(const struct vt_collect *c)
{
	return c->together_;
}

static inline void vt_set_together(struct vt_collect *c, int together)
{
	c->together_ = together;
}

/* The CPUs (cpu_set_t) of all ranks of this node, which may be used to write the trace; NULL: one thread writes it. */
static inline const void *vt_cpus_of(const struct vt_collect *c, size_t *size)
{
	*size = c->cpus_size_;
	return c->cpus_;
}

static inline void vt_set_cpus(struct vt_collect *c, const void *cpus, size_t size)
{
	c->cpus_ = cpus;
	c->cpus_size_ = size;
}

/* The sampling thread calls fn whenever it wakes up; NULL: nothing. */
static inline void vt_set_at_wake(struct vt_collect *c, void (*fn)(void))
{
	atomic_store_explicit(&c->at_wake_, fn, memory_order_release);
}

static inline void vt_call_at_wake(struct vt_collect *c)
{
	void (*fn)(void) = atomic_load_explicit(&c->at_wake_, memory_order_acquire);

	if (fn) {
		fn();
	}
}

/* The running collector: NULL before its start, after its end, and in a forked child that is not followed. Its
 * memory stays valid, so that a thread that outlives main may finish what it began. */
extern _Atomic(struct vt_collect *) vt_collecting __attribute__((visibility("hidden")));

static inline struct vt_collect *vt_collect_running(void)
{
	return atomic_load_explicit(&vt_collecting, memory_order_acquire);
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
};

const struct vt_account *vt_collect_account(void);
const struct vt_settings *vt_collect_settings(void);
/* Does the sampler process (vtsampler/) sample this process? If not, a thread inside does, and inside_why has the
 * reason. */
int vt_collect_is_outside(void);
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

/* Returns the text of an option that is not in the table, by its name in the guide ("SYNC-MAX-MESSAGES"), or NULL if
 * it was not set. */
const char *vt_collect_option(const char *name);
/* To be called before the start: the variable of this option was set on the program's command line. */
void vt_collect_commanded(const char *name);

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
