/* SPDX-License-Identifier: BSD-3-Clause */
/* The offset of two processing units' clocks: what follows from an interval, and whether measured intervals contain the offset
 * that a simulated clock has. */
#include "config.h"
#include "timers/quality/core_pair.h"
#include "tests/lib/check.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

static const double limit_s = 1e-6;

static struct tmr_core_pair known(double low_ns, double high_ns)
{
	struct tmr_core_pair p = {
		.measured = 1, .low_s = low_ns * 1e-9, .high_s = high_ns * 1e-9, .line_s = 1e-7, .readings = 1
	};

	p.result = tmr_pair_judge(&p, limit_s);
	p.contradictions = p.result == TMR_PAIR_CONTRADICTION;
	return p;
}

static void an_interval_is_judged(void)
{
	static const struct {
		double low_ns, high_ns;
		enum tmr_pair_result want;
		/* clang-format off */
	} all[] = {
		{ -90, 380,
			TMR_PAIR_TOGETHER }, /* ways of different length say nothing about the clocks */
		{ -95, 104, TMR_PAIR_TOGETHER },
		{ 0, 0, TMR_PAIR_TOGETHER },
		{ 0, 200, TMR_PAIR_TOGETHER },
		{ -200, 0, TMR_PAIR_TOGETHER },
		{ -999, 999, TMR_PAIR_TOGETHER },
		{ -1001, 999, TMR_PAIR_UNKNOWN },
		{ -90, 1001, TMR_PAIR_UNKNOWN },
		{ -2.8e6, 4.0e6, TMR_PAIR_UNKNOWN },
		{ 1, 200, TMR_PAIR_APART },
		{ -200, -1, TMR_PAIR_APART },
		{ 900, 1100, TMR_PAIR_APART },
		{ 5e8, 6e9, TMR_PAIR_APART },
		{ 1, -1, TMR_PAIR_CONTRADICTION },
		{ 500, 400, TMR_PAIR_CONTRADICTION },
		{ -400, -500, TMR_PAIR_CONTRADICTION },
		{ NAN, NAN, TMR_PAIR_UNKNOWN },
	};
	/* clang-format on */
	struct tmr_core_pair none = { .low_s = 1, .high_s = 2 };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tmr_core_pair p = known(all[i].low_ns, all[i].high_ns);

		CHECK(p.result == all[i].want, "[%g, %g] ns: %s, expected %s", all[i].low_ns, all[i].high_ns,
			tmr_pair_name(p.result), tmr_pair_name(all[i].want));
	}
	CHECK(tmr_pair_judge(&none, limit_s) == TMR_PAIR_UNKNOWN, "what was not measured is known");
	CHECK_NEAR(tmr_pair_limit(0), 1e-6, 1e-15);
	CHECK_NEAR(tmr_pair_limit(20e-6), 41e-6, 1e-15);
}

static void two_measurements_are_combined(void)
{
	static const struct {
		double low[2], high[2];
		enum tmr_pair_result want;
		double want_low, want_high;
		int contradictions;
		/* clang-format off */
	} all[] = {
		{ { -5000, -90 }, { 100, 8000 }, TMR_PAIR_TOGETHER, -90, 100, 0 },
		{ { -5000, -6000 }, { 5000, 4000 }, TMR_PAIR_UNKNOWN, -5000, 4000, 0 },
		{ { -5000, 50 }, { 100, 8000 }, TMR_PAIR_APART, 50, 100, 0 },
		{ { 900, -50 }, { 1100, 50 }, TMR_PAIR_CONTRADICTION, -50, 50, 1 },
		{ { -50, 900 }, { 50, 1100 }, TMR_PAIR_CONTRADICTION, 900, 1100, 1 },
		{ { 900, 2000 }, { 1100, 2100 }, TMR_PAIR_APART, 2000, 2100, 1 },
		{ { 1, -50 }, { -1, 50 }, TMR_PAIR_TOGETHER, -50, 50, 1 },
		{ { -50, 1 }, { 50, -1 }, TMR_PAIR_CONTRADICTION, 1, -1, 1 },
		{ { 1, 2 }, { -1, -2 }, TMR_PAIR_CONTRADICTION, 2, -2, 2 },
	};
	/* clang-format on */
	struct tmr_core_pair none = { .measured = 0 }, p;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tmr_core_pair later = known(all[i].low[1], all[i].high[1]);

		p = known(all[i].low[0], all[i].high[0]);
		tmr_pair_combine(&p, &later, limit_s);
		CHECK(p.result == all[i].want, "case %zu: %s, expected %s", i, tmr_pair_name(p.result),
			tmr_pair_name(all[i].want));
		CHECK_NEAR(p.low_s, all[i].want_low * 1e-9, 1e-15);
		CHECK_NEAR(p.high_s, all[i].want_high * 1e-9, 1e-15);
		CHECK_INT(p.contradictions, all[i].contradictions);
		CHECK_INT(p.readings, 2);
	}
	p = known(-50, 50);
	tmr_pair_combine(&p, &none, limit_s);
	CHECK(p.measured && p.result == TMR_PAIR_TOGETHER && fabs(p.high_s - 50e-9) < 1e-15,
		"a measurement that failed undoes nothing");
	p = none;
	none = known(900, 1000);
	tmr_pair_combine(&p, &none, limit_s);
	CHECK(p.measured && p.result == TMR_PAIR_APART && fabs(p.low_s - 900e-9) < 1e-15,
		"the first that succeeds counts");
}

/* Units whose clocks differ by less than a cache line's way may be together; where the line is quicker, they are certainly apart.
 * Both are right, and which of them comes out is the machine's business. */
static int right_result(double offset_s, enum tmr_pair_result result)
{
	double ns = fabs(offset_s) * 1e9;

	return (result == TMR_PAIR_APART && ns > 0) || (result == TMR_PAIR_TOGETHER && ns < 500);
}

/* The clock of unit n is ahead by n times `apart`. No wrong result, on a machine as busy as it may be; and the right one as soon as
 * two threads ran at the same time. */
static void offset_of_a_simulated_machine(const char *apart, double apart_s, int times)
{
	struct tkm_err err = { .text = "" };
	char name[64];
	struct tmr_timer *t;
	struct tmr_pair_test *test;
	int i, tries, found = 0;

	snprintf(name, sizeof(name), "sim:base=clock_monotonic_raw,cores=%s", apart);
	t = tmr_open(name, 0, &err);
	test = t ? tmr_pair_test_begin(t, 20e-9, &err) : NULL;
	CHECK(test, "%s", err.text);
	for (i = 0; test && i < times; i++) {
		int a = tmr_pair_test_unit(test, -1), b = tmr_pair_test_unit(test, a);
		struct tmr_core_pair p = { .measured = 0 };

		for (tries = 0; tries < 50 && !right_result((b - a) * apart_s, p.result); tries++) {
			struct tmr_core_pair one;

			tmr_pair_measure(test, (unsigned)a, (unsigned)b, 0.2, &one);
			CHECK(one.result != TMR_PAIR_CONTRADICTION &&
					(!one.measured ||
						(one.low_s <= (b - a) * apart_s + 1e-12 &&
							one.high_s >= (b - a) * apart_s - 1e-12)),
				"%s: %g s is not in [%g, %g]", name, (b - a) * apart_s, one.low_s, one.high_s);
			tmr_pair_combine(&p, &one, tmr_pair_limit(20e-9));
		}
		found += right_result((b - a) * apart_s, p.result);
	}
	/* where a sanitizer makes reading slow, an interval may stay too wide; tests/cli/timertest/cores.sh wants them all */
	CHECK(found >= times / 2, "%s: found in %d of %d", name, found, times);
	if (test) {
		tmr_pair_test_end(test);
	}
	tmr_close(t);
}

static void offsets_are_found(void)
{
	offset_of_a_simulated_machine("0ns", 0, 50);
	offset_of_a_simulated_machine("1us", 1e-6, 50);
	offset_of_a_simulated_machine("-1us", -1e-6, 20);
	offset_of_a_simulated_machine("70ns", 70e-9, 20);
	offset_of_a_simulated_machine("-2s", -2, 5);
}

static pthread_t caller;

/* A clock that takes 50 ms to read, but for the caller. */
static ltick_t read_slowly(struct tmr_timer *t)
{
	const struct timespec slow = { 0, 50000000 };
	struct timespec now;

	(void)t;
	if (!pthread_equal(pthread_self(), caller)) {
		nanosleep(&slow, NULL);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ltick((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

/* The time is over before the helper has been read once: no more than one try is made, and nothing is known. */
static void a_helper_that_is_slow_is_given_up(void)
{
	struct tmr_timer t = {
		.read = read_slowly, .read_ordered = read_slowly, .hz = 1e9, .shareable = 1, .name = "slow"
	};
	struct tkm_err err = { .text = "" };
	struct tmr_core_pair p;
	struct tmr_pair_test *test;
	int a, b;

	caller = pthread_self();
	test = tmr_pair_test_begin(&t, 1e-9, &err);
	CHECK(test, "%s", err.text);
	a = test ? tmr_pair_test_unit(test, -1) : 0;
	b = test ? tmr_pair_test_unit(test, a) : 0;
	if (test) {
		tmr_pair_measure(test, (unsigned)a, (unsigned)b, 0.005, &p);
		CHECK(!p.measured && p.result == TMR_PAIR_UNKNOWN && p.readings == 0, "%d readings, %s", p.readings,
			tmr_pair_name(p.result));
		tmr_pair_test_end(test);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(an_interval_is_judged);
	RUN(two_measurements_are_combined);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		RUN(offsets_are_found);
		RUN(a_helper_that_is_slow_is_given_up);
	} else {
		SKIP("offsets_are_found", "one processing unit");
		SKIP("a_helper_that_is_slow_is_given_up", "one processing unit");
	}
	return check_end();
}
