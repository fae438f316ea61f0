/* SPDX-License-Identifier: BSD-3-Clause */
/* TRACE.stf.index: what a report needs of a trace, kept beside it, so that the next report need not read the records. Curves are there
 * in levels of 640, 1280, 2560 ... columns. It belongs to the files as they were then, by name, size and time, and to this build:
 * another one reads the trace. */
#ifndef REPORT_INDEX_H
#define REPORT_INDEX_H

#include "report/trace.h"

/* How many bytes the finest level may take: all levels together stay within 3 % of the trace, and 64 KB. */
uint64_t vtr_index_room(const struct vtr_trace *t);

/* Writes it, in place of one that exists. Returns 0 or -1. */
int vtr_index_write(const struct vtr_trace *t, struct tkm_err *err);

/* Fills what vtr_trace_read() would have read of the records, with `columns` columns or more, or as many as there are; t has its
 * reader, definitions and an empty axis. Returns 1; 0: there is none; -1 with err: it cannot be used, and t is to be begun anew. */
int vtr_index_read(struct vtr_trace *t, uint32_t columns, struct tkm_err *err);

#endif
