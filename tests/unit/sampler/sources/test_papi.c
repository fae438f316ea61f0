/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI beside what was counted; events that have to take turns. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "tests/lib/check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

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
	why = missing("PAPI_TOT_INS");
	if (why[0]) {
		SKIP("papi_takes_turns", why);
	} else {
		RUN(papi_takes_turns);
	}
	return check_end();
}
