/* SPDX-License-Identifier: BSD-3-Clause */
/* How long processes were ready to run and had no processor: the counters main_wait, and thread_wait of their first threads. */
#ifndef STF_ANALYSIS_PROCESSOR_H
#define STF_ANALYSIS_PROCESSOR_H

#include "include/stf.h"

/* How long that was for each of n processes between two stamps, in seconds; NaN: it was not recorded. Returns 0 or -1: no memory. */
int stf_without_processor(struct stf_reader *r, uint32_t n, uint64_t from, uint64_t to, double *seconds);

#endif
