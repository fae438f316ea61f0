/* SPDX-License-Identifier: BSD-3-Clause */
/* Proves that all processing units of a node read one clock; see timers/quality/prove.h. */
#include "config.h"
#include "timers/quality/prove.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/least.h"
#include "timers/quality/core_pair.h"
#include "timers/cpu_hz.h"
#include "timers/freq.h"
#include "timers/quality/tick.h"

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Measures the first unit with each other unit. Stops at one that is not "together" with the first: the proof has
 * failed then. */
static void all_units(struct tmr_pair_test *test, double until, struct tmr_proof *p)
{
	int first = tmr_pair_test_unit(test, -1), unit;
	double largest = 0, second = 0;

	p->units = p->proven = 1;
	for (unit = tmr_pair_test_unit(test, first); unit >= 0; unit = tmr_pair_test_unit(test, unit)) {
		p->units++;
	}
	for (unit = tmr_pair_test_unit(test, first); unit >= 0; unit = tmr_pair_test_unit(test, unit)) {
		struct tmr_core_pair pair;
		double end;

		tmr_pair_measure(test, (unsigned)first, (unsigned)unit, until - seconds_now(), &pair);
		if (pair.result != TMR_PAIR_TOGETHER) {
			p->apart += pair.result == TMR_PAIR_APART;
			break;
		}
		end = tkm_most(-pair.low_s, pair.high_s);
		second = tkm_most(second, tkm_least(largest, end));
		largest = tkm_most(largest, end);
		p->line_s = tkm_most(p->line_s, pair.line_s);
		p->proven++;
	}
	p->one_clock = p->proven == p->units;
	p->within_s = largest + second;
}

int tmr_prove_one_clock(
	struct tmr_timer *t, double effective_tick_s, double budget_s, struct tmr_proof *p, struct tkm_err *err)
{
	double begin = seconds_now();
	struct tmr_pair_test *test;

	memset(p, 0, sizeof(*p));
	test = tmr_pair_test_begin(t, effective_tick_s, err);
	if (!test) {
		return -1;
	}
	all_units(test, begin + budget_s, p);
	tmr_pair_test_end(test);
	p->seconds = seconds_now() - begin;
	return 0;
}

/* NULL: no timer is as good as the kernel's clock. */
static struct tmr_timer *kernels_counter(void)
{
	struct tmr_timer *cpu = tmr_cpu_invariant() ? tmr_open("CPU", 0, NULL) : NULL;
	int root = tkm_root_open("/");

	if (cpu && !(cpu->hz > 0 && cpu->shareable && tmr_is_kernels_counter(cpu, root))) {
		tmr_close(cpu);
		cpu = NULL;
	}
	close(root);
	return cpu;
}

int tmr_counter_is_kernels(void)
{
	struct tmr_timer *cpu = kernels_counter();

	tmr_close(cpu);
	return cpu != NULL;
}

int tmr_counter_is_proven(double budget_s)
{
	struct tmr_timer *cpu = kernels_counter();
	struct tmr_proof proof;
	struct tmr_grid g;
	int yes = cpu && tmr_tick_measure(cpu, TMR_TICK_BUDGET_S, NULL, &g, NULL) == 0 &&
		tmr_prove_one_clock(cpu, g.lag_ticks / cpu->hz, budget_s, &proof, NULL) == 0 && proof.one_clock;

	tmr_close(cpu);
	return yes;
}
