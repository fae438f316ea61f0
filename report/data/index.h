/* SPDX-License-Identifier: BSD-3-Clause */
/* TRACE.stf.index: what a report needs of a trace, stored beside it, so that the next report need not read the
 * records. It has curves in levels of 640, 1280, 2560 ... columns. An index is valid for the files as they were when
 * it was written (name, size and time) and for this build; otherwise the trace is read. */
#ifndef REPORT_DATA_INDEX_H
#define REPORT_DATA_INDEX_H

#include "report/data/trace.h"

/* How many bytes the finest level may take, so that all levels together stay within 3 % of the trace plus 64 KB. */
uint64_t vtr_index_room(const struct vtr_trace *t);

/* Writes the index, and replaces an existing one. Returns 0 or -1. */
int vtr_index_write(const struct vtr_trace *t, struct tkm_err *err);

/* Fills in what vtr_trace_read() would have read from the records, with at least `columns` columns, or as many as
 * there are. t has its reader, definitions and an empty axis. Returns 1; 0: there is no index; -1 with err: it cannot
 * be used, and the caller must begin again with t. */
int vtr_index_read(struct vtr_trace *t, uint32_t columns, struct tkm_err *err);

#endif
