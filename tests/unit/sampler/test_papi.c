/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI read from a thread that is not the one that counts: software-defined counters of known value, and where
 * there is a PMU the instructions of a loop of known length, both exact and per thread. Also what an errno of
 * perf_event_open is taken for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"
#include "sampler/source.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <unistd.h>

#include "sampler/sources/perf_why.h"
#include "tests/lib/check.h"

static struct smp_env env;
static union smp_value value[64];
static uint8_t state[64];

static struct smp_plan *plan_of(const char *const *rules, size_t n)
{
	struct tkm_err err = { TKM_OK, "" };
	struct smp_plan *plan;

	smp_env_init(&env);
	plan = smp_plan_open(&env, rules, n, NULL, 0, &err);
	CHECK(plan != NULL, "%s", err.text);
	return plan;
}

/* ---- what an errno means ------------------------------------------------------------------------- */

static void causes_are_told_apart(void)
{
	static const struct {
		struct smp_perf_access a; /* software, kernel, paranoid, seccomp, hypervisor, watchdog, perfmon */
		uint32_t type;
		int errnum;
		const char *says;
		/* clang-format off */
	} t[] = {
		{ { 0, 0, 2, 0, 1, 0, 1 }, PERF_TYPE_HARDWARE, ENOENT, "virtual machine" },
		{ { 0, 0, 2, 0, 1, 0, 1 }, PERF_TYPE_HARDWARE, EOPNOTSUPP, "virtual machine" },
		{ { 0, 0, 2, 0, 0, 0, 1 }, PERF_TYPE_HARDWARE, ENOENT, "this CPU" },
		{ { EACCES, EACCES, 3, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, EACCES, "perf_event_paranoid is 3" },
		{ { EACCES, EACCES, 4, 0, 0, 0, 0 }, PERF_TYPE_SOFTWARE, EPERM, "perf_event_paranoid is 4" },
		{ { EPERM, EPERM, 2, 2, 0, 0, 0 }, PERF_TYPE_HARDWARE, EPERM, "seccomp forbids" },
		{ { EPERM, EPERM, 2, 2, 0, 0, 1 }, PERF_TYPE_HARDWARE, EPERM, "although this process has CAP_PERFMON: seccomp" },
		{ { 0, EACCES, 2, 0, 0, 0, 0 }, PERF_TYPE_SOFTWARE, EACCES, "perf_event_paranoid 2" },
		{ { ENOSYS, ENOSYS, -100, 0, 0, 0, 0 }, PERF_TYPE_SOFTWARE, ENOSYS, "CONFIG_PERF_EVENTS" },
		{ { ENOSYS, ENOSYS, 2, 2, 0, 0, 0 }, PERF_TYPE_SOFTWARE, ENOSYS, "seccomp hides" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, EBUSY, "another tool on this node (the NMI watchdog is off)" },
		{ { 0, 0, 2, 0, 0, 1, 0 }, PERF_TYPE_HARDWARE, EBUSY, "another program uses the counter: the NMI watchdog" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, ENOSYS, "does not have the event" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, EMFILE, "ulimit" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, ENOSPC, "fewer events" },
		{ { 0, 0, 2, 0, 0, 0, 0 }, PERF_TYPE_HARDWARE, E2BIG, "Argument list too long" },
	};
	/* clang-format on */
	char why[SMP_TEXT];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		smp_perf_why(&t[i].a, t[i].type, t[i].errnum, why);
		CHECK(strstr(why, t[i].says), "case %zu: \"%s\" lacks \"%s\"", i, why, t[i].says);
		CHECK(strlen(why) < SMP_TEXT - 1, "case %zu is cut: \"%s\"", i, why);
	}
}

/* What a machine says of itself, on files that were made up. */
static void rights_are_read(void)
{
	static const struct {
		const char *status;
		int perfmon, seccomp;
	} t[] = { { "Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t0000000000000000\nSeccomp:\t0\n", 0, 0 },
		{ "CapEff:\t0000004000000000\nSeccomp:\t2\n", 1, 2 },
		{ "CapEff:\t0000000000200000\nSeccomp:\t1\n", 1, 1 }, { "CapEff:\tffffffbfffdfffff\n", 0, 0 },
		{ "Name:\tx\n", 0, 0 } };
	static const char *const paranoid[] = { "3\n", "-1\n", NULL };
	char base[] = "/tmp/test_sampler_papi.XXXXXX", command[200], path[100];
	struct smp_perf_access a;
	struct smp_env there;
	FILE *f;
	size_t i;

	CHECK(mkdtemp(base) != NULL, "%s", base);
	snprintf(command, sizeof(command), "mkdir -p %s/proc/self %s/proc/sys/kernel", base, base);
	CHECK_INT(system(command), 0);
	smp_env_init(&there);
	there.root = base;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(path, sizeof(path), "%s/proc/self/status", base);
		f = fopen(path, "w");
		CHECK(f && fputs(t[i].status, f) >= 0 && fclose(f) == 0, "%s", path);
		snprintf(path, sizeof(path), "%s/proc/sys/kernel/perf_event_paranoid", base);
		unlink(path);
		if (paranoid[i % 3]) {
			f = fopen(path, "w");
			CHECK(f && fputs(paranoid[i % 3], f) >= 0 && fclose(f) == 0, "%s", path);
		}
		snprintf(path, sizeof(path), "%s/proc/sys/kernel/nmi_watchdog", base);
		f = fopen(path, "w");
		CHECK(f && fputs(i % 2 ? "1\n" : "0\n", f) >= 0 && fclose(f) == 0, "%s", path);
		snprintf(path, sizeof(path), "%s/proc/cpuinfo", base);
		f = fopen(path, "w");
		CHECK(f && fputs(i % 2 ? "flags : fpu hypervisor\n" : "flags : fpu\n", f) >= 0 && fclose(f) == 0, "%s",
			path);
		smp_perf_access(&there, &a);
		CHECK(a.perfmon == t[i].perfmon && a.seccomp == t[i].seccomp, "case %zu: perfmon %d, seccomp %d", i,
			a.perfmon, a.seccomp);
		CHECK_INT(a.paranoid, i % 3 == 0 ? 3 : i % 3 == 1 ? -1 : -100);
		CHECK(a.watchdog == (int)(i % 2) && a.hypervisor == (int)(i % 2),
			"case %zu: watchdog %d, hypervisor %d", i, a.watchdog, a.hypervisor);
		CHECK(a.software == ENOSYS && a.kernel == ENOSYS, "events of another machine cannot be tried");
	}
	snprintf(command, sizeof(command), "rm -rf %s", base);
	CHECK_INT(system(command), 0);
}

/* ---- software-defined events --------------------------------------------------------------------- */

static struct {
	void *(*init)(const char *);
	int (*add)(void *, const char *, int, int, void *);
} sde;

static long long counted[3];

struct counter_thread {
	pthread_barrier_t go, done;
	long long *counter;
	long long n;
};

static void *count_up(void *arg)
{
	struct counter_thread *t = arg;
	long long i;

	for (i = 0; i < t->n; i++) {
		++*(volatile long long *)t->counter;
	}
	pthread_barrier_wait(&t->done);
	pthread_barrier_wait(&t->go);
	for (i = 0; i < t->n; i++) {
		++*(volatile long long *)t->counter;
	}
	return NULL;
}

static void read_now(struct smp_set *set, long long want0, long long want1)
{
	CHECK(smp_set_read(set, value, state) >= 2, "not all were read: %s%s", smp_set_why(set, 0),
		smp_set_why(set, 1));
	CHECK_INT(value[0].i, want0);
	CHECK_INT(value[1].i, want1);
}

static void software_events_are_exact(void)
{
	static const char *const rules[] = { "sde:::kat::A", "sde:::kat::B", "sde:::kat::LATE" };
	struct smp_plan *plan = plan_of(rules, 3);
	struct smp_target target = { SMP_PROCESS, getpid(), 0 };
	struct smp_set *set = smp_set_open(plan, &target, NULL);
	struct counter_thread t[2] = { { .counter = &counted[0], .n = 1000 }, { .counter = &counted[1], .n = 12345 } };
	void *handle = sde.init("kat");
	pthread_t thread[2];
	int i;

	CHECK_INT(smp_set_size(set), 3);
	/* not registered yet: no value, rather than the -1 that PAPI shows */
	smp_set_read(set, value, state);
	CHECK(!state[0] && !state[1] && !state[2], "an event that nobody counts has a value");
	sde.add(handle, "A", 0, 0, &counted[0]);
	sde.add(handle, "B", 0, 0, &counted[1]);
	for (i = 0; i < 2; i++) {
		pthread_barrier_init(&t[i].go, NULL, 2);
		pthread_barrier_init(&t[i].done, NULL, 2);
		pthread_create(&thread[i], NULL, count_up, &t[i]);
	}
	for (i = 0; i < 2; i++) {
		pthread_barrier_wait(&t[i].done);
	}
	read_now(set, 1000, 12345);
	CHECK_INT(state[2], 0);
	for (i = 0; i < 2; i++) {
		pthread_barrier_wait(&t[i].go);
		pthread_join(thread[i], NULL);
	}
	read_now(set, 2000, 24690);
	counted[2] = 42;
	sde.add(handle, "LATE", 0, 0, &counted[2]);
	CHECK_INT(smp_set_read(set, value, state), 3);
	CHECK_INT(value[2].i, 42);
	smp_set_close(set);
	smp_plan_close(plan);
}

/* The set is read by a thread that PAPI does not know yet. */
static void *read_elsewhere(void *set)
{
	return (void *)(intptr_t)smp_set_read(set, value, state);
}

static void any_thread_may_read(void)
{
	static const char *const rules[] = { "sde:::kat::A", "sde:::kat::B" };
	struct smp_plan *plan = plan_of(rules, 2);
	struct smp_target target = { SMP_PROCESS, getpid(), 0 };
	struct smp_set *set = smp_set_open(plan, &target, NULL);
	pthread_t thread;
	void *n;

	pthread_create(&thread, NULL, read_elsewhere, set);
	pthread_join(thread, &n);
	CHECK_INT((intptr_t)n, 2);
	/* what the program counted before the set was opened is in it */
	CHECK_INT(value[0].i, 2000);
	counted[0] += 17;
	pthread_create(&thread, NULL, read_elsewhere, set);
	pthread_join(thread, &n);
	CHECK_INT(value[0].i, 2017);
	smp_set_close(set);
	smp_plan_close(plan);
}

/* ---- a PMU --------------------------------------------------------------------------------------- */

static void loop(uint64_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	(void)n;
#endif
}

/* Waits in a system call, so that waiting costs the same few instructions each time. */
struct looper {
	int in[2], out[2];
	pid_t tid;
};

static void *run_loops(void *arg)
{
	struct looper *l = arg;
	uint64_t n = 0;

	l->tid = gettid();
	while (write(l->out[1], &n, sizeof(n)) == sizeof(n) && read(l->in[0], &n, sizeof(n)) == sizeof(n)) {
		loop(n);
	}
	return NULL;
}

/* Until the thread is asleep in read(2), however long others have its core. */
static void wait_until_asleep(const struct looper *l)
{
	char path[64], text[256], *is = NULL;
	int i;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)l->tid);
	for (i = 0; i < 60000 && !(is && is[2] == 'S'); i++) {
		FILE *f;

		usleep(1000);
		f = fopen(path, "r");
		is = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		if (f) {
			fclose(f);
		}
	}
}

/* The smallest of some: the return from an interrupt is an instruction of the thread on many processors. */
static long long instructions(struct looper *l, struct smp_set *set, uint64_t n)
{
	long long before, smallest = 0;
	uint64_t ready;
	int i;

	for (i = 0; i < 20; i++) {
		wait_until_asleep(l);
		smp_set_read(set, value, state);
		before = value[0].i;
		if (write(l->in[1], &n, sizeof(n)) != sizeof(n) ||
			read(l->out[0], &ready, sizeof(ready)) != sizeof(ready)) {
			CHECK(0, "the thread is gone");
		}
		wait_until_asleep(l);
		CHECK(smp_set_read(set, value, state) > 0 && (state[0] & SMP_VALID), "no value: %s",
			smp_set_why(set, 0));
		smallest = i == 0 || value[0].i - before < smallest ? value[0].i - before : smallest;
	}
	return smallest;
}

static void instructions_of_threads(const char *const *rule)
{
	static const uint64_t size[2][3] = { { 1000, 10000, 1000000 }, { 3000, 70000, 500000 } };
	struct smp_plan *plan = plan_of(rule, 1);
	struct looper l[2];
	struct smp_set *set[2];
	pthread_t thread[2];
	long long count, overhead[2] = { 0, 0 };
	uint64_t ready;
	int i, k;

	for (i = 0; i < 2; i++) {
		if (pipe(l[i].in) < 0 || pipe(l[i].out) < 0) {
			exit(99);
		}
		pthread_create(&thread[i], NULL, run_loops, &l[i]);
		CHECK_INT(read(l[i].out[0], &ready, sizeof(ready)), sizeof(ready));
		set[i] = smp_set_open(plan, &(struct smp_target){ SMP_THREAD, getpid(), l[i].tid }, NULL);
	}
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 2; i++) {
			count = instructions(&l[i], set[i], size[i][k]) - 2 * (long long)size[i][k];
			printf("# %s thread %d: 2 x %llu + %lld\n", rule[0], i, (unsigned long long)size[i][k], count);
			overhead[i] = k == 0 ? count : overhead[i];
			CHECK(k < 1 || count == overhead[i], "2n + %lld, then 2n + %lld", overhead[i], count);
			CHECK(count >= 0 && count < 2000, "%lld instructions around the loop", count);
		}
	}
	for (i = 0; i < 2; i++) {
		close(l[i].in[1]);
		pthread_join(thread[i], NULL);
		smp_set_close(set[i]);
	}
	smp_plan_close(plan);
}

static void perf_counts_a_loop_exactly(void)
{
	static const char *const rule[] = { "perf_instructions" };

	instructions_of_threads(rule);
}

static void papi_counts_a_loop_exactly(void)
{
	static const char *const rule[] = { "PAPI_TOT_INS" };

	instructions_of_threads(rule);
}

/* More events than any PMU has counters: each counts for a part of the time, which is printed with it. */
/* Where a count, and the times that it was enabled and running, are in the set. */
static void find_turns(const struct smp_plan *plan, struct smp_set *set, size_t *slot)
{
	static const char *const names[] = { "PAPI_TOT_INS", "PAPI_TOT_INS:enabled", "PAPI_TOT_INS:running" };
	size_t i, k;

	for (i = 0; i < smp_set_size(set); i++) {
		const char *name = smp_plan_at(plan, smp_set_planned(set, i))->counter.name;

		for (k = 0; k < 3; k++) {
			if (!strcmp(name, names[k])) {
				slot[k] = i;
				CHECK(smp_set_why(set, i)[0] == '\0', "%s: %s", name, smp_set_why(set, i));
			}
		}
	}
}

static void papi_takes_turns(void)
{
	static const char *const rule[] = {
		"PAPI_TOT_INS",
		"PAPI_TOT_CYC",
		"PAPI_L1_DCM",
		"PAPI_L1_DCA",
		"PAPI_L1_ICM",
		"PAPI_L1_ICA",
		"PAPI_L2_DCM",
		"PAPI_L2_DCA",
		"PAPI_BR_MSP",
		"PAPI_TLB_DM",
		"PAPI_TLB_IM",
	};
	const uint64_t n = 100000000;
	uint64_t first[3] = { 0 }, last[3] = { 0 }, *at[2] = { first, last };
	static struct smp_env turns;
	struct smp_plan *plan;
	struct smp_set *set;
	size_t slot[3] = { SIZE_MAX, SIZE_MAX, SIZE_MAX };
	double share;
	int k, t;

	smp_env_init(&turns);
	turns.flags |= SMP_MULTIPLEX;
	plan = smp_plan_open(&turns, rule, sizeof(rule) / sizeof(rule[0]), NULL, 0, NULL);
	set = smp_set_open(plan, &(struct smp_target){ SMP_THREAD, getpid(), gettid() }, NULL);
	CHECK(set != NULL, "no set");
	find_turns(plan, set, slot);
	CHECK(slot[0] != SIZE_MAX && slot[1] != SIZE_MAX && slot[2] != SIZE_MAX, "a count or its times are missing");
	for (k = 0; k < 2; k++) {
		smp_set_read(set, value, state);
		for (t = 0; t < 3 && slot[t] != SIZE_MAX; t++) {
			CHECK(state[slot[t]] & SMP_VALID, "value %d is missing", t);
			at[k][t] = value[slot[t]].u;
		}
		CHECK(!k || (state[slot[0]] & SMP_SCALED), "an estimate that does not say so");
		if (k == 0) {
			loop(n);
		}
	}
	share = (double)(last[0] - first[0]) / (2 * (double)n);
	printf("# %.4f of what was to be counted, in %.1f %% of the time\n", share,
		100 * (double)(last[2] - first[2]) / (double)(last[1] - first[1]));
	CHECK(share > 0.8 && share < 1.2, "%.3f of what was to be counted", share);
	CHECK(last[2] > first[2] && last[2] - first[2] < last[1] - first[1], "enabled %llu ns, running %llu ns",
		(unsigned long long)(last[1] - first[1]), (unsigned long long)(last[2] - first[2]));
	smp_set_close(set);
	smp_plan_close(plan);
}

static const char *missing(const char *name)
{
	static char text[SMP_TEXT];
	struct smp_plan *plan = plan_of(&name, 1);
	const char *why = smp_plan_at(plan, 0)->counter.missing;

	snprintf(text, sizeof(text), "%s", why ? why : "");
	smp_plan_close(plan);
	return text;
}

int main(int argc, char **argv)
{
	void *lib = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL);
	const char *why;

	check_args(argc, argv);
	RUN(causes_are_told_apart);
	RUN(rights_are_read);
	if (lib) {
		*(void **)&sde.init = dlsym(lib, "papi_sde_init");
		*(void **)&sde.add = dlsym(lib, "papi_sde_register_counter");
	}
	why = missing("sde:::kat::A");
	if (lib && !why[0]) {
		RUN(software_events_are_exact);
		RUN(any_thread_may_read);
	} else {
		SKIP("software_events_are_exact", lib ? why : "no libsde.so.1 (Debian: libsde1)");
		SKIP("any_thread_may_read", lib ? why : "no libsde.so.1 (Debian: libsde1)");
	}
	why = missing("perf_instructions");
	if (why[0]) {
		SKIP("perf_counts_a_loop_exactly", why);
	} else {
		RUN(perf_counts_a_loop_exactly);
	}
	why = missing("PAPI_TOT_INS");
	if (why[0]) {
		SKIP("papi_counts_a_loop_exactly", why);
		SKIP("papi_takes_turns", why);
	} else {
		RUN(papi_counts_a_loop_exactly);
		RUN(papi_takes_turns);
	}
	return check_end();
}
