/* SPDX-License-Identifier: BSD-3-Clause */
/* The true rate lies within what was measured. */
#include "config.h"
#include "timers/quality/rate.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"

/* CLOCK_REALTIME is off by anything that its maximum error allows at both marks; the timer is fast or slow, and lags. */
static void true_rate_contains_the_error_of_the_reference(void)
{
	int i;

	for (i = 0; i < 10000; i++) {
		double hz = 1e6 + 3e9 * check_uniform(), seconds = 1 + 100 * check_uniform(),
		       lag = 1 + 30 * check_uniform();
		struct tmr_mark m[2];
		struct tmr_true_rate r;
		int k;

		for (k = 0; k < 2; k++) {
			double at = 1000 + k * seconds, width = 1e-7 * check_uniform(), error = 1e-3 * check_uniform();
			double off = check_random() % 4 ? error * (2 * check_uniform() - 1)
							: (check_random() & 1 ? error : -error);

			m[k] = (struct tmr_mark){ (int64_t)floor(hz * (at + width * check_uniform()) -
							  (lag - 1) * check_uniform()),
				(int64_t)floor(1e9 * (at + off)), (int64_t)ceil(1e9 * width), error, 1, "" };
		}
		CHECK(tmr_true_rate_between(&m[0], &m[1], lag, 2e-9, &r) == 0, "no rate");
		CHECK(r.low_hz <= hz && hz <= r.high_hz, "%.12g not in [%.12g, %.12g]", hz, r.low_hz, r.high_hz);
		CHECK(r.high_hz / r.low_hz - 1 < 2.1 * (m[0].max_error_s + m[1].max_error_s + 1e-6) / seconds,
			"too wide");
		k = check_random() & 1;
		m[k].bounded = 0;
		snprintf(m[k].why, sizeof(m[k].why), "nobody keeps that clock");
		CHECK(tmr_true_rate_between(&m[0], &m[1], lag, 2e-9, &r) < 0 && r.low_hz == 0,
			"nobody keeps that clock");
		CHECK_STR(r.why, m[k].why);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(true_rate_contains_the_error_of_the_reference);
	return check_end();
}
