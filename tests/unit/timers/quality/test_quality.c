/* SPDX-License-Identifier: BSD-3-Clause */
/* The quality of a timer with errors that are known. */
#include "config.h"
#include "timers/quality/quality.h"
#include "timers/sources/sim.h"
#include "timers/sources/virtual.h"
#include "timers/timer.h"
#include "tests/lib/check.h"

#include <unistd.h>

static void quality_sees_what_was_injected(void)
{
	struct tmr_virtual v = { .now_ps = 7000000000000, .read_cost_ps = 50000 };
	struct tkm_err err;
	struct tmr_timer *t = tmr_open("sim:base=clock_monotonic_raw,tick=1us,drift=100ppm", 0, &err);
	struct tmr_quality q;

	CHECK(t && tmr_quality_measure(t, 0.5, 0, &q, &err) == 0, "%s", err.text);
	CHECK_INT(q.smallest_ticks, 1);
	CHECK_INT(q.backward, 0);
	CHECK(q.have_freq, "no frequency");
	/* the raw clock, which is the reference too, is not steered */
	CHECK_NEAR(q.freq.hz, 1e6 * (1 + 100e-6), q.freq.compare_ppm + 0.1);
	CHECK(!q.freq.certain && q.freq.same_counter && q.freq.bound_ppm > 99,
		"nobody keeps this reference: certain %d, %g ppm", q.freq.certain, q.freq.bound_ppm);
	CHECK(q.bin[0] == 0 && q.bin[1] + q.bin[2] > 0, "bins");
	tmr_close(t);

	/* a read that takes 50 ns on any machine */
	t = tmr_sim_wrap(tmr_virtual_open(&v), "tick=1us", 0, &err);
	CHECK(t && tmr_quality_measure(t, 0.1, 0, &q, &err) == 0, "%s", err.text);
	CHECK_INT(q.backward, 0);
	CHECK_NEAR((double)q.equal / (double)q.increments, 0.95, 0.001);
	CHECK_NEAR(q.grid.ticks, 1, 0);
	tmr_close(t);
	t = tmr_sim_wrap(tmr_virtual_open(&v), "noise=200ns,seed=9,tick=1ns", 0, &err);
	CHECK(t && tmr_quality_measure(t, 0.1, 0, &q, &err) == 0, "%s", err.text);
	/* differences of 50 ns with 283 ns of noise: 43 % are below 0 */
	CHECK_NEAR((double)q.backward / (double)q.increments, 0.43, 0.01);
	CHECK(q.worst_backward_ticks < -500, "worst step back %lld", (long long)q.worst_backward_ticks);
	CHECK_INT(q.bin[0], q.backward);
	tmr_close(t);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(quality_sees_what_was_injected);
	return check_end();
}
