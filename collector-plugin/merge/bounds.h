/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_MERGE_BOUNDS_H
#define COLLECTOR_PLUGIN_MERGE_BOUNDS_H

#include "collector-plugin/merge/types.h"

/* Says in the trace how far the corrected clock of each process may be off, as infos. */
void vt_merge_bounds(struct vt_merge *m);

#endif
