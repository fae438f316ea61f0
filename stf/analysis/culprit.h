/* SPDX-License-Identifier: BSD-3-Clause */
/* The one thread that the others wait for, if there is one. */
#ifndef STF_ANALYSIS_CULPRIT_H
#define STF_ANALYSIS_CULPRIT_H

#include "stf/analysis/threads.h"

/* Sets a->culprit; the other members of a are there. Reads counters of r. -1: no memory. */
int stf_find_culprit(struct stf_analysis *a, const struct stf_threads *t, struct stf_reader *r);

#endif
