/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiencies of the POP project: which share of the run time is computation, and why the rest is not. */
#ifndef STF_ANALYSIS_EFFICIENCY_H
#define STF_ANALYSIS_EFFICIENCY_H

#include "stf/analysis/threads.h"

/* Sets the shares, `ideal`, `changed`, `bounds`, `begin` and `finish` of a; its threads are there. */
void stf_find_efficiencies(struct stf_analysis *a, struct stf_threads *t);
/* Does this thread count for its process? */
int stf_is_main_thread(const struct stf_threads *t, uint32_t willy);

#endif
