/* SPDX-License-Identifier: BSD-3-Clause */
/* The periodic samples of threads that read their own counters at state changes. The background thread reads the
 * counters of the kernel's files by sets of its own, in turn with the thread. PAPI and perf count from the opening
 * of a set. A thread that computes for seconds between two calls needs a reader of this very set: a second set would
 * begin at another time, and a CPU may have no room for it. The sets are in the program's table of descriptors, and
 * the background thread has another table. Therefore one more thread is started together with the first such set.
 * The two readers of a set exclude each other (events.c). This thread takes no signals, and the program's threads
 * are never interrupted. */
#include "config.h"
#include "collector-plugin/core/collect.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"

enum { STACK_BYTES = 1 << 20 };

static struct {
	pthread_mutex_t lock; /* protects the list, and starting the thread */
	struct vt_sampling *list;
	struct vt_sampling *aside; /* the set whose turn the background thread has */
	struct vt_collect *of;     /* the collector whose thread runs, or could not be started */
	int running;
	pthread_t thread;
	sem_t wake;
	_Atomic int stop;
	_Atomic int64_t cpu_ns;
} reader = { .lock = PTHREAD_MUTEX_INITIALIZER };

int64_t vt_reader_cpu_ns(void)
{
	return atomic_load_explicit(&reader.cpu_ns, memory_order_relaxed);
}

void vt_sampling_record(struct vt_sampling *s, struct vt_raw_stream *stream, int where, ltick_t now)
{
	size_t i, n = smp_set_size(s->set);
	unsigned k = 0;

	for (i = 0; s->valid > 0 && i < n; i++) {
		if (s->state[i] & SMP_VALID) {
			s->out_id[k] = s->id[i];
			s->out[k++] = s->value[i].u + (s->base ? s->base[i] : 0);
		}
		if (k == VT_RAW_MAX_COUNTERS || (i + 1 == n && k > 0)) {
			vt_raw_counters(stream, now, (uint16_t)where, k, s->out_id, s->out);
			k = 0;
		}
	}
}

/* Another thread than its own samples `s`, unless the thread itself has the turn. */
static void sample_other(struct vt_sampling *s, struct vt_collect *c, struct vt_raw_stream *stream, int where)
{
	ltick_t now;

	if (where < 0 || !vt_turn_try(s->turn)) {
		return;
	}
	/* the stamp is taken during our turn, so that it is after the stamp of the event before */
	now = vt_ticks_now(c);
	if (now.v > s->last && vt_collect_in_window(now)) {
		s->valid = smp_set_read(s->set, s->value, s->state);
		s->read_at = now.v;
		vt_sampling_record(s, stream, where, now);
	}
	vt_turn_end(s->turn);
}

static void sample_listed_threads(struct vt_collect *c, struct vt_raw_stream *stream)
{
	struct vt_sampling *s;

	pthread_mutex_lock(&reader.lock);
	for (s = reader.list; s; s = s->following) {
		if (s->over && !vt_threads_off(s->tid)) {
			sample_other(s, c, stream, vt_threads_where(s->tid));
		}
	}
	pthread_mutex_unlock(&reader.lock);
	atomic_store_explicit(&reader.cpu_ns, vt_now_ns(CLOCK_THREAD_CPUTIME_ID), memory_order_relaxed);
}

static void *reader_main(void *arg)
{
	struct vt_collect *c = arg;
	struct vt_raw_stream *stream = vt_raw_stream(c->raw);
	int64_t due = vt_now_ns(CLOCK_MONOTONIC), now;

	vt_collect_helper(VT_HELPER_READER, (int)syscall(SYS_gettid));
	prctl(PR_SET_NAME, "vtrun", 0, 0, 0);
	while (stream && !atomic_load_explicit(&reader.stop, memory_order_acquire)) {
		struct timespec ts;

		now = vt_now_ns(CLOCK_MONOTONIC);
		due += c->period_ns;
		due = due > now ? due : now + c->period_ns;
		ts = (struct timespec){ (time_t)(due / 1000000000), (long)(due % 1000000000) };
		sem_clockwait(&reader.wake, CLOCK_MONOTONIC, &ts);
		/* at the end, too: what was counted since the last round */
		sample_listed_threads(c, stream);
	}
	if (stream) {
		vt_raw_stream_end(stream);
	}
	return NULL;
}

static int start_reader(struct vt_collect *c)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	atomic_store(&reader.stop, 0);
	if (sem_init(&reader.wake, 0, 0) < 0) {
		return 0;
	}
	/* the sampler must not take this thread for a thread of the program */
	vt_collect_helper(VT_HELPER_READER, -1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&reader.thread, &attr, reader_main, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (rc) {
		vt_collect_helper(VT_HELPER_READER, 0);
		vt_say(1, "WARNING",
			"no thread for it, so that counters of PAPI and perf are read at VT_ and MPI calls only: %s",
			strerror(rc));
	}
	return rc == 0;
}

/* The caller holds the lock. */
static void begin_reader(struct vt_collect *c)
{
	if (reader.of != c) {
		reader.of = c;
		reader.running = start_reader(c);
	}
}

void vt_reader_begin(struct vt_collect *c)
{
	pthread_mutex_lock(&reader.lock);
	begin_reader(c);
	pthread_mutex_unlock(&reader.lock);
}

void vt_reader_add(struct vt_collect *c, struct vt_sampling *s)
{
	pthread_mutex_lock(&reader.lock);
	if (s->over) {
		begin_reader(c);
	}
	s->following = reader.list;
	reader.list = s;
	s->listed = 1;
	pthread_mutex_unlock(&reader.lock);
}

int vt_reader_aside(struct vt_collect *c, pid_t tid, ltick_t *now)
{
	struct vt_sampling *s;

	/* a thread that is not in the list is not added meanwhile */
	pthread_mutex_lock(&reader.lock);
	for (s = reader.list; s && s->tid != tid; s = s->following) {
	}
	if (s && !vt_turn_try(s->turn)) {
		pthread_mutex_unlock(&reader.lock);
		return 0;
	}
	reader.aside = s;
	*now = vt_ticks_now(c);
	return 1;
}

void vt_reader_aside_end(ltick_t now)
{
	struct vt_sampling *s = reader.aside;

	if (s) {
		atomic_store(s->aside, now.v);
		vt_turn_end(s->turn);
	}
	reader.aside = NULL;
	pthread_mutex_unlock(&reader.lock);
}

void vt_reader_remove(struct vt_sampling *s)
{
	struct vt_sampling **link;

	pthread_mutex_lock(&reader.lock);
	for (link = &reader.list; *link && *link != s; link = &(*link)->following) {
	}
	if (*link) {
		*link = s->following;
	}
	s->listed = 0;
	pthread_mutex_unlock(&reader.lock);
}

/* May run in a signal handler, so it does not take the lock. A reader that starts at this moment belongs to a thread
 * that calls us for the first time while the program ends. It then finds a raw file that takes no more records. */
void vt_reader_stop(void)
{
	struct timespec ts;

	if (!reader.running) {
		return;
	}
	reader.running = 0;
	atomic_store_explicit(&reader.stop, 1, memory_order_release);
	sem_post(&reader.wake);
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += 10;
	pthread_timedjoin_np(reader.thread, NULL, &ts);
	vt_collect_helper(VT_HELPER_READER, 0);
}

void vt_reader_forget(void)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	if (!reader.of && vt_mutex_is_free(&reader.lock)) {
		return; /* it was never started */
	}
	memcpy(&reader.lock, &fresh, sizeof(fresh));
	reader.of = NULL;
	reader.list = reader.aside = NULL;
	reader.running = 0;
}
