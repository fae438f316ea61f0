/* SPDX-License-Identifier: BSD-3-Clause */
/* All calls, messages, collective operations and waits of a stretch of time, as bytes for the script. */
#ifndef REPORT_TIMELINE_DETAIL_H
#define REPORT_TIMELINE_DETAIL_H

#include "include/analysis.h"
#include "report/timeline/bytes.h"
#include "report/timeline/names.h"

/* Reads the stretch. The bytes are, as numbers (s: signed, others are not; times in units of the page):
 *	from, to
 *	rows; for each: row, length of its events; an event is 4 x the time since the one before, plus
 *		0: a call ends; 1: one begins, and its function follows; 2: as 1, then its place in the source;
 *		3: one is open since before `from`, and its function follows
 *	messages; for each: s time of the sending since that of the message before, row from, row to,
 *		s time that it takes, bytes, tag, communicator, 0 or 1: its receiving, 2: its sending is unknown
 *	operations; for each: s time of its first begin since that of the operation before, operation, communicator,
 *		time from the first to the last begin, time from the first begin to the last end,
 *		1 + row of the root, 1 + row of the last to begin, bytes
 *	waits; for each: s begin since that of the wait before, row, length, kind, 1 + row of the cause, its function,
 *		1: longer than its bound
 * Returns 1; 0: it would take more than `limit` bytes; -1: it cannot be read, or there is no memory. */
int vtr_detail_read(struct vtr_bytes *to, struct vtr_names *n, uint64_t from, uint64_t until, size_t limit);

#endif
