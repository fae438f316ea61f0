/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of a run inside the program. */
#ifndef COLLECTOR_PLUGIN_RUN_RUN_H
#define COLLECTOR_PLUGIN_RUN_RUN_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/format.h"

/* Starts it with the options of the environment (VT_CONFIG, VT_*) unless it runs already or has ended. rank -1: not
 * known; a collector that runs with another rank, or none, takes this one. argv0 may be NULL. Returns 0 when it
 * runs, 1 when it has ended or the options say no, -1 with err. */
int vt_collect_start(int rank, int ranks, const char *argv0, struct tkm_err *err);

/* Ends it: the last samples, then the raw file is closed. merge 1: and made into a trace, if this process is the only
 * one of its job; 0: others do that (MPI: all ranks together). Again is nothing. Not under a lock. */
void vt_collect_end(int merge);
/* The program gives up system calls (seccomp): from here on only memory is written. no_clock: and not that, since its strict mode takes
 * the counter away, too, by which clocks are read. */
void vt_collect_be_quiet(int no_clock);
/* Is that so? Then the end is noted, and the sampler process does all else. */
int vt_collect_is_quiet(enum vt_raw_ending how);
/* The same; how the program ends. */
void vt_collect_end_how(int merge, enum vt_raw_ending how);

/* One trace of several raw files (merge.h), with what the options say of it: LOGFILE-*, COMPRESS, STF-*, KEEP-RAW-EVENTS.
 * After the end too. period_s: of the maps' global ticks. Returns 0 or -1. */
struct vt_merge_input;
struct vt_merge_hosts;
int vt_collect_merge(
	struct vt_merge_input *in, size_t n, double period_s, const struct vt_merge_hosts *hosts, struct tkm_err *err);

/* After the merge, when the trace's .clk file is there, too: the report (REPORT), or the command that makes it,
 * and the trace in another format (LOGFILE-FORMAT). */
void vt_collect_show(const struct vt_collector *c);

/* In the child of a fork: nothing of the parent's is touched, and a new start is possible. */
VT_IN_CHILD void vt_collect_forked(void);

/* Begins anew with the configuration of another rank, "FILE of rank N", at MPI_Init, after what the process has recorded so
 * far is deleted. Returns 0; 1: that cannot be any more, the program has called VT_ already; or -1. */
int vt_collect_reconfigure(const char *text, size_t size, const char *name, struct tkm_err *err);

/* The same with another timer: that of rank 0. Returns 0, or -1 with the reason: it cannot be opened here, or it is too late. */
int vt_collect_take_timer(const char *name, struct tkm_err *err);

/* The program writes the protocol, which needs what only its ranks know: now, and at its end. */
void vt_collect_own_protocol(void);

/* outside.c: is the process sampled by a process of its own? Returns 1, or 0: a thread has to do it, and c->inside_why says why. */
int vt_outside_start(struct vt_collector *c);
/* The end of that, with what the sampler says to the user. merge: struct vt_attach_end. */
void vt_outside_end(struct vt_collector *c, enum vt_raw_ending how, int merge);

/* names.c: program, job, trace, protocol, raw file. Returns 0 or -1. */
int vt_collect_names(struct vt_collector *c, const char *argv0, struct tkm_err *err);
/* Gives the trace another number if its name is taken by now, unless it may be replaced. */
void vt_collect_free_name(struct vt_collector *c);
/* What the trace becomes in the format of LOGFILE-FORMAT, in to; NULL: it stays STF. */
const char *vt_collect_target(const struct vt_collector *c, char *to, size_t size);
/* The trace, and the protocol, get "-what" in their names. Returns 0, or -1: that is too long, they keep the old ones. */
int vt_collect_rename(struct vt_collector *c, const char *what);
/* A raw file beside the trace, or where it is possible. */
struct vt_raw *vt_collect_raw(struct vt_collector *c, struct tkm_err *err);

/* finish.c: what was recorded is complete; then the trace, the protocol, the last line. */
void vt_collect_close(struct vt_collector *c);
void vt_collect_finish(struct vt_collector *c, int merge);
void vt_collect_protocol(struct vt_collector *c, int finished);
/* The one command that makes the trace of all raw files of the job, for a shell; absolute names. */
const char *vt_collect_command(const struct vt_collector *c, char *to, size_t size);
/* In the program: the hint for one that was started as a rank and did not call MPI_Init. */
void vt_collect_say_no_mpi(const struct vt_collector *c);

#endif
