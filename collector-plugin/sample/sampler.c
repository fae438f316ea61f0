/* SPDX-License-Identifier: BSD-3-Clause */
/* The background thread. It reads the counters of the process and its threads every SAMPLE-PERIOD. If it is elected
 * on this node, it reads those of the node every OS-COUNTER-DELAY. It looks for threads that have started or ended,
 * does the housekeeping of the raw file, and records what sampling costs.
 *
 * It has a table of descriptors of its own, so that the program neither sees nor closes its files, and children do
 * not inherit them. It takes no signal. The program's threads are never stopped or interrupted. */
#include "config.h"
#include "collector-plugin/sample/target.h"
#include "collector-plugin/host/locale.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/descriptors.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/run_value.h"

enum { STACK_BYTES = 1 << 20, READY_S = 5 };

/* ---- threads come and go ---- */

/* Is it a thread of the collector? tid -1: is there one whose tid is not known yet? */
static int is_helper(const struct vt_sampler *s, pid_t tid)
{
	int i;

	for (i = 0; i < VT_HELPERS && atomic_load(&s->c->helper[i]) != tid; i++) {
	}
	return i < VT_HELPERS;
}

/* A thread of the collector that has begun since we looked is announced before its start. */
static int number_thread(struct vt_sampler *s, pid_t tid, struct vt_book **book)
{
	int number;

	if (tid == s->tid || is_helper(s, tid)) {
		return -1;
	}
	if (is_helper(s, -1)) {
		s->task_links = 0;
		return -1;
	}
	number = is_helper(s, tid) ? -1 : vt_threads_number(tid);
	/* a thread that has taken its counters over reads them itself */
	*book = number >= 0 && vt_threads_counts(tid) ? &s->no_book : &s->book;
	return number;
}

static int begin_list(struct vt_sampler *s)
{
	return !is_helper(s, -1);
}

static void end_thread(struct vt_sampler *s, struct vt_target *t)
{
	/* a thread that called us has sampled itself at its end */
	t->where = vt_threads_where(t->tid);
	if (t->set && t->where >= 0) {
		vt_target_sample(s, t);
	}
	vt_threads_gone(t->tid);
}

/* For threads that want to read their counters themselves: takes a last sample, and hands over the totals. */
static void hand_over_counters(struct vt_sampler *s)
{
	uint64_t *total = s->total;
	struct vt_target *t;
	pid_t tid;
	size_t i, n = s->book.plan ? smp_plan_size(s->book.plan) : 0;

	while ((tid = vt_threads_asking()) != 0) {
		for (t = s->threads; t && t->tid != tid; t = t->next) {
		}
		if (!t || !t->set) {
			vt_threads_hand_over_counters(tid, NULL, 0);
			continue;
		}
		memset(total, 0, n * sizeof(*total));
		memset(s->book.state, 0, n);
		vt_target_sample(s, t);
		for (i = 0; i < smp_set_size(t->set); i++) {
			total[smp_set_planned(t->set, i)] = s->book.state[i] & SMP_VALID ? s->book.value[i].u : 0;
		}
		smp_set_close(t->set);
		t->set = NULL;
		vt_threads_hand_over_counters(tid, total, n);
	}
}

/* ---- the node's counters: one process of a job and node reads them ---- */

/* The process that has bound the name is elected. The name is free again when the process has ended in any way. */
static int win_election(struct vt_sampler *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n, fd;

	if (s->election >= 0) {
		return 1;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "tickmark-%u-%s", (unsigned)getuid(), s->c->job);
	n = n < (int)sizeof(a.sun_path) - 1 ? n : (int)sizeof(a.sun_path) - 2;
	if (fd >= 0 &&
		bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ==
			0) {
		s->election = fd;
		return 1;
	}
	if (fd >= 0) {
		close(fd);
	}
	/* if there are no sockets at all, every process elects itself */
	return fd < 0;
}

/* ---- the loop ---- */

static int is_off(struct vt_sampler *s, pid_t tid)
{
	(void)s;
	return vt_threads_off(tid);
}

static int take_thread_turn(struct vt_sampler *s, struct vt_target *t, ltick_t *now)
{
	if (!vt_reader_aside(&s->c->pub, t->tid, now)) {
		return 0;
	}
	t->where = vt_threads_where(t->tid);
	return 1;
}

static void end_thread_turn(struct vt_sampler *s, ltick_t now)
{
	(void)s;
	vt_reader_aside_end(now);
}

static int64_t sampling_cpu_ns(const struct vt_sampler *s)
{
	(void)s;
	return vt_now_ns(CLOCK_THREAD_CPUTIME_ID) + vt_reader_cpu_ns();
}

static const struct vt_sampler_ops thread_ops = {
	.begin_list = begin_list,
	.number_thread = number_thread,
	.end_thread = end_thread,
	.is_off = is_off,
	.take_turn = vt_turn_take,
	.take_thread_turn = take_thread_turn,
	.end_thread_turn = end_thread_turn,
	.cpu_ns = sampling_cpu_ns,
};

/* Has the program's last thread ended by the system call exit, of which no library is told? Returns its status, else -1. Its first thread then waits for this one, and
 * with it the process, which no signal but SIGKILL would end. */
static int status_of_ended_program(const struct vt_sampler *s)
{
	enum {
		FOLDERS = 2,
		THREADS = 2
	}; /* links of the folder: two, and one for each thread: the first one and this one */
	struct stat is;
	char text[1024], *name, *status; /* the last field is the status as wait() has it */

	if (s->task < 0 || fstat(s->task, &is) < 0 || is.st_nlink != FOLDERS + THREADS) {
		return -1;
	}
	name = strrchr(tkm_root_line(s->root, "/proc/self/stat", text, sizeof(text)), ')');
	status = name ? strrchr(name, ' ') : NULL;
	return status && name[1] == ' ' && name[2] == 'Z' ? atoi(status) >> 8 & 255 : -1;
}

/* Returns the status of the program, or -1: it has not ended, but the sampling has. */
static int run_sampling_loop(struct vt_sampler *s)
{
	int64_t now, next;
	void (*at_wake)(void);
	int woken, elected, status;

	vt_sampler_begin(s, vt_now_ns(CLOCK_MONOTONIC));
	while (!atomic_load_explicit(&s->stop, memory_order_acquire)) {
		next = vt_sampler_due(s, 1);
		woken = vt_raw_wait(s->c->pub.raw, next);
		hand_over_counters(s);
		now = vt_now_ns(CLOCK_MONOTONIC);
		if (woken && now < next) {
			vt_raw_tick(s->c->pub.raw, vt_ticks_now(&s->c->pub));
			continue;
		}
		at_wake = atomic_load_explicit(&s->c->pub.at_wake, memory_order_acquire);
		if (at_wake) {
			at_wake();
		}
		now = vt_now_ns(CLOCK_MONOTONIC);
		elected = now >= s->node_due && win_election(s);
		if (now >= s->node_due && !elected) {
			vt_sampler_skip_node(s, now);
		}
		vt_sampler_sample(s, now, elected);
		vt_sampler_tick(s, now);
		status = status_of_ended_program(s);
		if (status >= 0) {
			snprintf(s->c->ended_how, sizeof(s->c->ended_how), "by exit of its last thread, exit status %d",
				status);
			s->merge = 1;
			return status;
		}
	}
	return -1;
}

/* Are there counters of this scope that count from their opening? */
static int any_of(const struct vt_collector *c, enum smp_scope scope)
{
	size_t i, n = c->plan ? smp_plan_size(c->plan) : 0;

	for (i = 0; i < n; i++) {
		const struct smp_counter *k = &smp_plan_at(c->plan, i)->counter;

		if (k->scope == scope && !k->missing && vt_counts_from_opening(c->plan, i)) {
			return 1;
		}
	}
	return 0;
}

/* Runs while the program waits for us and we still share its table of descriptors (process.c). */
static void open_shared(struct vt_sampler *s)
{
	if (any_of(s->c, SMP_PROCESS)) {
		vt_counters_lock();
		s->shared = vt_target_new(s, &s->book, SMP_PROCESS, 0, 0, vt_counts_from_opening);
		vt_counters_unlock();
	}
	if (s->shared && !s->shared->set) {
		vt_target_free(s->shared);
		s->shared = NULL;
	}
}

static void *sampler_main(void *arg)
{
	struct vt_sampler *s = arg;
	int i, status;

	vt_locale_c();
	s->tid = (pid_t)syscall(SYS_gettid);
	vt_say_defer(s->tid);
	prctl(PR_SET_NAME, "vtrun", 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0);
	open_shared(s);
	s->apart = vt_own_descriptors(s->shared ? s->shared->set : NULL);
	atomic_store_explicit(&s->opened, 1, memory_order_release);
	sem_post(&s->ready);
	if (s->apart) {
		/* 0 to 2 must not become files of ours, to which the program would print by mistake */
		s->root = tkm_root_open("/");
		for (i = 0; s->root >= 0 && i < 2; i++) {
			s->spare[i] = dup(s->root);
		}
		vt_raw_keep_open(s->c->pub.raw);
	} else {
		s->root = tkm_root_open("/");
	}
	s->task = s->root < 0 ? -1 : tkm_root_openat(s->root, "/proc/self/task");
	s->is_proc_above = s->root >= 0 && tkm_root_is_above(s->root);
	s->process = vt_target_new(s, &s->book, SMP_PROCESS, 0, 0, vt_not_from_opening);
	status = run_sampling_loop(s);
	vt_sampler_sample_last(s, 1);
	vt_sampler_say_unregistered(s);
	s->c->account.cpu_ns = sampling_cpu_ns(s);
	vt_sampler_close(s);
	if (s->election >= 0) {
		close(s->election);
	}
	vt_raw_stream_end(s->stream);
	s->c->close_and_merge(s->c, s->merge);
	if (status >= 0) {
		syscall(SYS_exit_group, status);
	}
	return NULL;
}

/* ---- start and stop ---- */

/* Returns the CPU time that the program before an exec in this process has noted. */
static uint64_t cpu_before_exec(const struct vt_collector *c)
{
	char text[64];
	unsigned long long ns;
	int pid;

	return vt_run_value(c->run, "cpu", text, sizeof(text)) && sscanf(text, "%d:%llu", &pid, &ns) == 2 &&
			pid == (int)getpid()
		? ns
		: 0;
}

uint64_t vt_sampler_cpu(struct vt_collector *c)
{
	struct vt_sampler *s = c->sampler;
	struct timespec ts = { 0, 0 };
	clockid_t id;
	uint64_t cpu;

	/* a forked child has no such thread, and after vfork it still runs in the parent */
	if (!s || getpid() != c->pid) {
		return 0;
	}
	if (pthread_getcpuclockid(s->thread, &id) != 0 || clock_gettime(id, &ts) != 0) {
		return s->own_cpu; /* the thread has ended */
	}
	cpu = s->cpu_before + (uint64_t)vt_reader_cpu_ns() + (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	cpu = cpu ? cpu : 1; /* 0 means none; the thread may not have run yet */
	atomic_store_explicit(&s->noted_cpu, cpu, memory_order_relaxed);
	return cpu;
}

void vt_sampler_stays(struct vt_collector *c)
{
	if (c->sampler && getpid() == c->pid) {
		atomic_store_explicit(&c->sampler->noted_cpu, 0, memory_order_relaxed);
	}
}

/* Waits until the shared counters count, or goes on without them after a while. */
static void wait_for_shared(struct vt_sampler *s, int keep)
{
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + READY_S * 1000000000ll;
	struct timespec ts = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
	int rc;

	do {
		rc = sem_clockwait(&s->ready, CLOCK_MONOTONIC, &ts);
	} while (rc < 0 && errno == EINTR);
	if (atomic_load_explicit(&s->opened, memory_order_acquire) && s->shared) {
		vt_process_share(&s->c->pub, s->shared->set, keep, s->apart);
	}
}

int vt_sampler_start(struct vt_collector *c, struct tkm_err *err)
{
	struct vt_sampler *s = vt_sampler_new(c, &thread_ops, NULL);
	pthread_attr_t attr;
	sigset_t all, old;
	int rc, keep;

	if (!s || sem_init(&s->ready, 0, 0) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the sampler");
	}
	s->cpu_before = cpu_before_exec(c);
	vt_process_start(&c->pub);
	keep = any_of(c, SMP_PROCESS) && c->calls_expected;
	if (keep && any_of(c, SMP_THREAD)) {
		/* before counting, so that it is not counted */
		vt_reader_begin(&c->pub);
	}
	c->account.started_ns = vt_now_ns(CLOCK_MONOTONIC);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, &attr, sampler_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (rc) {
		return tkm_fail_errno(err, TKM_ERR_UNAVAIL, rc, "cannot start the sampler's thread");
	}
	c->sampler = s;
	if (any_of(c, SMP_PROCESS)) {
		wait_for_shared(s, keep);
	}
	return 0;
}

void vt_sampler_stop(struct vt_collector *c, int merge)
{
	struct vt_sampler *s = c->sampler;
	struct timespec ts;

	vt_process_unshare(s->apart);
	c->sampler = NULL;
	s->merge = merge;
	atomic_store_explicit(&s->stop, 1, memory_order_release);
	vt_raw_wake(c->pub.raw);
	/* A device that does not answer must not keep the program from ending. What was recorded stays in the raw
	 * file. */
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += 10 + (time_t)(vt_raw_size(c->pub.raw) >> 24);
	if (pthread_timedjoin_np(s->thread, NULL, &ts) != 0) {
		vt_say(1, "WARNING", "the end takes too long; what was recorded is in %s", vt_raw_path(c->pub.raw));
	}
}
