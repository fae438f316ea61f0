/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that MPI performs and in which this process cannot look around itself: a thread does that for it. It begins with the first
 * such call that may have to wait. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#define PERIOD_NS 100000000L

static struct vt_mc_wait watched; /* k: NULL: none */
static void (*watched_needs)(struct vt_mc_wait *w);

static void look_around(void)
{
	int looks;

	vt_mc_lock();
	looks = watched.k != NULL;
	if (looks) {
		vt_mc_show_in_mpi(&watched, watched_needs);
	}
	vt_mc_unlock();
	if (looks) {
		vt_mc_judge(0);
	}
}

static void *watch_calls(void *arg)
{
	struct timespec t = { .tv_nsec = PERIOD_NS };

	vt_mc_is_watch = 1;
	vt_mc_threads_own();
	while (vt_mc_running) {
		look_around();
		nanosleep(&t, NULL);
	}
	return arg;
}

static void begin_thread(void)
{
	static int begun;
	sigset_t all, before;
	pthread_attr_t a;
	pthread_t thread;

	if (__atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED)) {
		return;
	}
	sigfillset(&all);
	vt_mc_need_locks(1);
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, &a, watch_calls, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&a);
}

void vt_mc_watch_begin(struct vt_mc_call *k, void (*needs)(struct vt_mc_wait *w), uint64_t comm)
{
	struct vt_mc_wait w;

	begin_thread();
	vt_mc_wait_begin(&w, k);
	vt_mc_wait_in_mpi(&w, needs, comm, VT_MC_EPOCH_CALL);
	k->shown = 1;
	vt_mc_lock();
	watched_needs = needs;
	watched = w;
	vt_mc_unlock();
}

void vt_mc_watch_end(const struct vt_mc_call *k)
{
	vt_mc_lock();
	watched.k = watched.k == k ? NULL : watched.k;
	vt_mc_unlock();
}
