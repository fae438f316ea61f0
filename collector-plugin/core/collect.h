/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector of this process as its three users see it: the preloaded library that vtrun starts before
 * main(), the VT_ interface (api/) and the MPI wrappers (mpi/). One raw file, one timer, one background
 * thread, one table of threads. Whoever comes first starts it; the others find it running. libc only. */
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

/* Its members end in _ and are read and written in core/ alone; all others call the functions below. */
struct vt_collect {
	struct vt_raw *raw_;
	struct tmr_timer *timer_; /* shareable */
	ltick_t start_;           /* when it began, and the clock of day then */
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

/* The stamp of now. */
static inline ltick_t vt_ticks_now(const struct vt_collect *c)
{
	return tmr_is_counter(c->timer_) ? tmr_read_counter() : tmr_read(c->timer_);
}

/* When it began, and the clock of day then. */
static inline ltick_t vt_start_of(const struct vt_collect *c)
{
	return c->start_;
}

static inline int64_t vt_start_realtime_ns(const struct vt_collect *c)
{
	return c->start_realtime_ns_;
}

/* Of MPI or the launcher's environment; -1: neither says it. */
static inline int vt_rank_of(const struct vt_collect *c)
{
	return c->rank_;
}

/* 0: neither says it. */
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

/* Are TIME-WINDOWS given? Then vt_collect_in_window() says whether a stamp is in one. */
static inline int vt_has_windows(const struct vt_collect *c)
{
	return c->windows_;
}

/* COUNTER-MIN-INTERVAL: the shortest time between two at events; < 0: never there. */
static inline double vt_min_interval_s(const struct vt_collect *c)
{
	return c->min_interval_s_;
}

/* SAMPLE-PERIOD, as SAMPLE-BUDGET has left it. */
static inline int64_t vt_period_ns(const struct vt_collect *c)
{
	return atomic_load_explicit(&c->period_ns_, memory_order_relaxed);
}

/* ---- what the MPI wrappers say of the job; the texts and the set stay theirs ---- */

/* The lines INFO NUMPROCS, CLUSTERDEF, PROCESS of all ranks; NULL: this process is alone. */
static inline const char *vt_job_lines_of(const struct vt_collect *c)
{
	return c->job_lines_;
}

static inline void vt_set_job_lines(struct vt_collect *c, const char *lines)
{
	c->job_lines_ = lines;
}

/* What the protocol says of the job's options that were not given. */
static inline const char *vt_default_lines_of(const struct vt_collect *c)
{
	return c->default_lines_;
}

static inline void vt_set_default_lines(struct vt_collect *c, const char *lines)
{
	c->default_lines_ = lines;
}

/* The ranks make one trace, so the end of one makes none. */
static inline int vt_is_together(const struct vt_collect *c)
{
	return c->together_;
}

static inline void vt_set_together(struct vt_collect *c, int together)
{
	c->together_ = together;
}

/* cpu_set_t of those that the ranks of this node had, which may write the trace; NULL: one thread does. */
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

/* The running collector: NULL before its start, after its end, in a forked child that is not followed. It stays
 * valid memory for ever, so that a thread that outlives main may finish what it began. */
extern _Atomic(struct vt_collect *) vt_collecting __attribute__((visibility("hidden")));

static inline struct vt_collect *vt_collect_running(void)
{
	return atomic_load_explicit(&vt_collecting, memory_order_acquire);
}

/* The collector of this process, for calls that take one. What is in it is seen by those alone that run one (collector.h). */
extern struct vt_collector vt_collector __attribute__((visibility("hidden")));

/* ---- of the collector of this process, after its end too ---- */

/* The sampler's account of itself. */
struct vt_account {
	uint64_t ticks, samples;
	int64_t cpu_ns;              /* of the background thread */
	int64_t longest_ns;          /* tick */
	int64_t latest_ns;           /* how late it woke up */
	int64_t started_ns, wall_ns; /* CLOCK_MONOTONIC, and how long it ran */
	double period_s;             /* in the end */
	int slowed;                  /* times that it slowed down */
	int started_error; /* errno: starts of threads and processes are not counted; 0: they are (agent/started.c) */
	uint64_t threads_started, threads_brief, started_lost, children_started;
	uint64_t threads_unseen_ns, children_ns;
};

const struct vt_account *vt_collect_account(void);
const struct vt_settings *vt_collect_settings(void);
/* Does the sampler process sample it (agent/)? If not, a thread inside does, and the reason is in inside_why. */
int vt_collect_is_outside(void);
const char *vt_collect_inside_why(void);
/* The name by which the timer was opened, with {rank} in it; "" before. */
const char *vt_collect_timer_name(void);
/* Was no timer named? */
int vt_collect_timer_by_default(void);
/* What the configuration file says, and where it is from; NULL: there is none. */
const char *vt_collect_config(size_t *size, const char **name);
/* VT_RUN_VARIABLE; "": not started by vtrun. */
const char *vt_collect_run_text(void);
/* The name that the raw files of one job have in common. */
const char *vt_collect_job(void);

/* Threads of ours besides the background thread. */
enum vt_helper { VT_HELPER_CLOCK, VT_HELPER_READER, VT_HELPERS };

/* The helper has this tid; 0: it is gone; -1: it begins, and has not said it yet. */
void vt_collect_helper(enum vt_helper helper, int tid);

/* The trace's absolute name; NULL before the start. */
const char *vt_collect_trace(void);

/* Options beyond the common ones, as text, by their guide's name ("SYNC-MAX-MESSAGES"); NULL if it was not set. */
const char *vt_collect_option(const char *name);
/* Before the start: this one's variable is from the program's command line. */
void vt_collect_commanded(const char *name);

/* Called by vt_collect_end() while everything still records, before all else it does (VT_setfinalizecallback). */
void vt_call_finalize(void);

/* Do the COUNTER rules say that a counter of the program's own, by name, is recorded? Without a rule it is. */
int vt_collect_counter_on(const char *name);

/* Numbers in the raw file: the collector's own counters, classes and functions are below, those of the program from
 * here on. Groups: below 16, and from 16 on. */
enum { VT_FIRST_ID = VT_RAW_FIRST_ID };

/* Is `now` inside TIME-WINDOWS? */
int vt_collect_in_window(ltick_t now);

#endif
