/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for a turn: see turn.h. */
#include "config.h"
#include "collector-plugin/host/turn.h"

#include <sched.h>

#include "collector-plugin/host/time.h"

enum { PATIENCE_NS = 1000000000 };

int vt_turn_take(struct vt_turn *t)
{
	struct timespec nap = { 0, 20000 };
	int64_t begin, waited;

	if (vt_turn_try(t)) {
		return 1;
	}
	begin = vt_now_ns(CLOCK_MONOTONIC);
	while (!vt_turn_try(t)) {
		if (atomic_load_explicit(&t->lost, memory_order_relaxed)) {
			return 0;
		}
		waited = vt_now_ns(CLOCK_MONOTONIC) - begin;
		if (waited > PATIENCE_NS) {
			/* the thread may never give it back, for example if a signal handler jumped out of a call */
			atomic_store_explicit(&t->lost, 1, memory_order_relaxed);
			return 0;
		}
		/* a reading takes microseconds, but the thread that reads may have lost its CPU, perhaps to this
		 * thread */
		if (waited < 50000) {
			sched_yield();
		} else {
			clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
		}
	}
	return 1;
}
