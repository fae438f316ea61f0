/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of reading a timer, against a bare loop in the same run, and the error of a frequency. */
#include "config.h"
#include "timers/freq.h"
#include "timers/sources/sim.h"
#include "timers/quality/tick.h"
#include "tests/bench/lib/bench.h"
#include "tests/lib/world.h"

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

		snprintf(spec, sizeof(spec), "sim:base=clock_monotonic_raw,drift=%.3fppm,tick=7.3ns,noise=5ns,seed=%d",
			ppm, i);
		t = tmr_open(spec, 0, &err);
		if (!t || tmr_freq_measure(t, 1, &f, &err) < 0) {
			fprintf(stderr, "bench_timers: %s\n", err.text);
			exit(1);
		}
		error[i] = fabs(f.hz / (t->hz * (1 + ppm * 1e-6)) - 1) * 1e6;
		bound[i] = f.compare_ppm;
		tmr_close(t);
	}
	bench_print("timer.freq.error", error, RUNS, "ppm");
	bench_print("timer.freq.bound", bound, RUNS, "ppm");
}

/* The step of a clock that fenced reads show here: the smallest distance between increments that occur often. */
static double step_of_cpu(struct tmr_timer *t)
{
	enum { N = 1 << 16, MOST = 4096 };
	static unsigned often[MOST];
	ltick_t last = tmr_read_ordered(t);
	double sum = 0, k = 0;
	int i, first = 0;

	for (i = 0; i < N; i++) {
		ltick_t v = tmr_read_ordered(t);
		int64_t d = ltick_sub(v, last);
		volatile int spin = i % 40;

		while (spin > 0) {
			spin--;
		}
		often[d >= 0 && d < MOST ? d : 0]++;
		last = v;
	}
	/* neighbours are one increment, rounded; the first two groups are one step apart, or as far as they are from 0 */
	for (i = 1; i < MOST && k < 2; i++) {
		double n = 0, s = 0;

		for (; i < MOST && often[i] > N / 2000; i++) {
			n += often[i];
			s += (double)often[i] * i;
		}
		if (n > 0) {
			sum = s / n - sum;
			first = k++ == 0 ? (int)lround(s / n) : first;
		}
	}
	return k == 2 ? fmin(sum, first) : 1;
}

enum { STARTS = 100 };

static void print_right(const char *name, int right, int starts)
{
	printf("clock.tick.%s.right\t%d\tof %d\t%d\t%d\t1\n", name, right, starts, right, right);
}

/* How many of 100 starts find the step of a real timer to 5 %. */
static int tick_of_real(const char *timer, double step_s)
{
	double found[STARTS];
	struct tkm_err err;
	char row[64];
	int i, right = 0;

	for (i = 0; i < STARTS; i++) {
		struct tmr_timer *t = tmr_open(timer, i, &err);
		struct tmr_grid g = { .ticks = 0 };

		if (!t || tmr_tick_measure(t, TMR_TICK_BUDGET_S, NULL, &g, &err) < 0) {
			fprintf(stderr, "bench_timers: %s\n", err.text);
			exit(1);
		}
		found[i] = g.ticks / t->hz * 1e9;
		right += fabs(found[i] / (step_s * 1e9) - 1) <= 0.05;
		tmr_close(t);
	}
	snprintf(row, sizeof(row), "clock.tick.%s", timer);
	bench_print(row, found, STARTS, "ns");
	print_right(timer, right, STARTS);
	return right;
}

/* The same of a simulated one whose reads take an unsteady time, interrupted after every 0.3 ms or so. */
static int tick_of_simulated(const char *name, const char *spec, int64_t cost_ps, double step_s)
{
	double found[STARTS];
	struct tkm_err err;
	char row[64];
	int i, right = 0;

	for (i = 0; i < STARTS; i++) {
		struct world w = { .now_ps = 1000000000000 + 987654321 * (int64_t)i,
			.cost_ps = cost_ps,
			.stretch_ps = 300000000,
			.random = 4711 + (uint64_t)i };
		struct tmr_timer *wall = world_open(&w), *t = tmr_sim_wrap(world_open(&w), spec, i, &err);
		struct tmr_grid g = { .ticks = 0 };

		if (!wall || !t || tmr_tick_measure(t, TMR_TICK_BUDGET_S, wall, &g, &err) < 0) {
			fprintf(stderr, "bench_timers: %s\n", err.text);
			exit(1);
		}
		found[i] = g.ticks / t->hz * 1e9;
		right += fabs(found[i] / (step_s * 1e9) - 1) <= 0.05;
		tmr_close(t);
		tmr_close(wall);
	}
	snprintf(row, sizeof(row), "clock.tick.%s", name);
	bench_print(row, found, STARTS, "ns");
	print_right(name, right, STARTS);
	return right;
}

static void ticks(void)
{
	static const struct {
		const char *name, *spec;
		int64_t cost_ps;
		double step_s;
		/* clang-format off */
	} kinds[] = {
		{ "epyc", "tick=0.409ns,coarse=10ns,bump=on,offset={rank}ns", 10000, 10e-9 },
		{ "xeon", "tick=0.5ns,coarse=10ns,offset={rank}ns", 10000, 10e-9 },
		{ "xeon.22", "tick=0.444444ns,coarse=10ns,offset={rank}ns", 10000, 10e-9 },
		{ "arm", "tick=16ns,offset={rank}ns", 15000, 16e-9 },
		{ "arm.fast", "tick=16ns,offset={rank}ns", 6000, 16e-9 },
		{ "1us", "tick=1ns,coarse=1us,offset={rank}ns", 20000, 1e-6 },
		{ "1us.bump", "tick=1ns,coarse=1us,bump=on,offset={rank}ns", 20000, 1e-6 },
	};
	/* clang-format on */
	struct tmr_timer *cpu = tmr_open("CPU", 0, NULL);
	int right = 0, starts = STARTS;
	size_t k;

	if (cpu && cpu->hz > 0) {
		right += tick_of_real("CPU", step_of_cpu(cpu) / cpu->hz);
		starts += STARTS;
	}
	right += tick_of_real("gettimeofday", 1e-6);
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		right += tick_of_simulated(kinds[k].name, kinds[k].spec, kinds[k].cost_ps, kinds[k].step_s);
		starts += STARTS;
	}
	tmr_close(cpu);
	print_right("all", right, starts);
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
	ticks();
	return 0;
}
