/* SPDX-License-Identifier: BSD-3-Clause */
/* How long processes were ready to run and had no processor: the counters main_wait, and thread_wait of their first threads. */
#ifndef STF_ANALYSIS_PROCESSOR_H
#define STF_ANALYSIS_PROCESSOR_H

#include "include/stf.h"

/* By how much that was longer for one process than for the others on average, between two stamps, in seconds. NaN: it was not
 * recorded of all n processes. Returns 0 or -1: no memory. */
int stf_lacked_processor(
	struct stf_reader *r, uint32_t process, uint32_t n, uint64_t from, uint64_t to, double *seconds);

#endif
