/* SPDX-License-Identifier: BSD-3-Clause */
/* PROCESS and CLUSTER (Intel Trace Collector guide, sections 2.5.3 and 3.2.3): is this process recorded? */
#ifndef COLLECTOR_PLUGIN_RUN_CHOOSE_H
#define COLLECTOR_PLUGIN_RUN_CHOOSE_H

#include "collector-plugin/core/collector.h"
#include "collector-plugin/settings/settings.h"

/* Says why a mention of an option is left out, once for the job; the other ranks have the same text, as a rule. */
void vt_choose_wrong(const struct vt_setting_other *o, const char *why);
/* What the rules of PROCESS and CLUSTER say about the process with this rank and this number of its host, the last ones being last_rank
 * and last_host. Returns the state for vt_process_state(). */
int vt_choose_process(long long rank, long long last_rank, long long host, long long last_host);
/* The same for a program without MPI, and for one that has not called MPI_Init yet: its rank is that of the launcher, or 0; its host's
 * number is 0 if the launcher started one process, else CLUSTER is left to MPI_Init. After the raw file was made, before the first
 * thread. What is recorded is not yet discarded for good if MPI_Init may still come. */
void vt_choose_alone(const struct vt_collector *c);
/* At the end of a program: if MPI_Init never came, discards what PROCESS or CLUSTER says, and names words without effect. */
void vt_choose_at_end(const struct vt_collector *c);

#endif
