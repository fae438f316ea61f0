/* SPDX-License-Identifier: BSD-3-Clause */
/* The effective tick, for simulated clocks whose step is known, under interruptions, and for the clocks of this machine. */
#include "config.h"
#include "timers/quality/tick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/world.h"
#include "timers/sources/sim.h"
#include "timers/sources/virtual.h"

struct kind {
	const char *spec;
	double step_ticks;
	int64_t cost_ps;
	double most_s; /* that the measurement may take, undisturbed */
};

/* One start: 1 if the step that was found is right to 5 %. Interruptions every stretch_ps, 0: none; of up to off_ps, 0: of 8 ms. */
static int one_start(const struct kind *k, int64_t stretch_ps, int64_t off_ps, double *found)
{
	struct world w = { .now_ps = 1000000000000 + (int64_t)(check_random() % 1000000000000u),
		.cost_ps = k->cost_ps,
		.stretch_ps = stretch_ps,
		.off_ps = off_ps,
		.random = check_random() | 1 };
	struct tmr_timer *wall = world_open(&w), *t;
	struct tmr_grid g;
	struct tkm_err err;
	int64_t begin;
	double took;
	int rc;

	w.until_ps = w.now_ps + (stretch_ps ? (int64_t)(check_random() % (uint64_t)stretch_ps) : 0);
	t = tmr_sim_wrap(world_open(&w), k->spec, (int)(check_random() % 1000), &err);
	CHECK(t != NULL, "%s", err.text);
	begin = w.now_ps;
	rc = tmr_tick_measure(t, TMR_TICK_BUDGET_S, wall, &g, &err);
	took = (double)(w.now_ps - begin) * 1e-12;
	CHECK(rc == 0, "%s: %s", k->spec, rc < 0 ? err.text : "");
	if (!stretch_ps) {
		CHECK(took <= k->most_s, "%s: %.3f ms", k->spec, took * 1e3);
	}
	*found = g.ticks;
	CHECK(g.lag_ticks >= k->step_ticks * 0.999, "%s: %.4g ticks of lag are less than the step", k->spec,
		g.lag_ticks);
	tmr_close(t);
	tmr_close(wall);
	return fabs(g.ticks / k->step_ticks - 1) <= 0.05;
}

/* Twice 0.2 ms where the base is measured too. */
/* clang-format off */
static const struct kind kinds[] = {
	{ "tick=0.409ns,coarse=10ns,offset={rank}ns", 10 / 0.409, 8000, 0.5e-3 },           /* an EPYC's counter */
	{ "tick=0.409ns,coarse=10ns,bump=on,offset={rank}ns", 10 / 0.409, 8000, 0.5e-3 },
	{ "tick=0.409ns,coarse=10ns,bump=on,offset={rank}ns", 10 / 0.409, 3000, 0.5e-3 },   /* most reads answer with +1 */
	{ "tick=0.409ns,coarse=10ns,bump=on,offset={rank}ns", 10 / 0.409, 900000, 2e-3 },   /* reads that are trapped */
	{ "tick=0.5ns,coarse=10ns", 20, 8000, 0.5e-3 },                                     /* a Xeon's */
	{ "tick=0.444444ns,coarse=10ns", 22.5, 8000, 0.5e-3 },
	{ "tick=16ns", 1, 15000, 0.5e-3 },                                                  /* 62.5 MHz, counts by one */
	{ "tick=16ns", 1, 5000, 0.5e-3 },
	{ "tick=1ns,coarse=16ns,offset={rank}ns", 16, 15000, 0.5e-3 },                      /* the kernel's clock on it */
	{ "tick=1ns", 1, 20000, 0.5e-3 },
	{ "tick=1ns,coarse=10ns,offset={rank}ns", 10, 20000, 0.5e-3 },
	{ "tick=1ns,coarse=10ns,bump=on", 10, 4000, 0.5e-3 },
	{ "tick=1us", 1, 15000, 0.5e-3 },                                                   /* gettimeofday */
	{ "tick=1us,coarse=20us", 20, 15000, 0.6e-3 },
	{ "tick=1us,coarse=4ms", 4000, 15000, 13e-3 },
	{ "tick=1ns,coarse=1us,offset={rank}ns", 1000, 15000, 0.5e-3 },
	{ "tick=1ns,coarse=1us,bump=on,offset={rank}ns", 1000, 15000, 0.5e-3 },
	{ "tick=1ns,coarse=20us", 20000, 15000, 0.5e-3 },
	{ "tick=1ns,coarse=20us,bump=on,offset={rank}us", 20000, 15000, 0.5e-3 },
	{ "tick=1ns,coarse=1ms,offset={rank}us", 1e6, 15000, 5.5e-3 },
	{ "tick=1ns,coarse=1ms,bump=on,offset={rank}us", 1e6, 15000, 5.5e-3 },
	{ "tick=1ns,coarse=4ms,bump=on,offset={rank}us", 4e6, 15000, 13e-3 },
};
/* clang-format on */

/* How many of `starts` are right; *wrong is one of the others. */
static int count_right(const struct kind *k, int starts, int64_t stretch_ps, int64_t off_ps, double *wrong)
{
	int i, right = 0;
	double found;

	*wrong = NAN;
	for (i = 0; i < starts; i++) {
		int good = one_start(k, stretch_ps, off_ps, &found);

		right += good;
		*wrong = good ? *wrong : found;
	}
	return right;
}

static void step_is_found_in_every_start(void)
{
	double wrong;
	size_t k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		int starts = kinds[k].most_s > 1e-3 ? 4 : 40, right = count_right(&kinds[k], starts, 0, 0, &wrong);

		CHECK(right == starts, "%s: %d of %d right, not %g ticks", kinds[k].spec, right, starts, wrong);
	}
}

/* On the processor for 0.3 ms, then off it for up to 8 ms, again and again, also where the clock moves less often than that. */
static void interruptions_are_no_steps(void)
{
	double wrong;
	size_t k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		int starts = kinds[k].most_s > 1e-3 ? 10 : 20,
		    right = count_right(&kinds[k], starts, 300000000, 0, &wrong);

		CHECK(right == starts, "%s: %d of %d right, not %g ticks", kinds[k].spec, right, starts, wrong);
	}
}

/* 40 processes share the processor, each for 3 ms in turn. */
static void waiting_for_the_processor_is_no_step(void)
{
	double wrong;
	size_t k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		int right = count_right(&kinds[k], 10, 3000000000, 240000000000, &wrong);

		CHECK(right == 10, "%s: %d of 10 right, not %g ticks", kinds[k].spec, right, wrong);
	}
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The true step of a real clock is unknown, but each start must find the same. */
static void starts_on_this_machine_agree(const char *name, void *ctx)
{
	enum { STARTS = 30 };
	double found[STARTS], sorted[STARTS];
	struct tkm_err err;
	int i;

	(void)ctx;
	for (i = 0; i < STARTS; i++) {
		struct tmr_timer *t = tmr_open(name, 0, &err);
		struct tmr_grid g;

		CHECK(t && tmr_tick_measure(t, TMR_TICK_BUDGET_S, NULL, &g, &err) == 0, "%s: %s", name, err.text);
		sorted[i] = found[i] = g.ticks;
		tmr_close(t);
	}
	qsort(sorted, STARTS, sizeof(*sorted), by_value);
	for (i = 0; i < STARTS; i++) {
		CHECK_NEAR(found[i], sorted[STARTS / 2], 0.05 * sorted[STARTS / 2]);
	}
	printf("# %s: %.6g ticks\n", name, sorted[STARTS / 2]);
}

static void real_clocks_have_one_tick(void)
{
	tmr_each_available(starts_on_this_machine_agree, NULL);
}

static void clock_that_stands_has_no_tick(void)
{
	struct tmr_virtual v = { .now_ps = 5000000000 };
	struct tmr_timer *t = tmr_virtual_open(&v);
	struct tmr_grid g;
	struct tkm_err err = { .text = "" };

	CHECK(tmr_tick_measure(t, TMR_TICK_BUDGET_S, NULL, &g, &err) < 0, "%g ticks", g.ticks);
	CHECK(strstr(err.text, "did not move"), "%s", err.text);
	tmr_close(t);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(step_is_found_in_every_start);
	RUN(interruptions_are_no_steps);
	RUN(waiting_for_the_processor_is_no_step);
	RUN(real_clocks_have_one_tick);
	RUN(clock_that_stands_has_no_tick);
	return check_end();
}
