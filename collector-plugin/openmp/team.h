/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions and their threads, whichever run-time library tells about them. */
#ifndef COLLECTOR_PLUGIN_OPENMP_TEAM_H
#define COLLECTOR_PLUGIN_OPENMP_TEAM_H

#include "collector-plugin/core/thread.h"
#include "collector-plugin/openmp/openmp.h"

/* The functions of record.c. */
extern const struct vt_omp_own *vt_omp VT_HIDDEN;

/* A team: source location << 32 | number of its first thread << 16 | number of the thread that joined last, or
 * VT_OMP_NOBODY. 0: its begin was not recorded. */
typedef _Atomic uint64_t vt_omp_team;
enum { VT_OMP_NOBODY = 0xffff };

/* The calling thread begins a parallel region, and ends it. */
VT_HIDDEN void vt_omp_team_begin(vt_omp_team *team, const void *return_address);
VT_HIDDEN void vt_omp_team_end(vt_omp_team *team);
/* The calling thread, not the first one, becomes member `index` of the team. */
VT_HIDDEN void vt_omp_team_enter(vt_omp_team *team, unsigned index);
/* Is the calling thread the one that began the region? */
VT_HIDDEN int vt_omp_team_is_first(vt_omp_team *team);
/* The calling thread has done its part of the region, and waits for the others. */
VT_HIDDEN void vt_omp_team_wait(vt_omp_team *team, int first);

static inline uint32_t vt_omp_team_location(uint64_t team)
{
	return (uint32_t)(team >> 32);
}

/* Enters a construct. */
static inline void vt_omp_enter(enum vt_omp_function f, const void *return_address)
{
	vt_omp->enter(f, vt_omp->locate(return_address));
}

static inline void vt_omp_leave(enum vt_omp_function f)
{
	vt_omp->leave(f, 1, NULL);
}

/* What ompt_start_tool() returns (ompt.c), and the redirected functions (gomp.c). */
VT_HIDDEN void *vt_omp_ompt(void);
VT_HIDDEN const struct vt_omp_call *vt_omp_gomp(size_t *n, void ***next);

#endif
