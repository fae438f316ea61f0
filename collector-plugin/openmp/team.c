/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that has done its part of a parallel region waits inside the run-time library, and there it stays until it
 * gets other work. Neither libgomp nor (while the thread sleeps) LLVM's library calls us at the end of the region. So
 * the first thread of the team notes the time for the others when it leaves the region, and each of them records its
 * leave with that time when it comes back (record.c). */
#include "config.h"
#include "collector-plugin/openmp/team.h"

#include <stdio.h>

const struct vt_omp_own *vt_omp;

/* By number of a thread. */
static uint16_t joined_before[VT_MAX_THREADS]; /* the member of the same team that joined before it */
static uint16_t index_of[VT_MAX_THREADS];      /* in its first team, and the first thread of that; 0: not of a team */
static uint16_t first_of[VT_MAX_THREADS];

static unsigned first_of_team(uint64_t team)
{
	return (unsigned)(team >> 16) & 0xffff;
}

void vt_omp_team_begin(vt_omp_team *team, const void *return_address)
{
	int n = vt_omp->self(-1);
	uint32_t scl;

	if (n < 0) {
		atomic_init(team, 0);
		return;
	}
	scl = vt_omp->locate(return_address);
	atomic_init(team, (uint64_t)scl << 32 | (uint64_t)n << 16 | VT_OMP_NOBODY);
	vt_omp->enter(VT_OMP_PARALLEL, scl);
}

int vt_omp_team_is_first(vt_omp_team *team)
{
	uint64_t t = atomic_load(team);

	return t && vt_omp->self(-1) == (int)first_of_team(t);
}

/* "2": the third thread of a team; "1.2": of a team that thread "1" has begun. Returns the length. */
static size_t write_place_in_team(unsigned n, char *to, size_t size, unsigned depth)
{
	unsigned first = first_of[n];
	size_t at = index_of[first] && depth < 8 ? write_place_in_team(first, to, size, depth + 1) : 0;

	return at + (size_t)snprintf(to + at, size - at, "%s%u", at ? "." : "", (unsigned)index_of[n]);
}

void vt_omp_team_enter(vt_omp_team *team, unsigned index)
{
	uint64_t t = atomic_load(team), with;
	char name[80] = "OMP ";
	int n;

	if (!t) {
		return;
	}
	/* the number in the trace is the number in the team, where that is free */
	n = vt_omp->self(index_of[first_of_team(t)] ? -1 : (int)index);
	if (n < 0) {
		return;
	}
	vt_omp->settle();
	if (!index_of[n]) {
		index_of[n] = (uint16_t)index;
		first_of[n] = (uint16_t)first_of_team(t);
		write_place_in_team((unsigned)n, name + 4, sizeof(name) - 4, 0);
		vt_omp->name(name);
	}
	vt_omp->enter(VT_OMP_PARALLEL, vt_omp_team_location(t));
	do {
		joined_before[n] = (uint16_t)t;
		with = (t & ~(uint64_t)0xffff) | (uint64_t)n;
	} while (!atomic_compare_exchange_weak(team, &t, with));
}

void vt_omp_team_wait(vt_omp_team *team, int first)
{
	uint64_t t = atomic_load(team);
	uint32_t scl = vt_omp_team_location(t);

	if (t && first) {
		vt_omp->leave(VT_OMP_PARALLEL, 0, NULL);
		vt_omp->enter(VT_OMP_IMPLICIT_BARRIER, scl);
	} else if (t) {
		vt_omp->join(scl);
	}
}

void vt_omp_team_end(vt_omp_team *team)
{
	uint64_t t = atomic_load(team);
	unsigned n = (unsigned)t & 0xffff;
	ltick_t now;

	if (!t || !vt_omp_team_is_first(team)) {
		return;
	}
	now = vt_omp->now();
	for (; n != VT_OMP_NOBODY; n = joined_before[n]) {
		int64_t waits = VT_OMP_WAITS;

		atomic_compare_exchange_strong(&vt_omp->ended[n], &waits, now.v);
	}
	vt_omp->leave(VT_OMP_PARALLEL, 1, &now);
}
