/* SPDX-License-Identifier: BSD-3-Clause */
/* The step of a counter that moves in steps. */
#include "config.h"
#include "timers/quality/quality.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"

static void grid_of_a_counter_that_moves_in_steps(void)
{
	enum { N = 20000 };
	static int64_t d[N];
	struct tmr_grid g;
	int i, round;

	for (round = 0; round < 60; round++) {
		/* a fractional step, as 22.5 ticks of a 2.25 GHz counter that moves every 10 ns */
		double step = round ? 5 + 60 * check_uniform() : 22.5;
		int64_t before = 0;
		double k = 0;

		for (i = 0; i < N; i++) {
			int64_t now;

			k += 1 + (double)(check_random() % 3) + (check_random() % 500 == 0 ? 4000 : 0);
			now = (int64_t)floor(k * step + 0.25);
			d[i] = now - before;
			before = now;
		}
		CHECK(tmr_grid_find(d, N, &g) == 0, "nothing found");
		CHECK(g.found, "no grid for step %g", step);
		CHECK_NEAR(g.ticks, step, 0.002 * step);
	}
	for (i = 0; i < N; i++) {
		/* nanoseconds made from a counter that moves every 10 ns: 9, 10, 11, 19, 20, 21 ... */
		d[i] = (int64_t)(10 * (1 + check_random() % 4) + check_random() % 3) - 1;
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 10, 0.05);
	for (i = 0; i < N; i++) {
		d[i] = (int64_t)(30 + check_random() % 50); /* a clock that moves at every tick */
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 1, 0);
	for (i = 0; i < N; i++) {
		d[i] = (int64_t)(2 * (10 + check_random() % 50)); /* whole steps of 2 */
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 2, 0);
	for (i = 0; i < N; i++) {
		d[i] = i % 40 == 0; /* gettimeofday: mostly 0, now and then 1 */
	}
	CHECK(tmr_grid_find(d, N, &g) == 0 && g.found, "found %d", g.found);
	CHECK_NEAR(g.ticks, 1, 0);
	memset(d, 0, sizeof(d));
	CHECK(tmr_grid_find(d, N, &g) < 0, "a clock that stands has no tick");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(grid_of_a_counter_that_moves_in_steps);
	return check_end();
}
