/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a run: the trace, the protocol, the last line. */
#ifndef COLLECTOR_PLUGIN_RUN_FINISH_H
#define COLLECTOR_PLUGIN_RUN_FINISH_H

#include "collector-plugin/core/collect.h"

/* Completes the recording; then makes the trace, the protocol and the last line. */
void vt_collect_close(struct vt_collector *c);
void vt_collect_finish(struct vt_collector *c, int merge);
/* Writes the words for an enum vt_raw_ending that the program itself noted. Returns 1, or 0: it is none. */
int vt_collect_describe_end(uint32_t how, char *to, size_t size);
void vt_collect_protocol(struct vt_collector *c, int finished);
/* Writes the one command for a shell that makes the trace of all raw files of the job, with absolute names. */
const char *vt_collect_command(const struct vt_collector *c, char *to, size_t size);
/* In the program: prints the hint for a process that was started as a rank and did not call MPI_Init. */
/* Is this the first process of the job, as far as its launcher's environment says? */
int vt_collect_is_first_rank(void);
void vt_collect_say_no_mpi(const struct vt_collector *c);

/* Makes one trace of several raw files (merge.h), with the options that concern it: LOGFILE-*, COMPRESS, STF-*,
 * KEEP-RAW-EVENTS. Also after the end. skip: TIMER-SKIP, as for cal_solve(). period_s: of the maps' global ticks. Returns 0 or -1. */
struct vt_merge_input;
int vt_collect_merge(struct vt_merge_input *in, size_t n, int skip, double period_s, struct tkm_err *err);

/* To be called after the merge, when the trace's .clk file exists, too. Makes the report (REPORT), or prints the
 * command that makes it, and converts the trace to another format (LOGFILE-FORMAT). */
void vt_collect_show(const struct vt_collector *c);
/* Another process completes the trace, for which `who` does not wait: says so, and what vt_collect_show() would have made, with the
 * commands for it. */
void vt_collect_say_later(const struct vt_collector *c, const char *who, const struct tkm_err *err);

#endif
