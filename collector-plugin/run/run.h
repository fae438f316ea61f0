/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of a run inside the program. */
#ifndef COLLECTOR_PLUGIN_RUN_RUN_H
#define COLLECTOR_PLUGIN_RUN_RUN_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/format.h"

/* Starts the collector with the options of the environment (VT_CONFIG, VT_*), unless it runs already or has ended.
 * rank -1: unknown. A collector that runs with another rank, or none, takes this one. argv0 may be NULL. Returns 0
 * if it runs, 1 if it has ended or the options forbid it, -1 with err. */
int vt_collect_start(int rank, int ranks, const char *argv0, struct tkm_err *err);

/* Ends the collector: takes the last samples and closes the raw file. merge 1: also makes the trace, if this process
 * is the only one of its job; 0: others do that (MPI: all ranks together). A second call has no effect. Not to be
 * called with a lock held. */
void vt_collect_end(int merge);
/* The program gives up system calls (seccomp): from here on the library only writes memory. no_clock: clocks cannot
 * be read either, because the strict mode of seccomp also forbids reading the counter. */
void vt_collect_be_quiet(int no_clock);
/* Has the program given up system calls? Then this notes the end, and the sampler process does all else. */
int vt_collect_is_quiet(enum vt_raw_ending how);
/* Like vt_collect_end(); how: how the program ends. */
void vt_collect_end_how(int merge, enum vt_raw_ending how);

/* Makes one trace of several raw files (merge.h), with the options that concern it: LOGFILE-*, COMPRESS, STF-*,
 * KEEP-RAW-EVENTS. Also after the end. period_s: of the maps' global ticks. Returns 0 or -1. */
struct vt_merge_input;
struct vt_merge_hosts;
int vt_collect_merge(
	struct vt_merge_input *in, size_t n, double period_s, const struct vt_merge_hosts *hosts, struct tkm_err *err);

/* To be called after the merge, when the trace's .clk file exists, too. Makes the report (REPORT), or prints the
 * command that makes it, and converts the trace to another format (LOGFILE-FORMAT). */
void vt_collect_show(const struct vt_collector *c);

/* To be called in the child of a fork: touches nothing of the parent, and allows a new start. */
VT_IN_CHILD void vt_collect_forked(void);

/* Starts again with the configuration of another rank, "FILE of rank N", in MPI_Init. What the process has recorded
 * so far is deleted. Returns 0; 1 if it is too late, since the program has called VT_ already; or -1. */
int vt_collect_reconfigure(const char *text, size_t size, const char *name, struct tkm_err *err);

/* Starts again with the timer of rank 0. Returns 0, or -1 with the reason: the timer cannot be opened here, or
 * it is too late. */
int vt_collect_take_timer(const char *name, struct tkm_err *err);

/* Makes the program write the protocol, now and at its end, because it needs what only the ranks know. */
void vt_collect_own_protocol(void);

/* vtsampler.c: hands the process over to the sampler process. Returns 1, or 0 if a thread must sample it;
 * c->inside_why has the reason. */
int vt_vtsampler_start(struct vt_collector *c);
/* Ends that, and prints what the sampler tells the user. merge: struct vt_attach_end. */
void vt_vtsampler_end(struct vt_collector *c, enum vt_raw_ending how, int merge);

/* names.c: program, job, trace, protocol, raw file. Returns 0 or -1. */
int vt_collect_names(struct vt_collector *c, const char *argv0, struct tkm_err *err);
/* Gives the trace another number if its name is taken meanwhile, unless it may be replaced. */
void vt_collect_free_name(struct vt_collector *c);
/* Writes the name that the trace gets in the format of LOGFILE-FORMAT to `to`; NULL: it stays STF. */
const char *vt_collect_target(const struct vt_collector *c, char *to, size_t size);
/* Adds "-what" to the names of the trace and the protocol. Returns 0, or -1 if that is too long; then they keep
 * their names. */
int vt_collect_rename(struct vt_collector *c, const char *what);
/* Creates a raw file in the folder of the trace, or in another folder if that is not possible. */
struct vt_raw *vt_collect_raw(struct vt_collector *c, struct tkm_err *err);

/* finish.c: completes the recording; then the trace, the protocol, the last line. */
void vt_collect_close(struct vt_collector *c);
void vt_collect_finish(struct vt_collector *c, int merge);
/* The words for an enum vt_raw_ending that the program itself noted, else NULL. */
const char *vt_collect_ended_by(uint32_t how);
void vt_collect_protocol(struct vt_collector *c, int finished);
/* Writes the one command for a shell that makes the trace of all raw files of the job, with absolute names. */
const char *vt_collect_command(const struct vt_collector *c, char *to, size_t size);
/* In the program: prints the hint for a process that was started as a rank and did not call MPI_Init. */
void vt_collect_say_no_mpi(const struct vt_collector *c);

#endif
