/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the library inside a foreign program. While one is held, its thread runs no signal handler, which could call us and wait for
 * itself, and is not cancelled, which would leave the lock held for ever. Not on fast paths: two system calls each. Locks are released in
 * the opposite order in which they were taken. */
#ifndef COLLECTOR_PLUGIN_HOST_LOCK_H
#define COLLECTOR_PLUGIN_HOST_LOCK_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "collector-plugin/host/memory.h"

struct vt_lock {
	pthread_mutex_t mutex;
	sigset_t before; /* signals that the holder had blocked, */
	int cancel;      /* and whether it could be cancelled */
	int depth;
};

#define VT_LOCK_INIT \
	{ \
		.mutex = PTHREAD_MUTEX_INITIALIZER \
	}
#define VT_LOCK_RECURSIVE \
	{ \
		.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP \
	}

void vt_lock(struct vt_lock *l);
void vt_unlock(struct vt_lock *l);
/* 0: free; else a thread has it. */
int vt_lock_try(struct vt_lock *l);
/* Others may have it for a while; the caller stays protected. `held` keeps what is restored in the end. */
void vt_lock_pause(struct vt_lock *l, struct vt_lock *held);
void vt_lock_resume(struct vt_lock *l, const struct vt_lock *held);
/* Like pthread_cond_timedwait(). */
int vt_lock_wait(struct vt_lock *l, pthread_cond_t *changed, const struct timespec *until);
/* In the child of a fork, where its holder does not exist. */
VT_IN_CHILD void vt_lock_forget(struct vt_lock *l);
/* There: is it as PTHREAD_MUTEX_INITIALIZER makes it? Calls nothing of libc, whose pages of code would have to be looked up. */
VT_IN_CHILD int vt_mutex_is_free(const pthread_mutex_t *mutex);
/* From now on the program may make no system calls (seccomp): signals are not blocked any more. */
void vt_lock_without_calls(void);
int vt_lock_is_without_calls(void);

#endif
