/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of libVTmc know: this rank, the segment, and the transfers under way in the order of their starts. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <pthread.h>
#include <time.h>

struct vt_mc_shared *vt_mc_shared;
int vt_mc_rank = -1, vt_mc_errors, vt_mc_running, vt_mc_several_threads;
__thread int vt_mc_holds_lock, vt_mc_is_watch;
void (*vt_mc_type_again)(const struct vt_mc_object *type);

/* A program in which one thread at a time may call MPI needs no lock. If it takes another one nonetheless, the lock begins while the first
 * is between the two functions: then vt_mc_unlock() fails. */
static pthread_mutex_t tables = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int locks = 1;
struct vt_mc_pending vt_mc_active = { .next = &vt_mc_active, .before = &vt_mc_active };
static size_t n_active;

void vt_mc_lock(void)
{
	if (__atomic_load_n(&locks, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&tables);
	}
}

void vt_mc_unlock(void)
{
	if (__atomic_load_n(&locks, __ATOMIC_RELAXED)) {
		pthread_mutex_unlock(&tables);
	}
}

void vt_mc_need_locks(int need)
{
	__atomic_store_n(&locks, need, __ATOMIC_RELAXED);
}

int64_t vt_mc_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* ---- transfers under way ---- */

void vt_mc_active_add(struct vt_mc_pending *p)
{
	p->before = vt_mc_active.before;
	p->next = &vt_mc_active;
	p->before->next = vt_mc_active.before = p;
	n_active++;
}

void vt_mc_active_take(struct vt_mc_pending *p)
{
	if (p->next) {
		p->before->next = p->next;
		p->next->before = p->before;
		p->next = p->before = NULL;
		n_active--;
	}
}

int vt_mc_pending_many(void)
{
	enum { ORDERED = 256 };

	return n_active > ORDERED;
}
