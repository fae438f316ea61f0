/* SPDX-License-Identifier: BSD-3-Clause */
/* The frequency of a timer, measured beside another one. */
#include "config.h"
#include "timers/freq.h"
#include "timers/sources/sim.h"
#include "timers/sources/virtual.h"
#include "timers/timer.h"
#include "tests/lib/check.h"

#include <unistd.h>

/* A frequency measured over one second of virtual time, against a reference with a grid and reads that
 * take an unsteady time, some of them preempted. */
static void frequency_is_found_within_a_tenth_ppm(void)
{
	struct tkm_err err;
	int round;

	for (round = 0; round < 40; round++) {
		struct tmr_virtual v = { .now_ps = 1000000000 };
		struct tmr_timer *virt = tmr_virtual_open(&v);
		struct tmr_timer *ref;
		double ppm = 200 * (check_uniform() - 0.5), tick = 0.3 + 9 * check_uniform();
		/* every third reference is off itself, by no more than it says */
		double own = round % 3 ? 0 : 80, off = own * (2 * check_uniform() - 1);
		struct tmr_reference what = { .error_ppm = own, .certain = 1 };
		struct tmr_freq_run *run;
		struct tmr_freq f;
		struct tmr_timer *t;
		char spec[96];
		double error;
		int i;

		snprintf(spec, sizeof(spec), "tick=10ns,drift=%.6fppm", off);
		what.timer = ref = tmr_sim_wrap(tmr_virtual_open(&v), spec, 0, &err);
		snprintf(spec, sizeof(spec), "drift=%.6fppm,tick=%.3fns,noise=2ns,seed=%d", ppm, tick, round);
		t = tmr_sim_wrap(tmr_virtual_open(&v), spec, 0, &err);
		CHECK(ref && t, "%s", err.text);
		run = tmr_freq_begin(t, &what, &err);
		for (i = 0; i < 64; i++) {
			v.now_ps += 15625000000; /* 1 s in 64 steps */
			v.read_cost_ps = 20000 + (int64_t)(5000 * check_uniform());
			if (check_random() % 5 == 0) {
				v.read_cost_ps = 8000000000; /* every read of this bracket is interrupted */
			}
			tmr_freq_sample(run);
		}
		CHECK(tmr_freq_end(run, &f, &err) == 0, "%s", err.text);
		error = (f.hz / (t->hz * (1 + ppm * 1e-6)) - 1) * 1e6;
		CHECK(fabs(error) <= f.bound_ppm, "%s: %g ppm off, bound %g", spec, error, f.bound_ppm);
		CHECK(f.certain && !f.same_counter, "certain %d, same counter %d", f.certain, f.same_counter);
		/* by that reference a fast clock is one that a slow reference makes fast */
		error = (f.hz / (t->hz * (1 + ppm * 1e-6) / (1 + off * 1e-6)) - 1) * 1e6;
		CHECK(fabs(error) <= 0.1, "%s: %g ppm off", spec, error);
		CHECK(fabs(error) <= f.compare_ppm, "%s: %g ppm off, compared to %g", spec, error, f.compare_ppm);
		CHECK(f.compare_ppm < 0.5, "the bound %g says nothing", f.compare_ppm);
		CHECK(fabs(error) <= 6 * f.se_ppm + 0.005, "%s: %g ppm off, standard error %g", spec, error, f.se_ppm);
		tmr_close(t);
		tmr_close(ref);
		tmr_close(virt);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(frequency_is_found_within_a_tenth_ppm);
	return check_end();
}
