/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a merge: as many as are allowed and have work, on the CPUs that are allowed. */
#include "config.h"
#include "collector-plugin/merge/common/private.h"
#include "base/cpus.h"
#include "collector-plugin/host/locale.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

struct each {
	_Atomic size_t next;
	size_t n;
	void (*fn)(void *ctx, size_t i);
	void *ctx;
};

static void *take_turns(void *arg)
{
	struct each *e = arg;
	locale_t was = vt_locale_c();
	size_t i;

	while ((i = atomic_fetch_add(&e->next, 1)) < e->n) {
		e->fn(e->ctx, i);
	}
	vt_locale_back(was);
	return NULL;
}

size_t vt_merge_threads(const struct vt_merge *m, size_t n)
{
	size_t most = m->o->threads > 0 ? (size_t)m->o->threads : MOST_THREADS, cpus = 1;
	struct tkm_cpus own = { .set = NULL };

	if (m->o->cpus) {
		cpus = tkm_cpus_count(m->o->cpus);
	} else if (tkm_cpus_own(&own) == 0) {
		cpus = tkm_cpus_count(&own);
		tkm_cpus_free(&own);
	}
	most = most < cpus ? most : cpus;
	most = most < MOST_THREADS ? most : MOST_THREADS;
	return most < n ? most : n;
}

/* Lets the threads use the CPUs of all ranks of the host: the caller itself may be bound to fewer. */
static void spread_threads(const struct vt_merge *m, pthread_attr_t *attr)
{
	if (m->o->cpus) {
		pthread_attr_setaffinity_np(attr, m->o->cpus->bytes, m->o->cpus->set);
	}
}

void vt_merge_each(const struct vt_merge *m, size_t n, void (*fn)(void *ctx, size_t i), void *ctx)
{
	struct each e = { .n = n, .fn = fn, .ctx = ctx };
	size_t more = vt_merge_threads(m, n), started = 0;
	pthread_t thread[MOST_THREADS];
	sigset_t all, before;
	pthread_attr_t attr;

	if (more > 1 && pthread_attr_init(&attr) == 0) {
		spread_threads(m, &attr);
		/* block all signals: the program's signal handlers must run in the program's threads */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		while (started < more - 1 && pthread_create(&thread[started], &attr, take_turns, &e) == 0) {
			started++;
		}
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_attr_destroy(&attr);
	}
	take_turns(&e);
	while (started > 0) {
		pthread_join(thread[--started], NULL);
	}
}
