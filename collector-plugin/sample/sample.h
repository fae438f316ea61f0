/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: which are read, where, when and how. */
#ifndef COLLECTOR_PLUGIN_SAMPLE_SAMPLE_H
#define COLLECTOR_PLUGIN_SAMPLE_SAMPLE_H

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

/* ---- for the parts that start and end a run ---- */

/* plan.c: chooses the counters and defines them in the raw file. */
int vt_collect_plan(struct vt_collector *c, struct tkm_err *err);
/* Defines a plan's counters in the raw file. Ids begin at `first`; ids[i] gets that of the i-th counter. */
void vt_plan_define(struct vt_collector *c, const struct smp_plan *plan, uint32_t first, uint32_t *ids);
/* Returns the VERBOSE level at which a missing counter is reported: 1 if the user named it. */
int vt_plan_warning_level(const struct vt_collector *c, const struct smp_planned *p);
/* Reports the counters of NVML that are missing, which vt_collect_plan() cannot tell in a program. */
void vt_plan_report_nvml(const struct vt_collector *c);

/* sampler.c: starts the background thread. Returns 0, or -1: there is none, and only events are sampled. */
int vt_sampler_start(struct vt_collector *c, struct tkm_err *err);
/* Returns the CPU time in ns that the thread used, including that of programs before an exec. For a caller that is
 * about to exec: no more than that is recorded, until vt_sampler_stays() reports that the exec failed. */
uint64_t vt_sampler_cpu(struct vt_collector *c);
void vt_sampler_stays(struct vt_collector *c);
/* Takes the last samples; then the thread calls close_and_merge() and ends. The caller waits for that, but not for
 * ever. */
void vt_sampler_stop(struct vt_collector *c, int merge);
struct vt_sink_ops;
/* The sink that reads the counters of c->plan at the events of each thread. */
extern const struct vt_sink_ops vt_sampling_sink VT_HIDDEN;
/* Makes the calling thread's events call `callback` for the values of n counters, as VT_countsetcallback();
 * `deliver` records the returned values. NULL: no callback. Returns VT_ERR_NOMEMORY, or VT_ERR_INVT if the callback
 * itself calls this. */
VT_HIDDEN VT_ErrorCode vt_sampling_callback(VT_CountCallback_t callback, void *custom, int n,
	VT_ErrorCode (*deliver)(ltick_t now, int n, const int *handles, const void *values));

/* Returns the place of a counter that the program and the sampler process both record for the process; NULL: there are
 * too many. */
struct vt_raw_total *vt_process_total(struct vt_raw_process *turns, const char *name);
/* Returns the total as it is recorded: the two read it in two ways, which differ by the steps of the kernel. The caller
 * has the turn. total: NULL: v is recorded. */
static inline uint64_t vt_raise_total(struct vt_raw_total *total, uint64_t v)
{
	if (!total) {
		return v;
	}
	total->highest = v > total->highest ? v : total->highest;
	return total->highest;
}

/* ---- for the files of sample/ ---- */

/* Returns a stamp after `high`, unless the clock is coarse, or was set back. */
static inline ltick_t vt_stamp_after(const struct vt_collect *c, int64_t high)
{
	ltick_t now = vt_ticks_now(c);
	int i;

	for (i = 0; now.v <= high && i < 100; i++) {
		now = vt_ticks_now(c);
	}
	return now;
}

/* Does the i-th counter of the plan count from when it was opened, not from the thread's or the process's start? */
int vt_counts_from_opening(const struct smp_plan *plan, size_t i);

/* To be held while a set of PAPI is opened: it finds its descriptors by what is new in the table. */
void vt_counters_lock(void) __attribute__((visibility("hidden")));
void vt_counters_unlock(void) __attribute__((visibility("hidden")));

/* Counters that are read at state changes of one thread (events.c). */
struct vt_sampling {
	struct smp_set *set; /* of the thread; NULL: it has none */
	int process;         /* are there counters of the process? */
	uint32_t *id;
	union smp_value *value;
	uint8_t *state;
	uint64_t *base; /* added to each value: the background thread's count at the takeover */
	uint32_t *out_id;
	uint64_t *out;
	int64_t next; /* tick before which nothing is sampled (COUNTER-MIN-INTERVAL) */
	/* Two threads read the set: the thread itself, and reader.c between its events. The one that has the turn
	 * owns the members above. */
	struct vt_turn *turn; /* in the thread's slot, or own_turn */
	struct vt_turn own_turn;
	_Atomic int64_t *aside; /* stamp of the sampler's latest sample, if the counters are not taken over */
	_Atomic int64_t own_aside;
	pid_t tid;
	int over;        /* the thread has taken its counters over from the background thread */
	int64_t last;    /* stamp of the latest event that was sampled */
	int64_t read_at; /* and of the latest reading in between, whose values are in `value` */
	int valid;       /* result of that reading */
	/* samples at events that were left out because another thread did not give back its turn */
	unsigned left_out;
	struct vt_sampling *following; /* next in the list of reader.c */
	int listed;
	VT_CountCallback_t callback;
	void *custom;
	VT_ErrorCode (*deliver)(ltick_t now, int n, const int *handles, const void *values);
	int n; /* places below */
	int *handles;
	uint64_t *values;
};

/* reader.c: records the values that were read last, of thread number `where`. The caller has the turn. */
VT_HIDDEN void vt_sampling_record(struct vt_sampling *s, struct vt_raw_stream *stream, int where, ltick_t now);
/* reader.c: adds a thread that reads its own set, until it is removed. If the set has been taken over, it is sampled
 * periodically, too. */
VT_HIDDEN void vt_reader_add(struct vt_collect *c, struct vt_sampling *s);
VT_HIDDEN void vt_reader_remove(struct vt_sampling *s);

/* process.c: opens the counters of the process, for all of its threads. Returns their number. */
VT_HIDDEN size_t vt_process_open(struct vt_collect *c);
/* Closes the counters of the process, before their plan is closed. */
VT_HIDDEN void vt_process_restart(void);
VT_HIDDEN VT_IN_CHILD void vt_process_forget(void);
/* Samples the process at an event of the calling thread, with the stamp of the event. If another thread has recorded
 * a sample with a later stamp meanwhile, the result is VT_SAMPLE_LATER. With `later` the sample then gets a stamp of
 * its own, after that one. */
enum vt_sampled { VT_SAMPLED, VT_SAMPLE_LATER, VT_SAMPLE_LOST };
VT_HIDDEN enum vt_sampled vt_process_sample(ltick_t now, int later);

/* process.c. For the thread that starts the collector, in the program's table of descriptors. vt_process_start() comes before
 * all sampling. vt_process_share() takes the set that the background thread has opened for all threads. keep: the
 * program's threads use it; apart: the background thread has a table of its own. After vt_process_unshare() the
 * program's threads no longer read it. */
void vt_process_start(struct vt_collect *c);
void vt_process_share(struct vt_collect *c, struct smp_set *set, int keep, int apart);
void vt_process_unshare(int apart);
/* Filter for smp_set_open_some(): not vt_counts_from_opening(). */
int vt_not_from_opening(const struct smp_plan *plan, size_t i);

/* reader.c. The background thread samples a thread by a set of its own between these two calls, with the stamp
 * `now`. Returns 0 if the thread itself has the turn. */
int vt_reader_aside(struct vt_collect *c, pid_t tid, ltick_t *now);
void vt_reader_aside_end(ltick_t now);
/* Starts the thread of reader.c. */
void vt_reader_begin(struct vt_collect *c);
/* Takes the last samples and ends the thread of reader.c. vt_reader_cpu_ns() returns its CPU time. */
void vt_reader_stop(void);
/* To be called in the child of a fork, or before a new start: the thread of reader.c does not exist there. */
VT_IN_CHILD void vt_reader_forget(void);
int64_t vt_reader_cpu_ns(void);

#endif
