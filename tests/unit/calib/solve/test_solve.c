/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run says of its own assumptions, and of the error to be expected: maps made up for it, whose checks are off by what is known. */
#include "config.h"
#include "base/stats.h"
#include "base/ticks.h"
#include "calib/solve/assumptions.h"
#include "tests/lib/check.h"
#include "tests/unit/calib/solve/made_map.h"

/* ---- the expected error ---- */

static double normal(void)
{
	return sqrt(-2 * log(check_uniform() + 1e-300)) * cos(2 * M_PI * check_uniform());
}

/* Its tails are far heavier than a normal distribution's. */
static double cube(void)
{
	double x = normal();

	return x * x * x;
}

static double swing(void)
{
	return sin(2 * M_PI * check_uniform());
}

/* Draws the checks of many runs; the truth is the median and 99.9 % of the absolute value of what is drawn, in ns. */
static void expect_of(const char *name, double (*draw)(void), size_t checks, double median, double most, double enough)
{
	enum { RUNS = 400 };
	double stated[RUNS], wide[RUNS];
	int i, covered = 0;
	size_t k;

	for (i = 0; i < RUNS; i++) {
		struct cal_expected e;

		make(checks + 2);
		for (k = 1; k <= checks; k++) {
			move(1, k, llrint(draw() * 1000));
		}
		e = cal_expected_error(&made.rank[1].map);
		CHECK_INT(e.checks, checks);
		CHECK_INT(e.extrapolated, checks < 3688); /* 0.999^3688 is below 1/40 */
		stated[i] = e.median_s * 1e9;
		wide[i] = e.most_s * 1e9;
		covered += wide[i] >= most;
		unmake();
	}
	tkm_sort(stated, RUNS);
	tkm_sort(wide, RUNS);
	printf("# %s, %zu checks: median %.0f (true %.0f), 99.9 %% %.0f [%.0f..%.0f] (true %.0f), covered %d of %d\n",
		name, checks, stated[RUNS / 2], median, wide[RUNS / 2], wide[0], wide[RUNS - 1], most, covered, RUNS);
	/* a few standard errors of a median of so many medians */
	CHECK_NEAR(stated[RUNS / 2] / median, 1, checks < 10 ? 0.12 : 0.05);
	CHECK(covered >= enough * RUNS, "%s: covered in %d of %d runs", name, covered, RUNS);
	CHECK(wide[RUNS / 2] < (checks < 10                    ? 3.5
					       : checks < 2000 ? 2.6
					       : draw == cube  ? 1.8
							       : 1.25) *
				most * (draw == swing ? 4 : 1),
		"%s: 99.9 %% are %g, truly %g", name, wide[RUNS / 2], most);
}

static void what_is_expected_is_what_is_true(void)
{
	/* of a normal distribution half are below 0.6745 and 99.9 % below 3.2905; of a swing 0.7071 and 1 */
	expect_of("normal", normal, 5, 674.5, 3290.5, 0.9);
	expect_of("normal", normal, 30, 674.5, 3290.5, 0.95);
	expect_of("normal", normal, 300, 674.5, 3290.5, 0.95);
	expect_of("swing", swing, 5, 707.1, 1000, 0.95);
	expect_of("swing", swing, 30, 707.1, 1000, 1);
	expect_of("normal", normal, 2000, 674.5, 3290.5, 0.95);
	expect_of("normal", normal, 3687, 674.5, 3290.5, 0.95);
	/* seen, not extrapolated, whatever the distribution: the largest check, and the third largest, are above it in 39 of 40 runs */
	expect_of("normal", normal, 3688, 674.5, 3290.5, 0.95);
	expect_of("normal", normal, 8000, 674.5, 3290.5, 0.95);
	expect_of("cube", cube, 3688, 306.8, 35628, 0.95);
	expect_of("cube", cube, 8000, 306.8, 35628, 0.95);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(what_is_expected_is_what_is_true);
	return check_end();
}
