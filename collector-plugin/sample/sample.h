/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: which, where, when, and reading them. */
#ifndef COLLECTOR_PLUGIN_SAMPLE_SAMPLE_H
#define COLLECTOR_PLUGIN_SAMPLE_SAMPLE_H

#include "collector-plugin/api/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/writer.h"

/* ---- for who starts and ends a run ---- */

/* plan.c: chooses the counters and defines them in the raw file. */
int vt_collect_plan(struct vt_collector *c, struct tkm_err *err);
/* Defines a plan's counters in the raw file, from id `first` on: ids[i] of the i-th. */
void vt_plan_define(struct vt_collector *c, const struct smp_plan *plan, uint32_t first, uint32_t *ids);
/* At which VERBOSE a missing counter is reported: 1 if it was asked for by name. */
int vt_plan_warning_level(const struct vt_collector *c, const struct smp_planned *p);

/* sampler.c: the background thread. Returns 0, or -1: there is none, and only events are sampled. */
int vt_sampler_start(struct vt_collector *c, struct tkm_err *err);
/* ns of CPU time that the thread used, that of the programs before an exec included. For who is about to exec: no more than
 * that is recorded, until vt_sampler_stays() says that the exec failed. */
uint64_t vt_sampler_cpu(struct vt_collector *c);
void vt_sampler_stays(struct vt_collector *c);
/* Last samples, then the thread does close_and_merge() and ends. Waited for as long as that may take, not for ever. */
void vt_sampler_stop(struct vt_collector *c, int merge);
struct vt_sink_ops;
/* The sink that reads the counters of c->plan at the events of each thread. */
extern const struct vt_sink_ops vt_sampling_sink VT_HIDDEN;
/* Makes the calling thread's events call `callback` for the values of n counters, as VT_countsetcallback(); deliver records what it
 * returned. NULL: no callback. VT_ERR_NOMEMORY, or VT_ERR_INVT from inside a callback. */
VT_HIDDEN VT_ErrorCode vt_sampling_callback(VT_CountCallback_t callback, void *custom, int n,
	VT_ErrorCode (*deliver)(ltick_t now, int n, const int *handles, const void *values));

/* A total of the process as it is recorded: the program and the sampler process read it in two ways, which differ by the kernel's steps.
 * For who has the turn. */
uint64_t vt_process_total(struct vt_raw_process *turns, const char *name, uint64_t v);

/* ---- inside ---- */

/* Does the i-th counter of the plan count from when it was opened, not from the thread's or the process's start? */
int vt_counts_from_opening(const struct smp_plan *plan, size_t i);

/* Around opening a set of PAPI's, which tells its descriptors by what is new in the table. */
void vt_counters_lock(void) __attribute__((visibility("hidden")));
void vt_counters_unlock(void) __attribute__((visibility("hidden")));

/* Counters that are read at state changes of one thread (events.c). */
struct vt_sampling {
	struct smp_set *set; /* of the thread; NULL: it has none */
	int process;         /* are there counters of the process? */
	uint32_t *id;
	union smp_value *value;
	uint8_t *state;
	uint64_t *base; /* added to each: what the background thread's count was */
	uint32_t *out_id;
	uint64_t *out;
	int64_t next; /* not before this tick (COUNTER-MIN-INTERVAL) */
	/* two read it: the thread itself, and reader.c between its events; whoever is at it owns what is above */
	struct vt_turn *turn; /* in the thread's slot, or own_turn */
	struct vt_turn own_turn;
	_Atomic int64_t *aside; /* stamp of the sampler's latest sample, if the counters are not taken over */
	_Atomic int64_t own_aside;
	pid_t tid;
	int over;                      /* it has taken them over from the background thread */
	int64_t last;                  /* stamp of the latest event that was sampled */
	int64_t read_at;               /* and of the latest reading in between, whose values are in `value` */
	int valid;                     /* what that returned */
	unsigned left_out;             /* samples at events: another one did not give back its turn */
	struct vt_sampling *following; /* of reader.c */
	int listed;
	VT_CountCallback_t callback;
	void *custom;
	VT_ErrorCode (*deliver)(ltick_t now, int n, const int *handles, const void *values);
	int n; /* places below */
	int *handles;
	uint64_t *values;
};

/* A sample of `s`, of thread number `where`, by another thread than its own, unless that is at it. */
VT_HIDDEN void vt_sample_other(struct vt_sampling *s, struct vt_collect *c, struct vt_raw_stream *stream, int where);

/* reader.c: a thread that reads its set, until it is removed; periodic samples of that set if it has been taken over. */
VT_HIDDEN void vt_reader_add(struct vt_collect *c, struct vt_sampling *s);
VT_HIDDEN void vt_reader_remove(struct vt_sampling *s);

/* process.c: opens those of the process, for all of its threads; returns how many there are. */
VT_HIDDEN size_t vt_process_open(struct vt_collect *c);
/* Closes them, before their plan. */
VT_HIDDEN void vt_process_restart(void);
VT_HIDDEN VT_IN_CHILD void vt_process_forget(void);
/* A sample of the process at an event of the calling thread. Its stamp is the event's, unless another thread has meanwhile
 * recorded one with a later stamp: then VT_SAMPLE_LATER, and with `later` it gets a stamp of its own, after these. */
enum vt_sampled { VT_SAMPLED, VT_SAMPLE_LATER, VT_SAMPLE_LOST };
VT_HIDDEN enum vt_sampled vt_process_sample(ltick_t now, int later);

/* process.c. The background thread samples the process between these two, with the stamp `now`, after all before; 0: not
 * possible now. */
int vt_process_turn(struct vt_collect *c, ltick_t *now);
void vt_process_turn_end(ltick_t now);
/* For the thread that starts the collector, in the program's table of descriptors: before all sampling; the set that the
 * background thread has opened for all, which has a table of its own if `apart`, to be kept for the program's threads or not;
 * and the program's threads read it no more. */
void vt_process_start(struct vt_collect *c);
void vt_process_share(struct vt_collect *c, struct smp_set *set, int keep, int apart);
void vt_process_unshare(int apart);
/* Filter for smp_set_open_some(): not vt_counts_from_opening(). */
int vt_not_from_opening(const struct smp_plan *plan, size_t i);

/* reader.c. The background thread samples a thread by a set of its own between these two, with the stamp `now`; 0: the
 * thread is at it itself. */
int vt_reader_aside(struct vt_collect *c, pid_t tid, ltick_t *now);
void vt_reader_aside_end(ltick_t now);
/* Its thread is there from now on. */
void vt_reader_begin(struct vt_collect *c);
/* Its last samples, then it ends; CPU time that it took. */
void vt_reader_stop(void);
/* In the child of a fork, or before a new start: it is not there. */
VT_IN_CHILD void vt_reader_forget(void);
int64_t vt_reader_cpu_ns(void);

#endif
