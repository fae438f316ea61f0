/* SPDX-License-Identifier: BSD-3-Clause */
/* The frequency of the counter of the CPU, from the kernel and from measuring. */
#include "config.h"
#include "timers/cpu_hz.h"
#include "timers/freq.h"
#include "timers/sources/sim.h"
#include "timers/timer.h"
#include "tests/lib/check.h"

#include <linux/perf_event.h>

static void the_factors_of_the_kernel_are_a_frequency(void)
{
	/* 2.5 GHz: a cycle is 0.4 ns, in units of 2^-31 ns */
	struct perf_event_mmap_page p = { .time_mult = 858993459, .time_shift = 31 };

	CHECK_NEAR(tmr_hz_of_page(&p), 0, 0);
	p.cap_user_time = 1;
	CHECK_NEAR(tmr_hz_of_page(&p), 2.5e9, 1);
	p.time_mult = 0;
	CHECK_NEAR(tmr_hz_of_page(&p), 0, 0);
}

static void cpu_frequency_agrees_with_the_kernel(void)
{
	struct tkm_err err;
	struct tmr_timer *t = tmr_open("CPU", 0, &err), *n;
	struct tmr_freq f;
	const char *from;
	double kernel = tmr_kernel_hz(&from);

	if (!t) {
		return;
	}
	CHECK(tmr_freq_measure(t, 0.3, &f, &err) == 0, "%s", err.text);
	CHECK(f.hz > 1e6 && f.compare_ppm < 1000, "%g Hz +- %g ppm", f.hz, f.compare_ppm);
	if (kernel > 0) {
		/* the raw clock is the kernel's own conversion of this counter; bogomips is from before it was
		 * refined, by up to a hundredth (tsc_refine_calibration_work) */
		CHECK(fabs(f.hz / kernel - 1) * 1e6 < (strstr(from, "bogomips") ? 10000 : 1) + f.compare_ppm,
			"measured %.3f, kernel %.3f", f.hz, kernel);
	}
	n = tmr_open("CPU_Norm", 0, &err);
	CHECK(n && tmr_freq_measure(n, 0.3, &f, &err) == 0, "%s", err.text);
	CHECK_NEAR(f.hz, 1e9, 1e3 * (2 + f.compare_ppm));
	tmr_close(n);
	tmr_close(t);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_factors_of_the_kernel_are_a_frequency);
	RUN(cpu_frequency_agrees_with_the_kernel);
	return check_end();
}
