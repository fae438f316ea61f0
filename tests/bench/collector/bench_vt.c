/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call of the VT interface costs. Ratios: both sides in turn, slice by slice, in one process, so that what
 * else the machine does falls on both. Writes its raw file and the OTF2 archive in a folder of its own. */
#include "config.h"
#include "include/VT.h"
#include "tests/bench/lib/bench.h"
#include "tests/bench/collector/bench_vt.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 31, CALLS = 100000, MOST = 5, THREADS = 2 };

static int handle[MOST], state;
static uint64_t value[MOST] = { 1, 2, 3, 4, 5 };

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Of processor time, which other programs disturb least; writing to the file included. */
static double thread_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double ours(int k)
{
	double t = thread_seconds();
	int i;

	for (i = 0; i < CALLS; i++) {
		value[0] = (uint64_t)i;
		VT_countval(k, handle, value);
	}
	return thread_seconds() - t;
}

static void countval(int k)
{
	double ratio[RUNS], mine[RUNS], theirs[RUNS];
	char name[60];
	int i;

	if (bench_vt_otf2_open((unsigned)k) != 0) {
		fprintf(stderr, "bench_vt: no OTF2 in this build: nothing to compare VT_countval with\n");
	}
	for (i = -3; i < RUNS; i++) {
		double a = ours(k), b = bench_vt_otf2(CALLS, (unsigned)k);

		if (i >= 0) {
			mine[i] = a / CALLS * 1e9;
			theirs[i] = b / CALLS * 1e9;
			ratio[i] = a / b;
		}
	}
	snprintf(name, sizeof(name), "vt.countval.k%d", k);
	bench_print(name, mine, RUNS, "ns");
	if (bench_vt_otf2_close() == 0) {
		snprintf(name, sizeof(name), "vt.countval.k%d.otf2", k);
		bench_print(name, theirs, RUNS, "ns");
		snprintf(name, sizeof(name), "vt.countval.k%d.ratio", k);
		bench_print(name, ratio, RUNS, "ratio");
	}
}

/* ---- over a bare reading of the counter ---- */

static void over_stamp(void)
{
#if defined(__x86_64__)
	double ratio[RUNS], t, a, b;
	uint64_t sum = 0;
	int i, k;

	for (i = -3; i < RUNS; i++) {
		a = ours(1);
		t = thread_seconds();
		for (k = 0; k < CALLS; k++) {
			sum += __builtin_ia32_rdtsc();
		}
		b = thread_seconds() - t;
		usleep(20000);
		if (i >= 0) {
			ratio[i] = a / b;
		}
	}
	__asm__ volatile("" : : "r"(sum));
	bench_print("vt.countval.k1.rdtsc.ratio", ratio, RUNS, "of a loop of rdtsc");
#endif
}

/* ---- threads ---- */

static pthread_barrier_t gate;

static void *worker(void *arg)
{
	uint64_t v = 0;
	int i;

	VT_wakeup(); /* registers */
	pthread_barrier_wait(&gate);
	for (i = 0; i < 10 * CALLS; i++) {
		v++;
		VT_countval(1, handle, &v);
	}
	(void)arg;
	return NULL;
}

/* Calls per second of n threads together. */
static double throughput(int n)
{
	pthread_t t[THREADS];
	double begin;
	int i;

	pthread_barrier_init(&gate, NULL, (unsigned)n + 1);
	for (i = 0; i < n; i++) {
		pthread_create(&t[i], NULL, worker, NULL);
	}
	pthread_barrier_wait(&gate);
	begin = now();
	for (i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
	}
	begin = now() - begin;
	pthread_barrier_destroy(&gate);
	return 10.0 * CALLS * n / begin;
}

static void threads(void)
{
	double ratio[RUNS / 3];
	int i;

	for (i = -1; i < RUNS / 3; i++) {
		double one = throughput(1), two = throughput(2);

		if (i >= 0) {
			ratio[i] = two / one;
		}
	}
	bench_print("vt.countval.threads", ratio, RUNS / 3, "ratio");
}

/* ---- off ---- */

/* Half of the calls enter a state, the others leave it. */
static double state_calls(void)
{
	double t = thread_seconds();
	int i, rc = VT_OK;

	for (i = 0; i < 10 * CALLS; i++) {
		rc |= VT_enter(state, VT_NOSCL);
		rc |= VT_leave(VT_NOSCL);
	}
	t = thread_seconds() - t;
	if (rc != VT_OK) {
		fprintf(stderr, "bench_vt: VT_enter or VT_leave fails\n");
		exit(1);
	}
	return t;
}

static double empty_calls(void)
{
	double t = thread_seconds();
	int i, rc = 0;

	for (i = 0; i < 10 * CALLS; i++) {
		rc |= bench_vt_empty(state, VT_NOSCL);
		rc |= bench_vt_empty(state, VT_NOSCL);
	}
	return rc ? NAN : thread_seconds() - t;
}

static void off(void)
{
	double ratio[RUNS], mine[RUNS], empty[RUNS];
	int i;

	VT_traceoff();
	for (i = -3; i < RUNS; i++) {
		double a = state_calls(), b = empty_calls();

		if (i >= 0) {
			mine[i] = a / (20 * CALLS) * 1e9;
			empty[i] = b / (20 * CALLS) * 1e9;
			ratio[i] = a / b;
		}
	}
	VT_traceon();
	bench_print("vt.off", mine, RUNS, "ns");
	bench_print("vt.off.empty", empty, RUNS, "ns");
	bench_print("vt.off.ratio", ratio, RUNS, "ratio");
}

int main(void)
{
	char dir[] = "/tmp/bench_vt.XXXXXX", command[80], name[] = "a";
	int cls, i;

	if (!mkdtemp(dir) || chdir(dir) != 0) {
		perror(dir);
		return 1;
	}
	setenv("VT_LOGFILE_NAME", "b.stf", 1);
	setenv("VT_LOGFILE_PREFIX", dir, 1);
	setenv("VT_FLUSH_PREFIX", dir, 1);
	setenv("VT_KEEP_RAW_EVENTS", "on", 1);
	/* "** off" would leave out the values that are measured here, too */
	setenv("VT_COUNTER_MIN_INTERVAL", "-1s", 1);
	setenv("VT_VERBOSE", "0", 1);
	setenv("VT_TIMER", "CPU", 0);
	if (VT_initialize(NULL, NULL) != VT_OK || VT_classdef("Bench", &cls) != VT_OK ||
		VT_funcdef("state", cls, &state) != VT_OK) {
		fprintf(stderr, "bench_vt: the collector does not start\n");
		return 1;
	}
	for (i = 0; i < MOST; i++, name[0]++) {
		VT_countdef(name, cls, VT_COUNT_INTEGER64, VT_ME, NULL, "#", &handle[i]);
	}
	countval(1);
	countval(5);
	over_stamp();
	threads();
	off();
	VT_finalize();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") == 0 && system(command) == 0 ? 0 : 1;
}
