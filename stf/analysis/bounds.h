/* SPDX-License-Identifier: BSD-3-Clause */
/* By how much the stamps of each process may be wrong: the infos of the class clock-bound. */
#ifndef STF_ANALYSIS_BOUNDS_H
#define STF_ANALYSIS_BOUNDS_H

#include "include/stf.h"

struct stf_bound_list {
	struct stf_bound *bound;
	size_t n, at; /* at: the stretch that was found last */
};

struct stf_bounds {
	struct stf_bound_list *process;
	uint32_t n;
};

/* -1: no memory. The caller calls stf_bounds_free() all the same. */
int stf_bounds_read(struct stf_bounds *b, const struct stf_reader *r);
void stf_bounds_free(struct stf_bounds *b);
/* Seconds; NaN: the trace does not state it. Fastest if the times of each process come in order. */
double stf_bounds_at(struct stf_bounds *b, uint32_t process, uint64_t time);

#endif
