/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that is slewed and set, with a known truth. Preloaded, it moves a clock of one rank against CLOCK_MONOTONIC:
 *
 *	TEST_SLEW="PPM FROM TO BACK"     faster by PPM from FROM to TO seconds, then slower until nothing is left at BACK
 *	TEST_STEPS="SIZE_NS AT ..."      set by so many nanoseconds at those seconds
 *	TEST_BASE                        the real clock in ns that the seconds count from
 *	TEST_RANK                        the rank, by the launcher's environment (default 1)
 *	TEST_CLOCK                       number of the clock, which shows CLOCK_MONOTONIC on the other ranks (default CLOCK_BOOTTIME)
 *
 * As a program, `slewed now S` prints what the real clock shows in S seconds, and `slewed FILE.clk` reads the file that timertest wrote and compares 10,000 corrected stamps of each such
 * clock with the clock of rank 0, which was not moved: prints how many are outside their bound, the largest error and the
 * median and largest bound in ns, and how many assumptions were contradicted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Read once: the clock must stay quick to read. */
static struct {
	int known, steps;
	double ppm, from, to, back, size[16], at[16];
	int64_t base;
} told;

static void read_told(void)
{
	const char *slew = getenv("TEST_SLEW"), *steps = getenv("TEST_STEPS"), *base = getenv("TEST_BASE");
	int n;

	told.known = 1;
	told.base = base ? atoll(base) : 0;
	if (!slew || sscanf(slew, "%lf %lf %lf %lf", &told.ppm, &told.from, &told.to, &told.back) != 4) {
		told.ppm = 0;
	}
	for (; steps && told.steps < 16 &&
		sscanf(steps, "%lf %lf%n", &told.size[told.steps], &told.at[told.steps], &n) == 2;
		steps += n) {
		told.steps++;
	}
}

static double moved(double t)
{
	double off = 0;
	int i;

	if (told.ppm != 0 && t > told.from) {
		off = (fmin(t, told.to) - told.from) * told.ppm * 1e3;
		off -= t > told.to && told.back > told.to ? (fmin(t, told.back) - told.to) / (told.back - told.to) *
				(told.to - told.from) * told.ppm * 1e3
							  : 0;
	}
	for (i = 0; i < told.steps; i++) {
		off += t >= told.at[i] ? told.size[i] : 0;
	}
	return off;
}

/* What the clock shows when the real one shows ns. */
static int64_t shown(int64_t ns)
{
	if (!told.known) {
		read_told();
	}
	return ns + llround(moved((double)(ns - told.base) * 1e-9));
}

#ifdef PRELOADED
#include <dlfcn.h>

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t, struct timespec *);
	static int moves = -1;
	static clockid_t clock = CLOCK_BOOTTIME;
	const char *mine, *rank;
	int64_t v;
	int rc;

	if (!real) {
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	}
	if (moves < 0) {
		mine = getenv("OMPI_COMM_WORLD_RANK");
		rank = getenv("TEST_RANK");
		clock = getenv("TEST_CLOCK") ? atoi(getenv("TEST_CLOCK")) : clock;
		moves = mine && strcmp(mine, rank ? rank : "1") == 0;
	}
	rc = real(id == clock ? CLOCK_MONOTONIC : id, ts);
	if (id == clock && moves) {
		v = shown((int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec);
		ts->tv_sec = v / 1000000000;
		ts->tv_nsec = v % 1000000000;
	}
	return rc;
}
#else
#include "base/stats.h"
#include "calib/file/clk.h"

int main(int argc, char **argv)
{
	enum { POINTS = 10000 };
	static double bounds[POINTS];
	struct cal_run run;
	struct tkm_err err;
	double worst = 0;
	int i, outside = 0, of_walk = 0;
	struct cal_walk walk;
	const struct cal_map *m0, *m1;
	int64_t from, to;

	if (argc == 3 && strcmp(argv[1], "now") == 0) {
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		printf("%lld\n", ((long long)ts.tv_sec + atoll(argv[2])) * 1000000000 + ts.tv_nsec);
		return 0;
	}
	if (argc != 2 || cal_clk_load(argv[1], &run, &err) < 0 || run.ranks < 2) {
		fprintf(stderr, "slewed: %s\n", argc == 2 ? err.text : "FILE.clk");
		return 2;
	}
	m0 = &run.rank[0].map;
	m1 = &run.rank[1].map;
	/* the run, by the clock of rank 0, which is the real one */
	from = m0->pairs.n ? cal_pairs_local(&m0->pairs, run.rank[0].anchor[0].local).v : run.rank[0].anchor[0].local.v;
	to = m0->pairs.n ? cal_pairs_local(&m0->pairs, run.rank[0].anchor[1].local).v : run.rank[0].anchor[1].local.v;
	cal_walk_begin(&walk, m1);
	for (i = 0; i < POINTS; i++) {
		int64_t real = from + (int64_t)((double)(to - from) * i / (POINTS - 1));
		ltick_t stamp = ltick(shown(real));
		double bound, walked, error;
		gtick_t at = cal_map_at(m1, stamp), in_order = cal_walk_at(&walk, stamp, &walked),
			truth = cal_map_at(m0, ltick(real));

		/* the truth is what rank 0's clock shows, and its own stamp has a bound, too; 1 ns: whole stamps are compared */
		bound = cal_map_bound(m1, stamp) + cal_map_bound(m0, ltick(real)) + 1e-9;
		walked += cal_map_bound(m0, ltick(real)) + 1e-9;
		error = fabs((double)gtick_sub(at, truth)) * run.period_s;
		outside += error > bound;
		of_walk += fabs((double)gtick_sub(in_order, truth)) * run.period_s > walked;
		worst = fmax(worst, fabs((double)gtick_sub(in_order, truth)) * run.period_s);
		bounds[i] = walked;
	}
	tkm_sort(bounds, POINTS);
	printf("outside %d in_order %d error_ns %.0f bound_ns %.0f largest_bound_ns %.0f contradicted %d from_s %.2f "
	       "to_s %.2f\n",
		outside, of_walk, worst * 1e9, tkm_median(bounds, POINTS) * 1e9, bounds[POINTS - 1] * 1e9,
		run.contradicted, (double)(from - told.base) * 1e-9, (double)(to - told.base) * 1e-9);
	cal_run_free(&run);
	return 0;
}
#endif
