/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the processes' clocks in the trace. */
#ifndef COLLECTOR_PLUGIN_MERGE_DEFINITIONS_BOUNDS_H
#define COLLECTOR_PLUGIN_MERGE_DEFINITIONS_BOUNDS_H

#include "collector-plugin/merge/common/types.h"

/* Writes infos that state how far the corrected clock of each process may be off. */
void vt_merge_bounds(struct vt_merge *m);

#endif
