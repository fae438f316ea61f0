/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a collector: settings, names and account. The program has one; the sampler process has one for each
 * program. Only parts that run a collector include this file (core/, sample/, run/, vtsampler/; tests/layers). All
 * others use core/collect.h. */
#ifndef COLLECTOR_PLUGIN_CORE_COLLECTOR_H
#define COLLECTOR_PLUGIN_CORE_COLLECTOR_H

#include <pthread.h>
#include <stdint.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/settings/settings.h"

struct vt_format;
struct vt_sampler;
struct vt_merge_input;
struct vt_merge_options;
struct vt_merge_result;

struct vt_collector {
	struct vt_collect pub;
	/* What the child of a fork writes is in one place (host/memory.h). */
	struct vt_sampler *sampler; /* NULL: no background thread */
	struct smp_plan *plan;
	_Atomic int helper[VT_HELPERS]; /* tids of other threads of the collector, 0: none; -1: not known yet */
	int has_vtsampler;              /* the sampler process samples this one */
	int watched;                    /* or it waits for its end, and makes the trace of all ranks if they die */
	int raw_stays;                  /* children of a fork do not get the raw file's memory */
	int ended;
	char run[8192]; /* VT_RUN_VARIABLE; "": not started by vtrun */
	struct vt_settings settings;
	pid_t pid;              /* the process of this collector; if it is another one: a forked child */
	char **variables;       /* VT_* as they were at the first start */
	char timer_name[256];   /* by which the timer was opened, with {rank} in it */
	char timer_of_job[256]; /* the timer name of rank 0, if this rank had another one; "": as in the settings */
	int timer_by_default;   /* no timer was named */
	char *config_text;      /* contents of the configuration file; NULL: there is none */
	size_t config_size;
	char config_name[400]; /* where config_text comes from */
	char program[256];
	char trace[1024], prot[1100], raw_path[1100], job[64];
	int trace_stem; /* bytes of `trace` without its suffix and the number that it got because its name was taken; 0: unknown */
	char commanded[1024];           /* options of --itc-args that vtrun has not seen, with commas between */
	int single;                     /* the trace is one file */
	const struct vt_format *format; /* that stftool is to make of it at the end; NULL: none */
	char earlier[300]; /* programs that this process was before, by exec; known to the sampler process only */
	int partial; /* the ranks of other hosts are in no folder that is seen here: their raw files may come yet */
	int again;   /* this end is followed by a new start: vt_collect_reconfigure() */
	int joined;  /* the process has joined another job since its end: vt_collect_join() */
	struct smp_env env;
	char trace_dir[1024]; /* of env */
	uint32_t *ids;        /* of the plan's counters, */
	uint32_t first_id;    /* which begin here */
	struct smp_plugin *plugins;
	char inside_why[300]; /* why not; "" */
	char ended_how[200];  /* how the program ended, as far as it or the sampler process knows; "" */
	struct vt_account account;
	int calls_expected; /* the program will make VT_ or MPI calls, as far as can be seen before it does */
	/* Set at the start. When nothing is recorded any more, it closes the files and makes them into the trace. It runs in the
	 * sampler thread: the thread that calls exit() may be in a signal handler and hold libc's locks. */
	void (*close_and_merge)(struct vt_collector *c, int merge);
	/* How raw files become a trace. */
	int (*merge)(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o,
		struct vt_merge_result *out, struct tkm_err *err);
	void (*write_protocol)(struct vt_collector *c, int finished);
};

/* What its options say of the raw file. */
static inline struct vt_raw_options vt_raw_options_of(const struct vt_collector *c)
{
	const struct vt_settings *s = &c->settings;

	return (struct vt_raw_options){ .path = c->raw_path,
		.block_size = s->mem_blocksize,
		.max_blocks = s->mem_maxblocks,
		.min_blocks = s->mem_minblocks,
		.flush_blocks = s->mem_flushblocks,
		.autoflush = s->autoflush,
		.overwrite = s->mem_overwrite,
		.limit = s->flush_limit };
}

/* The ids of the sampler's account of itself. */
enum { VT_ID_CPU = 1, VT_ID_TICK = 2, VT_ID_DELAY = 3, VT_ID_FIRST_PLANNED = 16, VT_ID_FIRST_VTSAMPLER = 0x8000 };
enum { VT_CLASS_OWN = 1, VT_CLASS_OS = 2, VT_CLASS_PERF = 3 };

#endif
