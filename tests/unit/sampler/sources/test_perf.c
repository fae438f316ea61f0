/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop is counted exactly, by the kernel and by PAPI. */
#define _GNU_SOURCE
#include "config.h"
#include "base/err.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "tests/lib/check.h"

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
	const char *why;

	check_args(argc, argv);
	why = missing("perf_instructions");
	if (why[0]) {
		SKIP("perf_counts_a_loop_exactly", why);
	} else {
		RUN(perf_counts_a_loop_exactly);
	}
	why = missing("PAPI_TOT_INS");
	if (why[0]) {
		SKIP("papi_counts_a_loop_exactly", why);
	} else {
		RUN(papi_counts_a_loop_exactly);
	}
	return check_end();
}
