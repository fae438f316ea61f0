/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated clock errs as its text says, each time that it is opened. */
#include "config.h"
#include "timers/sources/sim.h"
#include "timers/sources/virtual.h"
#include "timers/timer.h"
#include "tests/lib/check.h"

static void simulated_clock_tells_its_lies_exactly(void)
{
	struct tmr_virtual v = { .now_ps = 7000000000000 };
	struct tkm_err err;
	struct tmr_timer *t = tmr_sim_wrap(
		tmr_virtual_open(&v), "offset=1ms,drift=50ppm,wobble=1ppm/60s,step=10us@5s,tick=1ns", 0, &err);
	double frac, want, got, dt;
	ltick_t zero, now;
	int i;

	CHECK(t != NULL, "%s", err.text);
	CHECK(strstr(t->name, "origin=7000000000000"), "%s", t->name);
	zero = ltick(7000000000);
	for (i = 0; i < 1000; i++) {
		dt = 120 * check_uniform();
		v.now_ps = 7000000000000 + (int64_t)(dt * 1e12);
		dt = (double)(v.now_ps - 7000000000000) * 1e-12;
		want = dt + 1e-3 + 50e-6 * dt + 1e-6 * 60 / (2 * M_PI) * (1 - cos(2 * M_PI * dt / 60)) +
			(dt >= 5 ? 10e-6 : 0);
		now = tmr_read(t);
		got = (double)ltick_sub(now, zero) * 1e-9;
		CHECK_NEAR(got, want - 0.5e-9, 0.51e-9); /* the grid cuts off up to one tick */
		got = (double)ltick_sub(tmr_sim_truth(t, v.now_ps, &frac), zero);
		CHECK_NEAR((got + frac) * 1e-9, want, 1e-12);
		CHECK_NEAR((double)(tmr_sim_base_at(t, now) - v.now_ps), 0, 1000); /* within its tick of 1 ns */
	}
	tmr_close(t);
}

static void simulated_clock_begins_anew(void)
{
	struct tmr_virtual v = { .now_ps = 7000000000000 };
	struct tkm_err err = { .text = "" };
	struct tmr_timer *t = tmr_sim_wrap(tmr_virtual_open(&v), "step=1ms@5s,tick=1ns", 0, &err), *same;
	int64_t origin = v.now_ps + 60000000000000;

	v.now_ps = origin; /* a minute on the way to where the clock is of use */
	CHECK(tmr_sim_restart(t, &err) == 0, "%s", err.text);
	CHECK(strcmp(t->name, "sim:step=1ms@5s,tick=1ns,origin=67000000000000") == 0, "%s", t->name);
	CHECK_NEAR((double)tmr_read(t).v, 67e9, 1);
	v.now_ps = origin + 4000000000000;
	CHECK_NEAR((double)tmr_read(t).v, 71e9, 1);
	v.now_ps = origin + 6000000000000;
	CHECK_NEAR((double)tmr_read(t).v, 73001e6, 1);
	same = tmr_sim_wrap(tmr_virtual_open(&v), t->name + strlen("sim:"), 0, &err);
	CHECK_NEAR((double)tmr_read(same).v, 73001e6, 1);
	CHECK(tmr_sim_restart(same, &err) == 0, "%s", err.text); /* its origin was given: it stays */
	CHECK_NEAR((double)tmr_read(same).v, 73001e6, 1);
	tmr_close(same);
	tmr_close(t);
	t = tmr_open("clock_monotonic", 0, &err);
	CHECK(tmr_sim_restart(t, &err) == 0, "%s", err.text);
	tmr_close(t);
}

static void simulated_clock_is_the_same_when_reopened(void)
{
	struct tkm_err err;
	struct tmr_timer *a = tmr_open("sim:base=clock_monotonic,drift={rank}0ppm,offset={rank}s,tick=7.3ns", 3, &err),
			 *b;
	double fa, fb;
	int64_t base;

	CHECK(a != NULL, "%s", err.text);
	CHECK(strstr(a->name, "drift=30ppm,offset=3s"), "%s", a->name);
	b = tmr_open(a->name, 0, &err);
	CHECK(b != NULL, "%s", err.text);
	base = tmr_read(tmr_sim_base(a)).v + 1000000007;
	CHECK_INT(tmr_sim_truth(a, base, &fa).v, tmr_sim_truth(b, base, &fb).v);
	CHECK_NEAR(fa, fb, 0);
	tmr_close(a);
	tmr_close(b);
}

static void noise_has_the_size_that_was_asked_for(void)
{
	struct tmr_virtual v = { 0 };
	struct tkm_err err;
	struct tmr_timer *t = tmr_sim_wrap(tmr_virtual_open(&v), "noise=5ns,seed=4,tick=1ps", 0, &err);
	double sum = 0, sq = 0;
	int i, n = 20000;

	for (i = 0; i < n; i++) {
		double e = (double)tmr_read(t).v * 1e-3; /* ns; the truth is 0 */

		CHECK(i > 0 || e != 0, "the first reading has no noise");
		sum += e;
		sq += e * e;
	}
	CHECK_NEAR(sum / n, 0, 0.15);
	CHECK_NEAR(sqrt(sq / n), 5, 0.15);
	tmr_close(t);
}

static void bad_simulations_are_refused(void)
{
	static const char *const bad[] = { "sim:base=sim", "sim:offset=1x", "sim:drift=2", "sim:wobble=1ppm",
		"sim:wobble=1ppm/0s", "sim:step=1us", "sim:tick=0", "sim:tick=-1ns", "sim:noise=-1ns", "sim:cores=x",
		"sim:early=-1us", "sim:seed=-1", "sim:colour=red", "sim:offset", "sim:,", "sim:base=sundial",
		("sim:step=1us@1s,step=1us@1s,step=1us@1s,step=1us@1s,step=1us@1s,step=1us@1s,"
		 "step=1us@1s,step=1us@1s,step=1us@1s") };
	struct tkm_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		CHECK(tmr_open(bad[i], 0, &err) == NULL, "%s was opened", bad[i]);
		CHECK(strlen(err.text) > 10, "%s: no reason", bad[i]);
	}
}

/* By how much a simulated clock is ahead of its base, at times before, within and after each of its errors. */
static void simulated_errors_are_as_written(void)
{
	const struct {
		const char *error;
		double at_s, ahead_s;
	} all[] = { { "slew=100ppm/1s/3s/5s", 0.5, 0 }, { "slew=100ppm/1s/3s/5s", 2, 100e-6 },
		{ "slew=100ppm/1s/3s/5s", 3, 200e-6 }, { "slew=100ppm/1s/3s/5s", 4, 100e-6 },
		{ "slew=100ppm/1s/3s/5s", 4.5, 50e-6 }, { "slew=100ppm/1s/3s/5s", 9, 0 },
		{ "slew=-100ppm/1s/3s/0s", 2, -100e-6 }, { "slew=-100ppm/1s/3s/0s", 9, -200e-6 },
		{ "slew=100ppm/1s/3s/0s,slew=50ppm/2s/4s/0s", 9, 300e-6 }, { "step=10us@2s", 1.9, 0 },
		{ "step=10us@2s", 2.1, 10e-6 }, { "offset=1ms,drift=20ppm", 3, 1e-3 + 60e-6 },
		{ "wobble=10ppm/8s", 2, 10e-6 * 8 / (2 * M_PI) }, { "wobble=10ppm/8s", 4, 2 * 10e-6 * 8 / (2 * M_PI) },
		{ "wobble=10ppm/8s", 8, 0 }, { "warm=10ppm/2s", 2, 10e-6 * 2 * exp(-1) } };
	struct tkm_err err = { .text = "" };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct tmr_timer *t;
		char name[200];
		double f, ahead;
		int64_t base;

		snprintf(name, sizeof(name), "sim:base=clock_monotonic,tick=1ns,origin=1000,%s", all[i].error);
		t = tmr_open(name, 0, &err);
		CHECK(t, "%s: %s", name, err.text);
		if (t) {
			base = (int64_t)llrint(1e9 * all[i].at_s);
			ahead = (double)ltick_sub(tmr_sim_truth(t, 1000 + base, &f), tmr_sim_truth(t, 1000, &f)) -
				(double)base;
			if (!strncmp(all[i].error, "offset", 6)) {
				ahead += 1e6; /* it is there from the beginning */
			}
			CHECK(fabs(ahead - 1e9 * all[i].ahead_s) < 2, "%s at %g s: %g ns ahead, want %g", all[i].error,
				all[i].at_s, ahead, 1e9 * all[i].ahead_s);
			tmr_close(t);
		}
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(simulated_clock_tells_its_lies_exactly);
	RUN(simulated_clock_begins_anew);
	RUN(simulated_clock_is_the_same_when_reopened);
	RUN(noise_has_the_size_that_was_asked_for);
	RUN(bad_simulations_are_refused);
	RUN(simulated_errors_are_as_written);
	return check_end();
}
