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

/* Before vt_collect_start(): this process has joined a job by a contact word, which has given it this rank. ranks 0: unknown. */
void vt_collect_join(const char *job, int rank, int ranks);

/* Ends the collector: takes the last samples and closes the raw file. merge 1: also makes the trace, if this process
 * is the only one of its job; 0: others do that (MPI: all ranks together). A second call has no effect. Not to be
 * called with a lock held. */
void vt_collect_end(int merge);
/* The program gives up system calls (seccomp): from here on the library only writes memory. no_clock: clocks cannot
 * be read either, because the strict mode of seccomp also forbids reading the counter. */
void vt_collect_be_quiet(int no_clock);
/* Has the program given up system calls? Then this notes the end, and the sampler process does all else. */
int vt_collect_is_quiet(uint32_t how);
/* Like vt_collect_end(); how: enum vt_raw_ending, how the program ends. */
void vt_collect_end_how(int merge, uint32_t how);

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

#endif
