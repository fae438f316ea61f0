/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for libcuda.so.1: a thread answers like the kernel of timers/sources/tmr_cuda_globaltimer.c, by a clock of which all is known.
 * Each number is also a variable of the environment, CUDA_STUB_NAME, for programs. */
#ifndef TESTS_UNIT_CUDA_STUB_H
#define TESTS_UNIT_CUDA_STUB_H

#include <stdint.h>

#define CUDA_WORLD(X) \
	X(offset_ns)  /* at origin_ns ahead of CLOCK_MONOTONIC_RAW */ \
	X(ppb)        /* faster by */ \
	X(step_ns)    /* of what it shows; 0: 1 */ \
	X(delay_ns)   /* an answer is delayed by up to so much before the clock is read, and after it; drawn */ \
	X(late_every) /* every so many answers one is late, 0: none, */ \
	X(late_ns)    /* by so much, before or after the clock is read */ \
	X(back_at_ns) /* the clock is set back when CLOCK_MONOTONIC_RAW shows this, 0: never, */ \
	X(back_ns)    /* by so much */ \
	X(mute_after) /* after so many answers there are none; 0: never, below 0: from the first */ \
	X(lost_after) /* after so many answers the context is lost; 0: never */ \
	X(idle)       /* the kernel ends after so many looks in vain; 0: a hundred million */ \
	X(init_rc)    /* what cuInit() returns */ \
	X(context_rc) /* what cuCtxCreate() returns */ \
	X(launch_rc)  /* what cuLaunchKernel() returns */ \
	X(gpus)       /* 0: two */

struct cuda_world {
#define X(name) int64_t name;
	CUDA_WORLD(X)
#undef X
	int64_t origin_ns;
	/* what happened */
	_Atomic int64_t answers, launches, destroyed;
};

/* What the clock shows when CLOCK_MONOTONIC_RAW shows raw_ns. */
static inline int64_t cuda_truth(const struct cuda_world *w, int64_t raw_ns)
{
	int64_t t = raw_ns + w->offset_ns + (int64_t)((__int128)(raw_ns - w->origin_ns) * w->ppb / 1000000000),
		step = w->step_ns > 0 ? w->step_ns : 1;

	t -= w->back_at_ns && raw_ns >= w->back_at_ns ? w->back_ns : 0;
	return t - ((t % step) + step) % step;
}

#endif
