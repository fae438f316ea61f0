/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the processes' clocks in the trace. */
#ifndef COLLECTOR_PLUGIN_MERGE_DEFINITIONS_BOUNDS_H
#define COLLECTOR_PLUGIN_MERGE_DEFINITIONS_BOUNDS_H

#include "calib/map/stretch.h"
#include "collector-plugin/merge/common/types.h"

/* Writes infos that state how far the corrected clock of each process may be off. */
void vt_merge_bounds(struct vt_merge *m);

/* The bounds of one process's clock: bound_s[i] from the time at[i] of the trace on, up to the next. */
struct vt_merge_bound {
	size_t n;
	int64_t at[CAL_STRETCHES];
	double bound_s[CAL_STRETCHES]; /* NaN: unknown */
};
/* Do all processes read one clock, whose stamps can be compared without an error? */
int vt_merge_one_clock(const struct vt_merge *m);
struct vt_merge_bound vt_merge_bound_of(const struct vt_merge *m, const struct vt_merge_file *f, int one_clock);

#endif
