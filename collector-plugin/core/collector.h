/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files collect*.c share: the one collector of this process. */
#ifndef COLLECTOR_PLUGIN_COLLECT_PRIVATE_H
#define COLLECTOR_PLUGIN_COLLECT_PRIVATE_H

#include <pthread.h>
#include <stdint.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/settings/run_value.h"
#include "collector-plugin/settings/settings.h"

/* The sampler's account of itself. */
struct vt_account {
	uint64_t ticks, samples;
	int64_t cpu_ns;          /* of the background thread */
	int64_t longest_ns;      /* tick */
	int64_t latest_ns;       /* wake-up behind its time */
	int64_t started_ns, wall_ns; /* CLOCK_MONOTONIC, and how long it ran */
	double period_s;         /* in the end */
	int slowed;              /* times that it slowed down */
};

struct vt_sampler;
struct vt_collector;

/* Threads of ours besides the background thread. */
enum { VT_HELPER_CLOCK, VT_HELPER_READER, VT_HELPERS };

struct vt_collector {
	struct vt_collect pub;
	struct vt_settings settings;
	pid_t pid;               /* that all this belongs to; another one: a forked child */
	char run[8192];          /* VT_RUN_VARIABLE; "": not started by vtrun */
	char **variables;        /* VT_* as they were at the first start */
	char timer_name[256];    /* by which the timer was opened, with {rank} in it */
	char timer_of_job[256];  /* the same of rank 0, where this rank had another one; "": as the settings say */
	char *config_text;       /* what the configuration file says; NULL: there is none */
	size_t config_size;
	char config_name[400];   /* where that is from */
	char program[256];
	char trace[1024], prot[1100], raw_path[1100], job[64];
	char commanded[1024];    /* options of --itc-args that vtrun has not seen, with commas between */
	int single;              /* the trace is to be one file */
	int no_mpi;              /* set by libVT: MPI_Init was not called */
	int ended;
	int again;               /* this end is followed by a new start: vt_collect_reconfigure() */
	struct smp_env env;
	char hw[2048];
	struct smp_plan *plan;
	uint32_t *ids;           /* of the plan's counters */
	struct smp_plugin *plugins;
	struct vt_sampler *sampler; /* NULL: no background thread */
	struct vt_account account;
	int calls_expected;      /* the program will make VT_ or MPI calls, as far as can be seen before it does */
	/* set at the start, for the background thread. Nothing is recorded any more; files are closed and made into the trace. In that
	 * thread, because the one that ends the program may do so from a signal handler, with locks of libc in its hands. */
	void (*close_and_merge)(struct vt_collector *c, int merge);
	void (*write_protocol)(struct vt_collector *c, int finished);
	_Atomic int helper[VT_HELPERS]; /* tids of other threads of ours, 0: none; -1: it has not said it yet */
};

extern struct vt_collector vt_collector __attribute__((visibility("hidden")));

/* In the child of a fork: nothing of the parent's is touched, and a new start is possible. */
void vt_collect_forked(void);

/* Begins anew with the configuration of another rank, "FILE of rank N", at MPI_Init, after what the process has recorded so
 * far is deleted. Returns 0; 1: that cannot be any more, the program has called VT_ already; or -1. */
int vt_collect_reconfigure(const char *text, size_t size, const char *name, struct tkm_err *err);

/* The same with another timer: that of rank 0. Returns 0, or -1 with the reason: it cannot be opened here, or it is too late. */
int vt_collect_take_timer(const char *name, struct tkm_err *err);

/* collect_names.c: program, job, trace, protocol, raw file. Returns 0 or -1. */
int vt_collect_names(struct vt_collector *c, const char *argv0, struct tkm_err *err);
/* Gives the trace another number if its name is taken by now, unless it may be replaced. */
void vt_collect_free_name(struct vt_collector *c);
/* The trace, and the protocol, get "-what" in their names. Returns 0, or -1: that is too long, they keep the old ones. */
int vt_collect_rename(struct vt_collector *c, const char *what);
/* A raw file beside the trace, or where it is possible. */
struct vt_raw *vt_collect_raw(struct vt_collector *c, struct tkm_err *err);

/* collect_plan.c: chooses the counters and defines them in the raw file. */
int vt_collect_plan(struct vt_collector *c, struct tkm_err *err);
/* Defines a plan's counters in the raw file, from id `first` on: ids[i] of the i-th. */
void vt_plan_define(struct vt_collector *c, const struct smp_plan *plan, uint32_t first, uint32_t *ids);
/* At which VERBOSE it is said that a counter is missing: 1 if it was asked for by name. */
int vt_plan_warning_level(const struct vt_collector *c, const struct smp_planned *p);

/* collect_sample.c: the background thread. Returns 0, or -1: there is none, and only events are sampled. */
int vt_sampler_start(struct vt_collector *c, struct tkm_err *err);
/* ns of CPU time that the thread used, that of the programs before an exec included. For who is about to exec: no more than
 * that is recorded, until vt_sampler_stays() says that the exec failed. */
uint64_t vt_sampler_cpu(struct vt_collector *c);
void vt_sampler_stays(struct vt_collector *c);
/* Last samples, then the thread does close_and_merge() and ends. Waited for as long as that may take, not for ever. */
void vt_sampler_stop(struct vt_collector *c, int merge);
/* The ids of the sampler's account of itself. */
enum { VT_ID_CPU = 1, VT_ID_TICK = 2, VT_ID_DELAY = 3, VT_ID_FIRST_PLANNED = 16 };
enum { VT_CLASS_OWN = 1, VT_CLASS_OS = 2, VT_CLASS_PERF = 3 };

/* vt_process.c. The background thread samples the process between these two, with the stamp `now`, behind all before; 0: not
 * possible now. */
int vt_process_turn(struct vt_collect *c, ltick_t *now);
void vt_process_turn_end(ltick_t now);
/* For the thread that starts the collector, in the program's table of descriptors: ahead of all sampling; the set that the
 * background thread has opened for all, which has a table of its own if `apart`, to be kept for the program's threads or not;
 * and the program's threads read it no more. */
void vt_process_start(void);
void vt_process_share(struct vt_collect *c, struct smp_set *set, int keep, int apart);
void vt_process_unshare(int apart);
/* Filter for smp_set_open_some(): not vt_counts_from_opening(). */
int vt_not_from_opening(const struct smp_plan *plan, size_t i);

/* vt_reader.c. The background thread samples a thread by a set of its own between these two, with the stamp `now`; 0: the
 * thread is at it itself. */
int vt_reader_aside(struct vt_collect *c, pid_t tid, ltick_t *now);
void vt_reader_aside_end(ltick_t now);
/* Its thread is there from now on. */
void vt_reader_begin(struct vt_collect *c);
/* Its last samples, then it ends; CPU time that it took. */
void vt_reader_stop(void);
/* In the child of a fork, or ahead of a new start: it is not there. */
void vt_reader_forget(void);
int64_t vt_reader_cpu_ns(void);

/* collect_end.c: the trace, the protocol, the last line. */
void vt_collect_finish(struct vt_collector *c, int merge);
void vt_collect_protocol(struct vt_collector *c, int finished);

#endif
