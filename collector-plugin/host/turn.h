/* SPDX-License-Identifier: BSD-3-Clause */
/* A turn protects what several threads use, one at a time, in a program whose threads may vanish at any point. A
 * thread that waits for the turn gives up after 1 s. */
#ifndef COLLECTOR_PLUGIN_HOST_TURN_H
#define COLLECTOR_PLUGIN_HOST_TURN_H

#include <stdatomic.h>

struct vt_turn {
	_Atomic int busy;
	_Atomic int lost; /* a thread has given up waiting; none waits any more until the turn is given back */
};

static inline int vt_turn_try(struct vt_turn *t)
{
	return !atomic_exchange_explicit(&t->busy, 1, memory_order_acquire);
}

static inline void vt_turn_end(struct vt_turn *t)
{
	atomic_store_explicit(&t->lost, 0, memory_order_relaxed);
	atomic_store_explicit(&t->busy, 0, memory_order_release);
}

/* Waits for the turn. Returns 1, or 0 if it was not given back within 1 s. */
int vt_turn_take(struct vt_turn *t) __attribute__((visibility("hidden")));

#endif
