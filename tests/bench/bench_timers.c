/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of reading a timer, against a bare loop in the same run, and the error of a frequency. */
#include "config.h"
#include "timers/freq.h"
#include "timers/sim.h"
#include "timers/timer_private.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 301, READS = 5000 };

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double table_loop(struct tmr_timer *t, int ordered)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < READS; i++) {
		ltick_t v = ordered ? tmr_read_ordered(t) : tmr_read(t);

		__asm__ volatile("" : : "r"(v.v));
	}
	return (now_ns() - begin) / READS;
}

#if TMR_HAVE_COUNTER
static double bare_loop(void)
{
	double begin = now_ns();
	int i;

	for (i = 0; i < READS; i++) {
		int64_t v = tmr_counter();

		__asm__ volatile("" : : "r"(v));
	}
	return (now_ns() - begin) / READS;
}
#endif

static double gettime_loop(void)
{
	struct timespec ts;
	double begin = now_ns();
	int i;

	for (i = 0; i < READS; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		__asm__ volatile("" : : "r"(ts.tv_nsec));
	}
	return (now_ns() - begin) / READS;
}

/* The two loops in turn; ratio round by round, because the machine's speed drifts. */
static void ratio(const char *name, struct tmr_timer *t, double (*other)(void))
{
	static double r[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		double a, b;

		if (i & 1) {
			a = table_loop(t, 0);
			b = other();
		} else {
			b = other();
			a = table_loop(t, 0);
		}
		r[i] = a / b;
	}
	bench_print(name, r, ROUNDS, "ratio");
}

static void cost(const char *timer, void *ctx)
{
	static double v[ROUNDS];
	struct tmr_timer *t = tmr_open(timer, 0, NULL);
	char name[64];
	int i, ordered;

	(void)ctx;
	for (ordered = 0; t && ordered < 2; ordered++) {
		for (i = 0; i < ROUNDS; i++) {
			v[i] = table_loop(t, ordered);
		}
		snprintf(name, sizeof(name), "timer.read%s.%s", ordered ? ".ordered" : "", timer);
		bench_print(name, v, ROUNDS, "ns");
	}
	tmr_close(t);
}

/* Truth is known: the clock wraps the very reference that the frequency is measured against. */
static void frequency(void)
{
	enum { RUNS = 9 };
	double error[RUNS], bound[RUNS];
	struct tkm_err err;
	struct tmr_freq f;
	int i;

	for (i = 0; i < RUNS; i++) {
		double ppm = -40 + 13.7 * i;
		char spec[128];
		struct tmr_timer *t;

		snprintf(spec, sizeof(spec), "sim:base=clock_monotonic_raw,drift=%.3fppm,tick=7.3ns,noise=5ns,seed=%d", ppm, i);
		t = tmr_open(spec, 0, &err);
		if (!t || tmr_freq_measure(t, 1, &f, &err) < 0) {
			fprintf(stderr, "bench_timers: %s\n", err.text);
			exit(1);
		}
		error[i] = fabs(f.hz / (t->hz * (1 + ppm * 1e-6)) - 1) * 1e6;
		bound[i] = f.bound_ppm;
		tmr_close(t);
	}
	bench_print("timer.freq.error", error, RUNS, "ppm");
	bench_print("timer.freq.bound", bound, RUNS, "ppm");
}

int main(void)
{
	struct tmr_timer *cpu = tmr_open("CPU", 0, NULL), *norm = tmr_open("CPU_Norm", 0, NULL);

	tmr_each_available(cost, NULL);
#if TMR_HAVE_COUNTER
	if (cpu) {
		ratio("timer.read.CPU.ratio", cpu, bare_loop);
	}
#endif
	if (norm) {
		ratio("timer.read.CPU_Norm.ratio", norm, gettime_loop);
	}
	tmr_close(cpu);
	tmr_close(norm);
	frequency();
	return 0;
}
