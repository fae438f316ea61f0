/* SPDX-License-Identifier: BSD-3-Clause */
/* PROCESS and CLUSTER (Intel Trace Collector guide, sections 2.5.3 and 3.2.3): is this process recorded? */
#ifndef COLLECTOR_PLUGIN_RUN_CHOOSE_H
#define COLLECTOR_PLUGIN_RUN_CHOOSE_H

#include "collector-plugin/core/collector.h"
#include "collector-plugin/settings/settings.h"

/* Reports why a rule is ignored, once for the job, because the other ranks usually have the same
 * text. */
void vt_choose_wrong(const struct vt_setting_other *o, const char *why);
/* Returns the state for vt_process_state() that the rules of PROCESS and CLUSTER give the process with this rank and
 * this host number. last_rank and last_host are the highest numbers. */
int vt_choose_process(long long rank, long long last_rank, long long host, long long last_host);
/* Sets the state that PROCESS and CLUSTER give to a program without MPI, or before MPI_Init. Its rank is that of the launcher, or 0. Its host number is
 * 0 if the launcher started one process, else CLUSTER is left to MPI_Init. To be called after the raw file was made
 * and before the first thread. Nothing is discarded for good while MPI_Init may still come. */
void vt_choose_alone(const struct vt_collector *c);
/* At the end of a program: if MPI_Init was never called, discards what PROCESS or CLUSTER excludes, and reports
 * words without effect. */
void vt_choose_at_end(const struct vt_collector *c);

#endif
