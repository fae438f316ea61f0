/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the library inside a foreign program. While a thread holds one, it runs no signal handler, which could
 * call us and wait for itself. The thread cannot be cancelled either, which would leave the lock held for ever. Do
 * not use these locks on fast paths: each costs two system calls. Release them in the reverse order. */
#ifndef COLLECTOR_PLUGIN_HOST_LOCK_H
#define COLLECTOR_PLUGIN_HOST_LOCK_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "collector-plugin/host/memory.h"

struct vt_lock {
	pthread_mutex_t mutex;
	sigset_t before; /* signals that were blocked before the lock was taken, */
	int cancel;      /* and whether the holder could be cancelled then */
	int depth;
};

/* clang-format off */
#define VT_LOCK_INIT { .mutex = PTHREAD_MUTEX_INITIALIZER }
#define VT_LOCK_RECURSIVE { .mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP }
/* clang-format on */

void vt_lock(struct vt_lock *l);
void vt_unlock(struct vt_lock *l);
/* Tries to take the lock. Returns 0, or another value if it is held already. */
int vt_lock_try(struct vt_lock *l);
/* Waits for the lock until this time of CLOCK_REALTIME. Returns 0, or another value. */
int vt_lock_until(struct vt_lock *l, const struct timespec *until);
/* Without a lock: no signal handler runs in this thread and it cannot be cancelled until vt_signals_back(held). */
void vt_signals_block(struct vt_lock *held);
void vt_signals_back(const struct vt_lock *held);
/* Around writes of our own into files and pipes: SIGXFSZ and SIGPIPE, which they send, do not reach the program. */
void vt_writes_begin(struct vt_lock *held);
void vt_writes_end(const struct vt_lock *held);
/* Lets other threads take the lock for a while; the caller's signals stay blocked. `held` keeps the state for
 * vt_lock_resume(). */
void vt_lock_pause(struct vt_lock *l, struct vt_lock *held);
void vt_lock_resume(struct vt_lock *l, const struct vt_lock *held);
/* Like pthread_cond_timedwait(). */
int vt_lock_wait(struct vt_lock *l, pthread_cond_t *changed, const struct timespec *until);
/* To be called in the child of a fork, where the holder of the lock does not exist. */
VT_IN_CHILD void vt_lock_forget(struct vt_lock *l);
/* In the child of a fork: is the mutex as PTHREAD_MUTEX_INITIALIZER makes it? Calls no function of libc, whose pages
 * of code would have to be looked up. */
VT_IN_CHILD int vt_mutex_is_free(const pthread_mutex_t *mutex);
/* From now on the program must not make system calls (seccomp), so locks no longer block signals. */
void vt_lock_without_calls(void);
int vt_lock_is_without_calls(void);

#endif
