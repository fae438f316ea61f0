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
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/descriptors.h"
#include "collector-plugin/sample/new_devices.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/run_value.h"

enum { STACK = 1 << 20, CLOCK_EVERY_S = 10, ACCOUNT_EVERY_S = 1, MAX_RESTARTED = 10, READY_S = 5 };
enum { NODE_APART = 20000000 }; /* ns */

/* ---- threads come and go ---- */

static void thread_name(struct vt_sampler *s, pid_t tid, char *name, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
	tkm_root_line(s->root, path, name, size);
}

static void thread_came(struct vt_sampler *s, pid_t tid)
{
	int number = vt_threads_number(tid);
	struct vt_target *t;
	char name[64];

	if (number < 0) {
		return;
	}
	/* a thread that has taken its counters over reads them itself */
	t = vt_target_new(s, vt_threads_counts(tid) ? &s->no_book : &s->book, SMP_THREAD, tid, number, NULL);
	if (!t) {
		return;
	}
	if (tid != s->c->pid) {
		thread_name(s, tid, name, sizeof(name));
		vt_raw_thread(vt_raw_of(&s->c->pub), (uint32_t)number, (uint64_t)tid, name);
	}
	t->next = s->threads;
	s->threads = t;
}

/* Its counters still have their last values: perf events outlive what they count. */
static void thread_gone(struct vt_sampler *s, struct vt_target **link)
{
	struct vt_target *t = *link;

	*link = t->next;
	/* a thread that called us has sampled itself at its end */
	t->where = vt_threads_where(t->tid);
	if (t->set && t->where >= 0) {
		vt_target_sample(s, t);
	}
	vt_threads_gone(t->tid);
	vt_target_free(t);
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

/* Is it a thread of the collector? tid -1: is there one whose tid is not known yet? */
static int is_helper(const struct vt_sampler *s, pid_t tid)
{
	int i;

	for (i = 0; i < VT_HELPERS && atomic_load(&s->c->helper[i]) != tid; i++) {
	}
	return i < VT_HELPERS;
}

static void see_tid(void *sampler, pid_t tid)
{
	struct vt_sampler *s = sampler;
	struct vt_target *t;

	if (tid == s->tid || is_helper(s, tid)) {
		return;
	}
	for (t = s->threads; t && t->tid != tid; t = t->next) {
	}
	if (t) {
		t->seen = s->round;
		return;
	}
	/* a thread of the collector that has begun since we looked is announced before its start */
	if (is_helper(s, -1)) {
		s->task_links = 0;
		return;
	}
	if (is_helper(s, tid)) {
		return;
	}
	thread_came(s, tid);
	if (s->threads && s->threads->tid == tid) {
		s->threads->seen = s->round;
	}
}

static void look_for_threads(struct vt_sampler *s)
{
	struct vt_target **link;

	if (is_helper(s, -1) || !vt_sampler_each_thread(s, s->task, see_tid, s)) {
		return;
	}
	for (link = &s->threads; *link;) {
		if ((*link)->seen != s->round) {
			thread_gone(s, link);
		} else {
			link = &(*link)->next;
		}
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

/* ---- account ---- */

/* Once a second: what the thread costs, and the readings of the system's clocks. */
static void keep_account(struct vt_sampler *s, int64_t now)
{
	struct vt_account *a = &s->c->account;
	int64_t cpu = vt_now_ns(CLOCK_THREAD_CPUTIME_ID) + vt_reader_cpu_ns();
	double share;

	if (now - s->account_ns >= ACCOUNT_EVERY_S * 1000000000ll && now - s->account_ns >= 4 * s->period_ns) {
		share = (double)(cpu - a->cpu_ns) / (double)(now - s->account_ns);
		if (share > s->c->settings.sample_budget && a->ticks > 8) {
			vt_sampler_slow_down(s, share);
		}
		s->account_ns = now;
		a->cpu_ns = cpu;
	}
	if (now - s->clock_ns >= CLOCK_EVERY_S * 1000000000ll) {
		s->clock_ns = now;
		vt_raw_clock(vt_raw_of(&s->c->pub), vt_ticks_now(&s->c->pub), vt_now_ns(CLOCK_REALTIME),
			vt_now_ns(CLOCK_MONOTONIC), vt_now_ns(CLOCK_MONOTONIC_RAW));
	}
	if (s->c->settings.mem_info > 0 && vt_raw_size(vt_raw_of(&s->c->pub)) >= s->info_bytes) {
		vt_say(1, "INFO", "%llu MB recorded in %s",
			(unsigned long long)(vt_raw_size(vt_raw_of(&s->c->pub)) >> 20),
			vt_raw_path(vt_raw_of(&s->c->pub)));
		s->info_bytes += (uint64_t)s->c->settings.mem_info;
	}
}

/* ---- the loop ---- */

/* The CPU time is read just before the stamp, by another clock: over a short interval it could have grown by more
 * than the time. The excess waits for the next sample. An excess over the figure that the next program begins with
 * is not recorded. */
static uint64_t own_cpu(const struct vt_sampler *s)
{
	uint64_t cpu = s->cpu_before + (uint64_t)(vt_now_ns(CLOCK_THREAD_CPUTIME_ID) + vt_reader_cpu_ns()), most;
	uint64_t noted = atomic_load_explicit(&s->noted_cpu, memory_order_relaxed);
	double passed;

	cpu = noted && noted < cpu ? noted : cpu;
	if (s->own_stamp.v == 0) {
		return cpu;
	}
	passed = (double)ltick_sub(vt_ticks_now(&s->c->pub), s->own_stamp) * tmr_period(vt_timer_of(&s->c->pub));
	most = s->own_cpu + (uint64_t)(passed > 0 ? 0.999e9 * passed : 0);
	return cpu < most ? cpu : most;
}

static void sample_process(struct vt_sampler *s, int64_t delay)
{
	static const uint32_t id[3] = { VT_ID_CPU, VT_ID_TICK, VT_ID_DELAY };
	uint64_t v[3] = { own_cpu(s), (uint64_t)s->c->account.longest_ns, (uint64_t)delay };
	ltick_t now;

	if (!s->process || vt_threads_off(s->c->pid) || !vt_process_turn(&s->c->pub, &now)) {
		return;
	}
	if (vt_collect_in_window(now)) {
		vt_target_sample_at(s, s->process, now, id, v, 3);
		if (s->shared) {
			vt_target_sample_at(s, s->shared, now, NULL, NULL, 0);
		}
		s->own_cpu = v[0];
		s->own_stamp = now;
	}
	vt_process_turn_end(now);
}

static void sample_thread(struct vt_sampler *s, struct vt_target *t)
{
	ltick_t now;

	if (vt_reader_aside(&s->c->pub, t->tid, &now)) {
		t->where = vt_threads_where(t->tid);
		/* a window may have ended since this round of samples began */
		if (t->where >= 0 && vt_collect_in_window(now)) {
			vt_target_sample_at(s, t, now, NULL, NULL, 0);
		}
		vt_reader_aside_end(now);
	}
}

static void sample_all(struct vt_sampler *s, int64_t delay, int node)
{
	struct vt_target *t;

	look_for_threads(s);
	sample_process(s, delay);
	for (t = s->threads; t; t = t->next) {
		if (t->set && !vt_threads_off(t->tid)) {
			sample_thread(s, t);
		}
	}
	if (node && win_election(s)) {
		vt_sample_node(s);
	}
}

static void sample_on_time(struct vt_sampler *s, int64_t due, int node)
{
	struct vt_account *a = &s->c->account;
	int64_t woke = vt_now_ns(CLOCK_MONOTONIC), took;

	vt_sampler_look_for_gaps(s, woke, due);
	if (vt_collect_in_window(vt_ticks_now(&s->c->pub))) {
		sample_all(s, woke > due ? woke - due : 0, node);
	}
	took = vt_now_ns(CLOCK_MONOTONIC) - woke;
	/* the first tick opens what later ones only read */
	if (a->ticks++ > 0) {
		a->longest_ns = took > a->longest_ns ? took : a->longest_ns;
		a->latest_ns = woke - due > a->latest_ns ? woke - due : a->latest_ns;
	}
	if (a->ticks == 2) {
		/* for a run that is killed; a run as short as this costs less without it */
		s->c->write_protocol(s->c, 0);
	}
	keep_account(s, woke);
}

static void loop(struct vt_sampler *s)
{
	int64_t now = vt_now_ns(CLOCK_MONOTONIC), due = now, node_due = now,
		delay = (int64_t)(s->c->settings.os_counter_delay * 1e9);

	s->account_ns = s->clock_ns = now;
	s->c->account.cpu_ns = vt_now_ns(CLOCK_THREAD_CPUTIME_ID);
	while (!atomic_load_explicit(&s->stop, memory_order_acquire)) {
		int64_t next = node_due < due ? node_due : due;

		int woken = vt_raw_wait(vt_raw_of(&s->c->pub), next);

		hand_over_counters(s);
		if (woken && vt_now_ns(CLOCK_MONOTONIC) < next) {
			vt_raw_tick(vt_raw_of(&s->c->pub), vt_ticks_now(&s->c->pub));
			continue;
		}
		vt_call_at_wake(&s->c->pub);
		now = vt_now_ns(CLOCK_MONOTONIC);
		if (now >= due) {
			sample_on_time(s, due, now >= node_due);
			due = vt_sampler_next_due(due, s->period_ns, now);
		} else if (vt_collect_in_window(vt_ticks_now(&s->c->pub)) && win_election(s)) {
			vt_sample_node(s);
		}
		if (now >= node_due) {
			node_due = vt_sampler_next_due(node_due, delay, now);
		}
		vt_raw_tick(vt_raw_of(&s->c->pub), vt_ticks_now(&s->c->pub));
	}
	/* The counts up to now. Those of the node only if this process counted them, and not too soon after the
	 * sample before: the kernel's steps of 10 ms would show a wrong rate. */
	if (vt_collect_in_window(vt_ticks_now(&s->c->pub))) {
		sample_all(s, 0, s->node && vt_now_ns(CLOCK_MONOTONIC) - s->node_ns >= NODE_APART);
	}
	vt_sampler_say_unregistered(s);
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

static void *thread_main(void *arg)
{
	struct vt_sampler *s = arg;
	int i;

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
		vt_raw_keep_open(vt_raw_of(&s->c->pub));
	} else {
		s->root = tkm_root_open("/");
	}
	s->task = s->root < 0 ? -1 : tkm_root_openat(s->root, "/proc/self/task");
	s->process = vt_target_new(s, &s->book, SMP_PROCESS, 0, 0, vt_not_from_opening);
	loop(s);
	smp_set_close(s->process ? s->process->set : NULL);
	smp_set_close(s->shared ? s->shared->set : NULL);
	smp_set_close(s->node ? s->node->set : NULL);
	while (s->later) {
		struct vt_target *t = s->later;

		s->later = t->next;
		vt_target_free(t);
	}
	while (s->threads) {
		struct vt_target *t = s->threads;

		s->threads = t->next;
		vt_target_free(t);
	}
	s->c->account.cpu_ns = vt_now_ns(CLOCK_THREAD_CPUTIME_ID) + vt_reader_cpu_ns();
	s->c->account.wall_ns = vt_now_ns(CLOCK_MONOTONIC) - s->c->account.started_ns;
	s->c->account.period_s = 1e-9 * (double)s->period_ns;
	if (s->election >= 0) {
		close(s->election);
	}
	vt_raw_stream_end(s->stream);
	s->c->close_and_merge(s->c, s->merge);
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
	struct vt_sampler *s = vt_sampler_new(c);
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
	pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, &attr, thread_main, s);
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
	vt_raw_wake(vt_raw_of(&c->pub));
	/* A device that does not answer must not keep the program from ending. What was recorded stays in the raw
	 * file. */
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += 10 + (time_t)(vt_raw_size(vt_raw_of(&c->pub)) >> 24);
	if (pthread_timedjoin_np(s->thread, NULL, &ts) != 0) {
		vt_say(1, "WARNING", "the end takes too long; what was recorded is in %s",
			vt_raw_path(vt_raw_of(&c->pub)));
	}
}
