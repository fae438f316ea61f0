/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a process, of its threads and of another process, beside what is known of them. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "sampler/works.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

struct toucher {
	pthread_barrier_t go, done;
	pid_t tid;
	size_t pages;
};

static void *touch_pages(void *arg)
{
	struct toucher *t = arg;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	unsigned char *p = mmap(NULL, t->pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, t->pages * page, MADV_NOHUGEPAGE);
	t->tid = gettid();
	pthread_barrier_wait(&t->go);
	pthread_barrier_wait(&t->go);
	for (i = 0; i < t->pages; i++) {
		((volatile unsigned char *)p)[i * page] = 1;
	}
	pthread_barrier_wait(&t->done);
	pthread_barrier_wait(&t->done);
	munmap(p, t->pages * page);
	return NULL;
}

/* The barrier may cost a fault or two of its own, the kernel's balancing of memory between nodes some more; a sanitizer's
 * shadow many. Less than a third of what the other thread does. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MORE = 300 };
#else
enum { MORE = 30 };
#endif

/* A thread that is joined may still be in /proc, for as long as others have its core. */
static void wait_until_gone(pid_t tid)
{
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	for (i = 0; i < 60000 && access(path, F_OK) == 0; i++) {
		usleep(1000);
	}
}

/* Two threads, counted from a third: each one's own faults, and none of the other's. */
static void nothing_of_gone_thread(int32_t tid)
{
	const char *const rules[] = { "thread_minflt on" };
	struct smp_target target = { SMP_THREAD, getpid(), tid };
	struct smp_set *gone;
	struct tkm_err err;

	plan = smp_plan_open(&env, rules, 1, NULL, 0, &err);
	gone = smp_set_open(plan, &target, &err);
	CHECK(smp_set_why(gone, 0)[0], "no reason for a thread that has ended");
	smp_set_close(gone);
}

static void faults_are_counted_per_thread(void)
{
	static const size_t pages[2] = { 100, 300 };
	struct toucher t[2];
	struct smp_set *sets[2];
	struct tkm_err err;
	pthread_t thread[2];
	int i;

	smp_env_init(&env);
	OPEN(SMP_THREAD, (int32_t)gettid(), "perf_page_faults on", "thread_minflt on");
	if (planned("perf_page_faults")->missing) {
		printf("# perf_page_faults: %s\n", planned("perf_page_faults")->missing);
	}
	for (i = 0; i < 2; i++) {
		t[i].pages = pages[i];
		pthread_barrier_init(&t[i].go, NULL, 2);
		pthread_barrier_init(&t[i].done, NULL, 2);
		pthread_create(&thread[i], NULL, touch_pages, &t[i]);
		pthread_barrier_wait(&t[i].go);
	}
	for (i = 0; i < 2; i++) {
		struct smp_target target = { SMP_THREAD, getpid(), t[i].tid };
		long long faults;

		sets[i] = smp_set_open(plan, &target, &err);
		smp_set_read(sets[i], value, state);
		faults = value[smp_set_size(sets[i]) - 1].i;
		pthread_barrier_wait(&t[i].go);
		pthread_barrier_wait(&t[i].done);
		smp_set_read(sets[i], value, state);
		faults = value[smp_set_size(sets[i]) - 1].i - faults;
		CHECK(faults >= (long long)pages[i] && faults <= (long long)pages[i] + MORE, "%lld faults", faults);
		if (smp_set_size(sets[i]) == 2) {
			CHECK(state[0] & SMP_VALID, "no value: %s", smp_set_why(sets[i], 0));
			CHECK(value[0].i >= (int64_t)pages[i] && value[0].i <= (int64_t)pages[i] + MORE, "%lld faults",
				(long long)value[0].i);
		}
		pthread_barrier_wait(&t[i].done);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
	}
	wait_until_gone(t[0].tid);
	smp_plan_close(plan);
	plan = NULL;
	nothing_of_gone_thread(t[0].tid);
	for (i = 0; i < 2; i++) {
		smp_set_close(sets[i]);
	}
	drop();
}

/* Of the threads that start after the set was opened, ended ones too. */
static void events_of_a_process_are_inherited(void)
{
	struct toucher t = { .pages = 200 };
	pthread_t thread;
	int i;

	smp_env_init(&env);
	OPEN(SMP_PROCESS, 0, "perf_page_faults:process on");
	for (i = 0; i < 2; i++) {
		pthread_barrier_init(&t.go, NULL, 2);
		pthread_barrier_init(&t.done, NULL, 2);
		pthread_create(&thread, NULL, touch_pages, &t);
		pthread_barrier_wait(&t.go);
		pthread_barrier_wait(&t.go);
		pthread_barrier_wait(&t.done);
		pthread_barrier_wait(&t.done);
		pthread_join(thread, NULL);
	}
	if (planned("perf_page_faults:process")->missing) {
		printf("# %s\n", planned("perf_page_faults:process")->missing);
	} else {
		read_again();
		/* a thread's start costs some of its own */
		CHECK(got("perf_page_faults:process") >= 400 && got("perf_page_faults:process") <= 400 + 5 * MORE,
			"%lld", got("perf_page_faults:process"));
	}
	drop();
}

/* Is there when the set is opened, then starts a thread, and ends. */
static void *touch_and_start(void *arg)
{
	struct toucher own = { .pages = 300 }, *t = arg;
	pthread_t thread;

	touch_pages(t);
	pthread_barrier_init(&own.go, NULL, 1);
	pthread_barrier_init(&own.done, NULL, 1);
	pthread_create(&thread, NULL, touch_pages, &own);
	pthread_join(thread, NULL);
	return NULL;
}

static void threads_of_before_are_counted_too(void)
{
	enum { THREADS = 4 };
	struct toucher t[THREADS] = { { .pages = 200 }, { .pages = 200 }, { .pages = 200 }, { .pages = 200 } };
	pthread_t thread[THREADS];
	int i;

	smp_env_init(&env);
	for (i = 0; i < THREADS; i++) {
		pthread_barrier_init(&t[i].go, NULL, 2);
		pthread_barrier_init(&t[i].done, NULL, 2);
		pthread_create(&thread[i], NULL, touch_and_start, &t[i]);
		pthread_barrier_wait(&t[i].go);
	}
	OPEN(SMP_PROCESS, 0, "perf_page_faults:process on");
	for (i = 0; i < THREADS; i++) {
		pthread_barrier_wait(&t[i].go);
		pthread_barrier_wait(&t[i].done);
		pthread_barrier_wait(&t[i].done);
		pthread_join(thread[i], NULL);
	}
	if (planned("perf_page_faults:process")->missing) {
		printf("# %s\n", planned("perf_page_faults:process")->missing);
	} else {
		read_again();
		CHECK(got("perf_page_faults:process") >= 500 * THREADS &&
				got("perf_page_faults:process") <= 500 * THREADS + 2 * THREADS * 5 * MORE,
			"%lld", got("perf_page_faults:process"));
	}
	drop();
}

static void *start_and_end(void *arg)
{
	return arg;
}

/* Threads come and go while events are opened: none is counted twice, and each after that once. */
static void *start_threads(void *arg)
{
	int *stop = arg;
	pthread_t thread;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		pthread_create(&thread, NULL, start_and_end, NULL);
		pthread_join(thread, NULL);
	}
	return NULL;
}

static void threads_may_come_while_a_set_opens(void)
{
	struct toucher t = { .pages = 2000 };
	pthread_t busy, thread;
	int stop = 0;

	smp_env_init(&env);
	pthread_create(&busy, NULL, start_threads, &stop);
	OPEN(SMP_PROCESS, 0, "perf_page_faults:process on");
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(busy, NULL);
	if (planned("perf_page_faults:process")->missing) {
		printf("# %s\n", planned("perf_page_faults:process")->missing);
	} else {
		long long before;

		read_again();
		before = got("perf_page_faults:process");
		pthread_barrier_init(&t.go, NULL, 1);
		pthread_barrier_init(&t.done, NULL, 1);
		pthread_create(&thread, NULL, touch_pages, &t);
		pthread_join(thread, NULL);
		read_again();
		CHECK(got("perf_page_faults:process") - before >= 2000 &&
				got("perf_page_faults:process") - before <= 2000 + 5 * MORE,
			"%lld", got("perf_page_faults:process") - before);
	}
	drop();
}

static void ended_thread_is_said(void)
{
	struct toucher t = { .pages = 1 };
	pthread_t thread;

	smp_env_init(&env);
	pthread_barrier_init(&t.go, NULL, 2);
	pthread_barrier_init(&t.done, NULL, 2);
	pthread_create(&thread, NULL, touch_pages, &t);
	pthread_barrier_wait(&t.go);
	OPEN(SMP_THREAD, t.tid, "thread_minflt on", "thread_run on");
	CHECK_INT(smp_set_read(set, value, state), 2);
	pthread_barrier_wait(&t.go);
	pthread_barrier_wait(&t.done);
	pthread_barrier_wait(&t.done);
	pthread_join(thread, NULL);
	wait_until_gone(t.tid);
	CHECK_INT(smp_set_read(set, value, state), -1);
	drop();
}

/* The kernel's totals before and after, read by other means, enclose ours. */
static void totals_lie_between_outside_totals(void)
{
	struct rusage before, after;
	FILE *f;
	unsigned long long line[8] = { 0 }, later[8] = { 0 };
	int i;

	smp_env_init(&env);
	OPEN(SMP_NODE, 0, "cpu_* on");
	for (i = 0; i < 3; i++) {
		f = fopen("/proc/stat", "r");
		CHECK(f && fscanf(f, "cpu %llu %llu %llu %llu", &line[0], &line[1], &line[2], &line[3]) == 4,
			"no /proc/stat");
		fclose(f);
		read_again();
		f = fopen("/proc/stat", "r");
		CHECK(f && fscanf(f, "cpu %llu %llu %llu %llu", &later[0], &later[1], &later[2], &later[3]) == 4,
			"no /proc/stat");
		fclose(f);
		CHECK(got("cpu_usr") >= (long long)(line[0] + line[1]) &&
				got("cpu_usr") <= (long long)(later[0] + later[1]),
			"cpu_usr");
		CHECK(got("cpu_sys") >= (long long)line[2] && got("cpu_sys") <= (long long)later[2], "cpu_sys");
		usleep(30000);
	}
	smp_set_close(set);
	smp_plan_close(plan);
	OPEN(SMP_PROCESS, 0, "proc_minflt", "proc_nvcsw");
	getrusage(RUSAGE_SELF, &before);
	read_again();
	getrusage(RUSAGE_SELF, &after);
	CHECK(got("proc_minflt") >= before.ru_minflt && got("proc_minflt") <= after.ru_minflt, "proc_minflt");
	CHECK(got("proc_nvcsw") >= before.ru_nvcsw && got("proc_nvcsw") <= after.ru_nvcsw, "proc_nvcsw");
	drop();
}

/* Its CPU time is known by what it waits for. */
static void another_process_is_read_by_its_files(void)
{
	enum { PAGES = 3000, SPIN_MS = 120 };
	const char *all = "proc_* on";
	struct tkm_err err = { TKM_OK, "" };
	int ready[2], go[2], status;
	struct rusage after;
	char c = 0;
	pid_t pid;

	CHECK(pipe(ready) == 0 && pipe(go) == 0, "no pipe");
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		_exit(smp_work_faults(PAGES) < 0 || smp_work_spin(SPIN_MS) < 0 || write(ready[1], &c, 1) != 1 ||
			read(go[0], &c, 1) != 0);
	}
	close(ready[1]);
	close(go[0]);
	CHECK_INT(read(ready[0], &c, 1), 1);
	smp_env_init(&env);
	plan = smp_plan_open(&env, &all, 1, NULL, 0, &err);
	set = smp_set_open(plan, &(struct smp_target){ SMP_PROCESS, pid, 0 }, &err);
	CHECK(set != NULL, "%s", err.text);
	read_again();
	CHECK(got("proc_usr") + got("proc_sys") >= 1000 * SPIN_MS && got("proc_minflt") >= PAGES,
		"%lld us, %lld faults", got("proc_usr") + got("proc_sys"), got("proc_minflt"));
	close(go[1]);
	CHECK(wait4(pid, &status, 0, &after) == pid && status == 0, "status %d", status);
	CHECK(got("proc_usr") + got("proc_sys") <= 1000000 * (after.ru_utime.tv_sec + after.ru_stime.tv_sec) +
					after.ru_utime.tv_usec + after.ru_stime.tv_usec &&
			got("proc_minflt") <= after.ru_minflt,
		"%lld us, %lld faults", got("proc_usr") + got("proc_sys"), got("proc_minflt"));
	CHECK(got("proc_maxrss") >= PAGES * sysconf(_SC_PAGESIZE) && got("proc_maxrss") <= after.ru_maxrss * 1024,
		"proc_maxrss: %lld, %ld KiB", got("proc_maxrss"), after.ru_maxrss);
	CHECK_INT(smp_set_read(set, value, state), -1);
	drop();
	close(ready[0]);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t cpu_us(pid_t pid)
{
	struct timespec t = { 0, 0 };
	clockid_t id;

	return clock_getcpuclockid(pid, &id) == 0 && clock_gettime(id, &t) == 0
		? (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000
		: 0;
}

/* Reads as often as it can for a while: the parts of a process's CPU time move in steps of a tick in the kernel, but neither grows by
 * more than the CPU clock of the process does around the two readings. That clock, too, moves in ticks where another CPU reads it.
 * work: what this process does between two readings. */
static void read_closely(pid_t pid, int (*work)(uint64_t ms))
{
	enum { TICK_US = 10000 };
	static const char *const name[2] = { "proc_usr", "proc_sys" };
	const char *rules[] = { "proc_usr on", "proc_sys on" };
	struct tkm_err err = { TKM_OK, "" };
	int64_t begun, before, after, last_before = -1;
	long long last[2] = { 0, 0 }, first = 0, grown;
	int i, worse = 0;

	smp_env_init(&env);
	plan = smp_plan_open(&env, rules, 2, NULL, 0, &err);
	set = smp_set_open(plan, &(struct smp_target){ SMP_PROCESS, pid, 0 }, &err);
	CHECK(set != NULL, "%s", err.text);
	for (begun = now_us(); now_us() - begun < 400000;) {
		if (work && work(1) < 0) {
			break;
		}
		before = cpu_us(pid);
		read_again();
		after = cpu_us(pid);
		for (i = 0; i < 2 && last_before >= 0; i++) {
			grown = got(name[i]) - last[i];
			worse += grown < 0 || grown > after - last_before;
		}
		first = last_before >= 0 ? first : got(name[0]) + got(name[1]);
		last[0] = got(name[0]);
		last[1] = got(name[1]);
		last_before = before;
	}
	after = now_us() - begun;
	CHECK(worse == 0, "%d times more than the CPU time that passed", worse);
	CHECK(last[0] + last[1] - first > TICK_US && last[0] + last[1] - first <= after + TICK_US, "%lld us of %lld",
		last[0] + last[1] - first, (long long)after);
	drop();
}

static void no_part_of_the_cpu_time_is_more_than_the_time(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (;;) {
			/* both parts */
			if (smp_work_spin(1) < 0 || smp_work_faults(3000) < 0) {
				_exit(1);
			}
		}
	}
	usleep(20000);
	read_closely(pid, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	read_closely(getpid(), smp_work_spin);
}

static int heir_ready, heir_go;

static void *be_heir(void *arg)
{
	pthread_t *before = arg;
	char c = 0;

	pthread_join(*before, NULL);
	if (smp_work_faults(6000) == 0 && write(heir_ready, &c, 1) == 1 && read(heir_go, &c, 1) == 0) {
		_exit(0);
	}
	_exit(1);
}

/* Waits for main() to end, hands over to a third thread when told, and ends. */
static void *be_first(void *arg)
{
	static pthread_t self, heir;
	pthread_t *main_thread = arg;
	char c = 0;

	pthread_join(*main_thread, NULL);
	if (write(heir_ready, &c, 1) != 1 || read(heir_go, &c, 1) != 1) {
		_exit(1);
	}
	self = pthread_self();
	pthread_create(&heir, NULL, be_heir, &self);
	return NULL;
}

static void memory_stays_when_main_has_ended(void)
{
	const char *all = "proc_* on";
	struct tkm_err err = { TKM_OK, "" };
	int ready[2], go[2], status;
	long page = sysconf(_SC_PAGESIZE);
	char c = 0;
	pid_t pid;

	CHECK(pipe(ready) == 0 && pipe(go) == 0, "no pipe");
	pid = fork();
	if (pid == 0) {
		static pthread_t self, other;

		close(go[1]);
		heir_ready = ready[1];
		heir_go = go[0];
		self = pthread_self();
		pthread_create(&other, NULL, be_first, &self);
		pthread_exit(NULL);
	}
	close(ready[1]);
	close(go[0]);
	smp_env_init(&env);
	plan = smp_plan_open(&env, &all, 1, NULL, 0, &err);
	set = smp_set_open(plan, &(struct smp_target){ SMP_PROCESS, pid, 0 }, &err);
	CHECK(set != NULL, "%s", err.text);
	CHECK_INT(read(ready[0], &c, 1), 1);
	read_again();
	CHECK(got("proc_rss") >= 100 * page && got("proc_vm") >= got("proc_rss"), "%lld bytes in %lld", got("proc_rss"),
		got("proc_vm"));
	CHECK_INT(write(go[1], &c, 1), 1);
	CHECK_INT(read(ready[0], &c, 1), 1);
	read_again(); /* by then the thread that was looked at has ended, too */
	CHECK(got("proc_rss") >= 100 * page && got("proc_vm") >= got("proc_rss"), "%lld bytes in %lld", got("proc_rss"),
		got("proc_vm"));
	CHECK(got("proc_maxrss") >= 6000 * page, "proc_maxrss: %lld", got("proc_maxrss"));
	close(go[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "status %d", status);
	CHECK_INT(smp_set_read(set, value, state), -1);
	drop();
	close(ready[0]);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(faults_are_counted_per_thread);
	RUN(events_of_a_process_are_inherited);
	RUN(threads_of_before_are_counted_too);
	RUN(threads_may_come_while_a_set_opens);
	RUN(ended_thread_is_said);
	RUN(totals_lie_between_outside_totals);
	RUN(another_process_is_read_by_its_files);
	RUN(no_part_of_the_cpu_time_is_more_than_the_time);
	RUN(memory_stays_when_main_has_ended);
	return check_end();
}
