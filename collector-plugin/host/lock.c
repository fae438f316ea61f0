/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks that are safe inside a foreign program: see lock.h. */
#include "config.h"
#include "collector-plugin/host/lock.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic int without_calls;

void vt_lock_without_calls(void)
{
	atomic_store_explicit(&without_calls, 1, memory_order_relaxed);
}

int vt_lock_is_without_calls(void)
{
	return atomic_load_explicit(&without_calls, memory_order_relaxed);
}

/* Blocks signals and cancellation. Signals that report a fault in our own code are not blocked. */
static void protect(sigset_t *before, int *cancel)
{
	sigset_t all;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
	if (!atomic_load_explicit(&without_calls, memory_order_relaxed)) {
		sigfillset(&all);
		sigdelset(&all, SIGSEGV);
		sigdelset(&all, SIGBUS);
		sigdelset(&all, SIGFPE);
		sigdelset(&all, SIGILL);
		sigdelset(&all, SIGTRAP);
		sigdelset(&all, SIGABRT);
		pthread_sigmask(SIG_BLOCK, &all, before);
	}
}

static void restore(const sigset_t *before, int cancel)
{
	if (!atomic_load_explicit(&without_calls, memory_order_relaxed)) {
		pthread_sigmask(SIG_SETMASK, before, NULL);
	}
	pthread_setcancelstate(cancel, NULL);
}

void vt_signals_block(struct vt_lock *held)
{
	protect(&held->before, &held->cancel);
}

void vt_signals_back(const struct vt_lock *held)
{
	restore(&held->before, held->cancel);
}

static const int of_writes[] = { SIGXFSZ, SIGPIPE };

/* depth: bits, those that are not ours to take */
void vt_writes_begin(struct vt_lock *held)
{
	sigset_t set;

	if (!vt_lock_is_without_calls()) {
		sigemptyset(&set);
		sigpending(&set);
		held->depth = sigismember(&set, of_writes[0]) | sigismember(&set, of_writes[1]) << 1;
		sigemptyset(&set);
		sigaddset(&set, of_writes[0]);
		sigaddset(&set, of_writes[1]);
		pthread_sigmask(SIG_BLOCK, &set, &held->before);
	}
}

void vt_writes_end(const struct vt_lock *held)
{
	const struct timespec now = { 0, 0 };
	sigset_t sent;
	int i;

	if (vt_lock_is_without_calls()) {
		return;
	}
	for (i = 0; i < 2; i++) {
		sigemptyset(&sent);
		sigaddset(&sent, of_writes[i]);
		while (!(held->depth >> i & 1) && sigtimedwait(&sent, NULL, &now) < 0 && errno == EINTR) {
		}
	}
	pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

void vt_lock(struct vt_lock *l)
{
	sigset_t before;
	int cancel;

	protect(&before, &cancel);
	pthread_mutex_lock(&l->mutex);
	if (l->depth++ == 0) {
		l->before = before;
		l->cancel = cancel;
	}
}

void vt_unlock(struct vt_lock *l)
{
	sigset_t before = l->before;
	int cancel = l->cancel, last = --l->depth == 0;

	pthread_mutex_unlock(&l->mutex);
	if (last) {
		restore(&before, cancel);
	}
}

void vt_lock_pause(struct vt_lock *l, struct vt_lock *held)
{
	held->before = l->before;
	held->cancel = l->cancel;
	held->depth = l->depth;
	l->depth = 0;
	pthread_mutex_unlock(&l->mutex);
}

static void unblock_signals(struct vt_lock *l, const struct vt_lock *held)
{
	l->before = held->before;
	l->cancel = held->cancel;
	l->depth = held->depth;
}

void vt_lock_resume(struct vt_lock *l, const struct vt_lock *held)
{
	pthread_mutex_lock(&l->mutex);
	unblock_signals(l, held);
}

int vt_lock_wait(struct vt_lock *l, pthread_cond_t *changed, const struct timespec *until)
{
	struct vt_lock held;
	int rc;

	held.before = l->before;
	held.cancel = l->cancel;
	held.depth = l->depth;
	l->depth = 0;
	rc = pthread_cond_timedwait(changed, &l->mutex, until);
	unblock_signals(l, &held);
	return rc;
}

/* until NULL: does not wait. */
static int take_until(struct vt_lock *l, const struct timespec *until)
{
	sigset_t before;
	int cancel, rc;

	protect(&before, &cancel);
	rc = until ? pthread_mutex_timedlock(&l->mutex, until) : pthread_mutex_trylock(&l->mutex);
	if (rc == 0) {
		l->before = before;
		l->cancel = cancel;
		l->depth = 1;
	} else {
		restore(&before, cancel);
	}
	return rc;
}

int vt_lock_until(struct vt_lock *l, const struct timespec *until)
{
	return take_until(l, until);
}

int vt_lock_try(struct vt_lock *l)
{
	return take_until(l, NULL);
}

int vt_mutex_is_free(const pthread_mutex_t *mutex)
{
	const pthread_mutex_t free_one = PTHREAD_MUTEX_INITIALIZER;
	const unsigned char *a = (const unsigned char *)mutex, *b = (const unsigned char *)&free_one;
	unsigned differs = 0;
	size_t i;

	for (i = 0; i < sizeof(free_one); i++) {
		differs |= (unsigned)(a[i] ^ b[i]);
	}
	return !differs;
}

void vt_lock_forget(struct vt_lock *l)
{
	/* most locks are free; if such a lock is not written to, its page is not copied */
	if (l->depth || !vt_mutex_is_free(&l->mutex)) {
		*l = (struct vt_lock)VT_LOCK_INIT;
	}
}
