/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of calls, messages and collective operations. */
#ifndef REPORT_DATA_FUNCTIONS_H
#define REPORT_DATA_FUNCTIONS_H

#include "report/data/trace.h"

int vtr_functions_begin(struct vtr_trace *t);
void vtr_functions_add(struct vtr_trace *t, const struct stf_record *r);
/* The calls that a thread was in when the window began: they count, with their time in the window. */
void vtr_functions_before(struct vtr_trace *t, const struct stf_record *r, uint64_t from);
/* A state of this function stands for so many calls (man 3 VT, "MPI calls"). */
void vtr_functions_run(struct vtr_trace *t, uint32_t function, uint32_t willy, uint64_t calls);
void vtr_functions_end(struct vtr_trace *t);
void vtr_functions_free(struct vtr_trace *t);

#endif
