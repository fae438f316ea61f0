/* SPDX-License-Identifier: BSD-3-Clause */
/* What an earlier run left about the rates of clocks. */
#include "config.h"
#include "calib/file/earlier.h"
#include "calib/map/run.h"
#include "tests/lib/check.h"

#include <string.h>

static struct cal_rank clock_of(const char *host, const char *boot, const char *timer)
{
	struct cal_rank r = { .nominal_hz = 1e9 };

	snprintf(r.host, sizeof(r.host), "%s", host);
	snprintf(r.boot_id, sizeof(r.boot_id), "%s", boot);
	snprintf(r.timer, sizeof(r.timer), "%s", timer);
	return r;
}

/* Ranks 0 to 3 of the earlier run on three hosts, rank 2 with the clock of rank 1; global ticks of 0.1 ns. */
static void rates_of_an_earlier_run(void)
{
	struct cal_rank rank[4] = { clock_of("a", "boot-a", "CPU"), clock_of("b", "boot-b", "CPU"),
		clock_of("b", "boot-b", "CPU"), clock_of("c", "boot-c", "CPU") };
	struct cal_run run = { .ranks = 4, .rank = rank, .period_s = 1e-10 };
	struct cal_rank other = clock_of("b", "boot-b2", "CPU"), third = clock_of("c", "boot-c", "clock_monotonic");
	double low, high;

	rank[1].map.rate_low = 10 * (1 + 20e-6);
	rank[1].map.rate_high = 10 * (1 + 21e-6);
	rank[2].sync = CAL_SHARED;
	rank[2].leader = 1;
	rank[3].map.rate_low = 10 * (1 - 5e-6);
	rank[3].map.rate_high = 10 * (1 - 4e-6);
	CHECK_INT(cal_earlier_rate(&run, &rank[1], &rank[0], 1e-6, &low, &high), 0);
	CHECK_NEAR(low, 1 + 19e-6, 1e-9);
	CHECK_NEAR(high, 1 + 22e-6, 1e-9);
	/* rank 0 of today was another one then */
	CHECK_INT(cal_earlier_rate(&run, &rank[0], &rank[3], 1e-6, &low, &high), 0);
	CHECK_NEAR(low, 1 + 3e-6, 1e-9);
	CHECK_NEAR(high, 1 + 6e-6, 1e-9);
	CHECK_INT(cal_earlier_rate(&run, &rank[3], &rank[2], 0, &low, &high), 0);
	CHECK_NEAR(low, 1 - 26e-6, 1e-9);
	CHECK_NEAR(high, 1 - 24e-6, 1e-9);
	/* what was learned is narrower, and counts */
	rank[1].map.learned_low = 10 * (1 + 20.4e-6);
	rank[1].map.learned_high = 10 * (1 + 20.6e-6);
	CHECK_INT(cal_earlier_rate(&run, &rank[1], &rank[0], 0, &low, &high), 0);
	CHECK_NEAR(low, 1 + 20.4e-6, 1e-9);
	CHECK_NEAR(high, 1 + 20.6e-6, 1e-9);
	CHECK_INT(cal_earlier_rate(&run, &other, &rank[0], 0, &low, &high), -1);
	CHECK_INT(cal_earlier_rate(&run, &rank[1], &other, 0, &low, &high), -1);
	CHECK_INT(cal_earlier_rate(&run, &third, &rank[0], 0, &low, &high), -1);
	rank[1].map.steps = 1;
	CHECK_INT(cal_earlier_rate(&run, &rank[2], &rank[0], 0, &low, &high), -1);
	rank[1].map.steps = 0;
	snprintf(rank[1].contradiction, sizeof(rank[1].contradiction), "it wandered");
	CHECK_INT(cal_earlier_rate(&run, &rank[1], &rank[0], 0, &low, &high), -1);
	rank[1].contradiction[0] = '\0';
	rank[1].may_step = 1;
	CHECK_INT(cal_earlier_rate(&run, &rank[1], &rank[0], 0, &low, &high), -1);
	rank[1].may_step = 0;
	CHECK_INT(cal_earlier_rate(&run, &rank[1], &rank[0], 0, &low, &high), 0);
	run.contradicted = 1;
	CHECK_INT(cal_earlier_rate(&run, &rank[1], &rank[0], 0, &low, &high), -1);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(rates_of_an_earlier_run);
	return check_end();
}
