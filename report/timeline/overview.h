/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole run in equal stretches of time: what each row did in each. */
#ifndef REPORT_TIMELINE_OVERVIEW_H
#define REPORT_TIMELINE_OVERVIEW_H

#include "report/timeline/bytes.h"
#include "report/timeline/waits.h"

/* Reads the run. The bytes are, as numbers: bins, rows; for each row with a call: row, length of what follows; runs of
 * equal bins: how many, the strongest function, share of its class, the strongest function of another class, share of
 * that class, share of all functions, share of waits. Shares are of 100 parts of the bin. Returns 0, or -1. */
int vtr_overview_read(struct vtr_bytes *to, struct vtr_names *n, const struct vtr_waits *w);

#endif
