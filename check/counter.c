/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that read the clock under test: cost, tick, backward steps, cores, rate. */
#include "config.h"
#include "check/check.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/rootfs.h"
#include "base/stats.h"
#include "base/text/text.h"
#include "timers/quality/core_pair.h"
#include "timers/freq.h"
#include "timers/quality/tick.h"

enum { CHUNKS = 41, READS = 500 };

/* Median seconds per call, over CHUNKS of READS calls each; the slowest half of the chunks may have been disturbed. */
static double cost(void (*call)(void *ctx), void *ctx)
{
	double s[CHUNKS];
	int i, k;

	for (i = 0; i < CHUNKS; i++) {
		struct timespec a, b;

		clock_gettime(CLOCK_MONOTONIC_RAW, &a);
		for (k = 0; k < READS; k++) {
			call(ctx);
		}
		clock_gettime(CLOCK_MONOTONIC_RAW, &b);
		s[i] = ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec)) / READS;
	}
	tkm_sort(s, CHUNKS);
	return tkm_quantile(s, CHUNKS, 0.25);
}

static void call_timer(void *ctx)
{
	tmr_read(ctx);
}

static void call_library(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &t);
}

static void call_kernel(void *ctx)
{
	struct timespec t;

	(void)ctx;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
}

void chk_clock_cost(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	double s = cost(call_timer, m->timer);

	(void)limit;
	chk_value(r, s, "a reading of %s", m->timer->name);
}

void chk_clock_vdso(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	double library = cost(call_library, NULL), kernel = cost(call_kernel, NULL);
	char a[32], b[32];

	(void)m;
	(void)limit;
	chk_print_value(a, sizeof(a), CHK_SECONDS, library);
	chk_print_value(b, sizeof(b), CHK_SECONDS, kernel);
	chk_value(r, library > 0.7 * kernel, "clock_gettime() takes %s, a system call %s", a, b);
}

/* Does the clock move at all? Reads it for at most 20 ms. */
static int clock_advances(const struct chk_machine *m)
{
	struct timespec a, b;
	int64_t first = tmr_read_ordered(m->timer).v;

	clock_gettime(CLOCK_MONOTONIC_RAW, &a);
	do {
		if (tmr_read_ordered(m->timer).v != first) {
			return 1;
		}
		clock_gettime(CLOCK_MONOTONIC_RAW, &b);
	} while ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < 20e-3);
	return 0;
}

void chk_clock_tick(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	struct tmr_grid grid;
	struct tkm_err err;

	(void)limit;
	if (!clock_advances(m)) {
		chk_value(r, INFINITY, "%s stands still: it did not move in 20 ms", m->timer->name);
	} else if (tmr_tick_measure(m->timer, TMR_TICK_BUDGET_S, NULL, &grid, &err) < 0) {
		chk_unknown(r, "%.180s", err.text);
	} else if (isnan(tmr_period(m->timer))) {
		chk_unknown(r, "the rate of %s is unknown", m->timer->name);
	} else {
		chk_value(r, grid.lag_ticks * tmr_period(m->timer), "%s moves in steps of that", m->timer->name);
	}
}

/* Moves the thread to each allowed unit in turn, and takes a few thousand readings on each. */
void chk_clock_monotonic(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	struct tkm_cpus all = { .set = NULL };
	int64_t last = tmr_read_ordered(m->timer).v, worst = 0;
	long backward = 0, readings = 0;
	int unit, round, k, units = 0;

	(void)limit;
	if (tkm_cpus_own(&all) < 0) {
		chk_unknown(r, "the system does not say on which processing units this program may run");
		return;
	}
	for (round = 0; round < 3; round++) {
		for (unit = tkm_cpus_next(&all, -1), units = 0; unit >= 0 && units < 256;
			unit = tkm_cpus_next(&all, unit)) {
			if (tkm_cpus_bind_to((unsigned)unit) < 0) {
				continue;
			}
			units++;
			for (k = 0; k < 2000; k++, readings++) {
				int64_t now = tmr_read_ordered(m->timer).v;

				backward += now < last;
				worst = now - last < worst ? now - last : worst;
				last = now;
			}
		}
	}
	tkm_cpus_bind(&all);
	tkm_cpus_free(&all);
	if (backward) {
		chk_value(r, (double)backward,
			"of %ld readings on %d processing units so many went back, by up to %.3g ns", readings, units,
			-1e9 * (double)worst * tmr_period(m->timer));
	} else {
		chk_value(r, 0, "no reading of %ld on %d processing units went back", readings, units);
	}
}

void chk_tsc_invariant(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	(void)limit;
	if (m->env.tsc_invariant < 0) {
		chk_absent(r, "no counter whose rate could vary (%s)", m->env.counter);
	} else {
		chk_value(r, !m->env.tsc_invariant, "the processor says that its counter is %s",
			m->env.tsc_invariant ? "invariant" : "not invariant");
	}
}

/* Compares every unit with unit 0 only: the difference of two others follows. Does so twice, with a pause, so that
 * different rates show. */
static void judge_pairs(const struct tmr_core_pair *p, int n, struct chk_result *r)
{
	double apart = 0, within = 0;
	int i, known = 0, contradictions = 0, a = 0, b = 0;

	for (i = 0; i < n; i++) {
		double away = p[i].low_s > 0 ? p[i].low_s : p[i].high_s < 0 ? -p[i].high_s : 0;

		contradictions += p[i].result == TMR_PAIR_CONTRADICTION;
		known += p[i].measured && p[i].result != TMR_PAIR_UNKNOWN;
		if (p[i].measured) {
			within = fmax(within, fmax(fabs(p[i].low_s), fabs(p[i].high_s)));
		}
		if (p[i].measured && away > apart) {
			apart = away;
			a = (int)p[i].pu_a;
			b = (int)p[i].pu_b;
		}
	}
	if (contradictions) {
		chk_value(r, INFINITY, "no constant offset explains what %d of %d pairs of processing units showed",
			contradictions, n);
	} else if (apart > 0) {
		chk_value(r, apart, "units %d and %d differ by at least that", a, b);
	} else if (known < n) {
		chk_unknown(
			r, "%d of %d pairs could not be measured in the time, the machine is too busy", n - known, n);
	} else {
		chk_value(r, 0, "%d pair%s of units agree%s within %.3g ns", n, n == 1 ? "" : "s", n == 1 ? "s" : "",
			tkm_round_up(1e9 * within, 3, 'g'));
		chk_uncertain(r, 0, within);
	}
}

enum { MOST_PAIRS = 255 };
static const double cross_core_s = 0.4;

static void measure_core_pairs(struct tmr_pair_test *test, double limit_s, struct tmr_core_pair *p, int n, int again)
{
	struct timespec a, b;
	int i;

	clock_gettime(CLOCK_MONOTONIC_RAW, &a);
	for (i = 0; i < n; i++) {
		struct tmr_core_pair now = { .pu_a = p[i].pu_a, .pu_b = p[i].pu_b };
		double left;

		clock_gettime(CLOCK_MONOTONIC_RAW, &b);
		left = cross_core_s - ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
		if (left <= 0) {
			break;
		}
		tmr_pair_measure(test, p[i].pu_a, p[i].pu_b, fmin(left, 0.1), &now);
		now.result = tmr_pair_judge(&now, limit_s);
		if (again) {
			tmr_pair_combine(&p[i], &now, limit_s);
		} else {
			p[i] = now;
		}
	}
}

void chk_tsc_cross_core(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	static const struct timespec pause = { 0, 200000000 };
	struct tmr_core_pair p[MOST_PAIRS] = { { 0 } };
	struct tmr_grid grid;
	struct tmr_pair_test *test;
	struct tkm_err err;
	double tick_s, limit_s;
	int first, unit, n = 0;

	(void)limit;
	if (!clock_advances(m) || tmr_tick_measure(m->timer, TMR_TICK_BUDGET_S, NULL, &grid, &err) < 0) {
		chk_unknown(r, "%s does not move", m->timer->name);
		return;
	}
	tick_s = grid.lag_ticks * tmr_period(m->timer);
	limit_s = tmr_pair_limit(tick_s);
	test = tmr_pair_test_begin(m->timer, tick_s, &err);
	if (!test) {
		chk_unknown(r, "%.180s", err.text);
		return;
	}
	first = tmr_pair_test_unit(test, -1);
	for (unit = tmr_pair_test_unit(test, first); unit >= 0 && n < MOST_PAIRS;
		unit = tmr_pair_test_unit(test, unit)) {
		p[n].pu_a = (unsigned)first;
		p[n++].pu_b = (unsigned)unit;
	}
	measure_core_pairs(test, limit_s, p, n, 0);
	if (n) {
		nanosleep(&pause, NULL);
		measure_core_pairs(test, limit_s, p, n, 1);
	}
	tmr_pair_test_end(test);
	if (n) {
		judge_pairs(p, n, r);
	} else {
		chk_absent(r, "this program may use one processing unit only");
	}
}

void chk_tsc_rate_error(struct chk_machine *m, const struct chk_limit *limit, struct chk_result *r)
{
	struct tmr_freq f;
	struct tkm_err err;
	char to[32];
	double ppm;

	(void)limit;
	if (!(m->timer->hz > 0)) {
		chk_unknown(r, "the nominal rate of %s is unknown", m->timer->name);
	} else if (!clock_advances(m)) {
		chk_unknown(r, "%s does not move", m->timer->name);
	} else if (tmr_freq_measure(m->timer, 0.3, &f, &err) < 0) {
		chk_unknown(r, "%.180s", err.text);
	} else {
		ppm = 1e6 * fabs(f.hz / m->timer->hz - 1);
		chk_value(r, fmax(0, ppm - f.compare_ppm), "%s runs at %.6f MHz by %.40s (to %s), %.40s says %.6f MHz",
			m->timer->name, 1e-6 * f.hz, f.reference,
			chk_print_value(to, sizeof(to), CHK_PPM, f.compare_ppm), m->timer->hz_from,
			1e-6 * m->timer->hz);
		chk_uncertain(r, ppm, f.compare_ppm);
	}
}
