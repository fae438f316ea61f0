/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the maps of a .clk file with the truth, for the clock of coarse_clock.c on ranks of one host: a stamp of rank r is
 * the multiple of STEP ns below t + r * PHASE, or a little more where the clock bumps; corrected it must lie within its bound of t
 * and of what rank 0 read at t. Prints a line for each rank; ends with status 1 if a stamp is outside.
 * usage: coarse_truth FILE.clk STEP PHASE BUMP */
#include "config.h"
#include "calib/file/clk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 10000 };

static int64_t below(int64_t t, int64_t step)
{
	return t - t % step;
}

/* The sessions of a steered clock measure a free one, and so does the anchor. */
static int64_t at_start_or_end(const struct cal_rank *r, int end)
{
	return (r->map.pairs.n ? cal_pairs_local(&r->map.pairs, r->anchor[end].local) : r->anchor[end].local).v;
}

static int rank_outside(const struct cal_run *run, size_t rank, int64_t step, int64_t phase, int bump)
{
	const struct cal_rank *r0 = &run->rank[0], *r = &run->rank[rank];
	int64_t from = at_start_or_end(r0, 0), length = at_start_or_end(r0, 1) - from;
	double worst = 0, there = 0;
	int outside = 0, i;

	for (i = 0; i < POINTS; i++) {
		int64_t t = from + (int64_t)((double)length * (i + 0.5) / POINTS), x = t + (int64_t)rank * phase,
			stamp = below(x, step), error;
		gtick_t corrected;
		double bound;

		if (bump && stamp + i % 3 <= x) {
			stamp += i % 3;
		}
		corrected = cal_map_at(&r->map, ltick(stamp));
		/* where the axis is a free clock beside that of rank 0, what rank 0 read is known to its own bound, too */
		bound = cal_map_bound(&r->map, ltick(stamp)) +
			(r0->map.pairs.n ? cal_map_bound(&r0->map, ltick(below(t, step))) : 0);
		error = llabs(gtick_sub(corrected, cal_map_at(&r0->map, ltick(t))));
		if (llabs(gtick_sub(corrected, cal_map_at(&r0->map, ltick(below(t, step))))) > error) {
			error = llabs(gtick_sub(corrected, cal_map_at(&r0->map, ltick(below(t, step)))));
		}
		outside += !((double)error * run->period_s <= bound);
		if ((double)error * run->period_s >= worst) {
			worst = (double)error * run->period_s;
			there = bound;
		}
	}
	printf("rank %zu: at most %.3f us off, bound there %.3f us, %d of %d stamps outside\n", rank, worst * 1e6,
		there * 1e6, outside, POINTS);
	return outside;
}

int main(int argc, char **argv)
{
	struct cal_run run;
	struct tkm_err err;
	int bad = 0;
	size_t i;

	if (argc != 5 || cal_clk_load(argv[1], &run, &err) < 0) {
		fprintf(stderr, "coarse_truth: %s\n",
			argc == 5 ? err.text : "usage: coarse_truth FILE.clk STEP PHASE BUMP");
		return 2;
	}
	if (run.rank[0].anchors != 2) {
		fprintf(stderr, "coarse_truth: %s: no anchors\n", argv[1]);
		return 2;
	}
	for (i = 1; i < run.ranks; i++) {
		bad += rank_outside(&run, i, atoll(argv[2]), atoll(argv[3]), atoi(argv[4]));
	}
	cal_run_free(&run);
	return bad != 0;
}
