/* SPDX-License-Identifier: BSD-3-Clause */
/* The short proof that a node's processing units read one clock: on clocks that are one, and on some that are not. */
#include "config.h"
#include "timers/quality/prove.h"
#include "tests/lib/check.h"

#include <sched.h>
#include <time.h>

static int64_t apart_ns; /* by so much the clocks of odd units are ahead */

static ltick_t read_units(struct tmr_timer *t)
{
	struct timespec ts;
	int unit = sched_getcpu();

	(void)t;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ltick((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec + (unit & 1 ? apart_ns : 0));
}

static struct tmr_timer units = { .read = read_units,
	.read_ordered = read_units,
	.hz = 1e9,
	.scope = TMR_SCOPE_CORE,
	.shareable = 1,
	.name = "units" };

static int several_units(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

/* The machine may be busy: a proof that ran out of time is made again. Neither result must ever be wrong. */
static int prove(double budget_s, struct tmr_proof *p)
{
	struct tkm_err err = { .text = "" };
	int i, rc = 0;

	for (i = 0; i < 60; i++) {
		rc = tmr_prove_one_clock(&units, 10e-9, budget_s, p, &err);
		CHECK(!(apart_ns ? p->one_clock : p->apart > 0), "%lld ns apart: %u of %u units proven, %u apart",
			(long long)apart_ns, p->proven, p->units, p->apart);
		if (rc < 0 || p->one_clock || p->apart) {
			break;
		}
	}
	CHECK(rc == 0, "%s", err.text);
	return rc;
}

static void one_clock_is_proven(void)
{
	cpu_set_t before, after;
	struct tmr_proof p;

	apart_ns = 0;
	sched_getaffinity(0, sizeof(before), &before);
	prove(1, &p);
	CHECK((int)p.units >= CPU_COUNT(&before), "%u of %d units are compared", p.units, CPU_COUNT(&before));
	CHECK(p.proven == p.units && p.units >= 1, "%u of %u units", p.proven, p.units);
	CHECK(p.one_clock, "one clock was taken for several, within %g s", p.within_s);
	CHECK(p.units == 1 || (p.within_s > 10e-9 && p.within_s <= 2 * 1.02e-6), "within %g s", p.within_s);
	sched_getaffinity(0, sizeof(after), &after);
	CHECK(CPU_EQUAL(&before, &after), "the process may not run where it might before");
}

static void several_clocks_are_not_one(void)
{
	static const int64_t sizes[] = { 1000, -2000, 100000, -100000, 1000000000 };
	struct tmr_proof p;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		apart_ns = sizes[i];
		prove(1, &p);
		CHECK(!p.one_clock && p.apart == 1, "clocks %lld ns apart: %u apart", (long long)sizes[i], p.apart);
		CHECK(p.proven < p.units, "%u of %u units", p.proven, p.units);
	}
	apart_ns = 0;
}

static void without_time_nothing_is_proven(void)
{
	struct tkm_err err = { .text = "" };
	struct tmr_proof p;

	CHECK(tmr_prove_one_clock(&units, 10e-9, 0, &p, &err) == 0, "%s", err.text);
	CHECK(!p.one_clock && p.proven < p.units, "%u of %u units in no time", p.proven, p.units);
}

static void clocks_that_cannot_be_compared_are_refused(void)
{
	struct tmr_timer alone = units;
	struct tkm_err err = { .text = "" };
	struct tmr_proof p;

	alone.shareable = 0;
	CHECK(tmr_prove_one_clock(&alone, 1e-9, 1, &p, &err) < 0 && strstr(err.text, "units"), "%s", err.text);
	alone.shareable = 1;
	alone.hz = 0;
	CHECK(tmr_prove_one_clock(&alone, 1e-9, 1, &p, &err) < 0, "a clock without a frequency");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(one_clock_is_proven);
	if (several_units()) {
		RUN(several_clocks_are_not_one);
		RUN(without_time_nothing_is_proven);
	} else {
		SKIP("several_clocks_are_not_one", "one processing unit");
		SKIP("without_time_nothing_is_proven", "one processing unit");
	}
	RUN(clocks_that_cannot_be_compared_are_refused);
	return check_end();
}
