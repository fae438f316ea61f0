/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds the maps of a .clk file against the truth, for simulated clocks (`sim:`) over a counter that all ranks read,
 * on however many hosts: of namespaces that is one; or for a real timer that all ranks of one machine read and that each corrects for
 * itself (SYNCED-HOST off): one stamp is one time. Prints a line for each rank, and ends with status 1 if one leaves its bound.
 * A second line says how the errors between its first and its last session are distributed.
 * usage: clk_truth FILE.clk */
#include "config.h"
#include "base/stats.h"
#include "calib/file/clk.h"
#include "timers/sources/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 10001 };

static double error_s[POINTS];

static struct tkm_err err;

static void print_rank(int rank, const struct cal_rank *r, double worst_s, double there_s, int outside)
{
	printf("rank %d on %s: at most %.4f us off, bound there %.4f us, %d of %d points outside\n", rank, r->host,
		worst_s * 1e6, there_s * 1e6, outside, POINTS);
}

/* Of the errors at all points, which are sorted here. */
static void print_distribution(int rank)
{
	tkm_sort(error_s, POINTS);
	printf("rank %d: true error %.5g us (median), %.5g us (99.9 %%)\n", rank, tkm_median(error_s, POINTS) * 1e6,
		tkm_quantile(error_s, POINTS, 0.999) * 1e6);
}

/* A real timer of one machine: what two ranks make of one stamp, at many points between the first session and the last. */
static int one_clock_outside(const struct cal_run *run, int rank)
{
	const struct cal_map *m0 = &run->rank[0].map, *m = &run->rank[rank].map;
	double worst = 0, there = 0;
	int outside = 0, i;
	ltick_t from, to;

	if (strcmp(run->rank[0].timer, run->rank[rank].timer) != 0 ||
		strcmp(run->rank[0].boot_id, run->rank[rank].boot_id) != 0 || m->nodes < 2) {
		return -1;
	}
	from = m->node[0].local;
	to = m->node[m->nodes - 1].local;
	if (m->pairs.n) {
		from = cal_pairs_local(&m->pairs, from);
		to = cal_pairs_local(&m->pairs, to);
	}
	for (i = 0; i < POINTS; i++) {
		ltick_t at = ltick_add(from, (int64_t)((double)ltick_sub(to, from) * i / (POINTS - 1)));
		double bound = cal_map_bound(m, at) + cal_map_bound(m0, at) + 1e-9,
		       error = fabs((double)gtick_sub(cal_map_at(m, at), cal_map_at(m0, at))) * run->period_s;

		error_s[i] = error;
		outside += !(error <= bound);
		if (error >= worst) {
			worst = error;
			there = bound;
		}
	}
	print_rank(rank, &run->rank[rank], worst, there, outside);
	print_distribution(rank);
	return outside;
}

/* Returns how many points of the run are outside the rank's bound, or -1. */
static int rank_outside(const struct cal_run *run, int rank)
{
	const struct cal_rank *r0 = &run->rank[0], *r = &run->rank[rank];
	struct tmr_timer *c0 = tmr_open(r0->timer, 0, &err), *c = c0 ? tmr_open(r->timer, rank, &err) : NULL;
	double worst = 0, there = 0;
	int outside = 0, i;
	int64_t from, to;

	if (!c || r0->anchors != 2) {
		return -1;
	}
	if (!(c->flags & TMR_SIMULATED)) {
		tmr_close(c);
		tmr_close(c0);
		return one_clock_outside(run, rank);
	}
	from = tmr_sim_base_at(c0, r0->anchor[0].local);
	to = tmr_sim_base_at(c0, r0->anchor[1].local);
	for (i = 0; i < POINTS; i++) {
		int64_t at = from + (int64_t)((double)(to - from) * i / (POINTS - 1));
		double f0, f, error, bound;
		ltick_t l0 = tmr_sim_truth(c0, at, &f0), l = tmr_sim_truth(c, at, &f);

		error = fabs(((double)gtick_sub(cal_map_at(&r->map, l), cal_map_at(&r0->map, l0)) +
				     f * cal_map_slope(&r->map, l) - f0 * cal_map_slope(&r0->map, l0)) *
			run->period_s);
		error_s[i] = error;
		bound = cal_map_bound(&r->map, l);
		outside += !(error <= bound);
		if (error >= worst) {
			worst = error;
			there = bound;
		}
	}
	print_rank(rank, r, worst, there, outside);
	print_distribution(rank);
	tmr_close(c);
	tmr_close(c0);
	return outside;
}

int main(int argc, char **argv)
{
	struct cal_run run;
	int bad = 0, one;
	size_t i;

	if (argc != 2 || cal_clk_load(argv[1], &run, &err) < 0) {
		fprintf(stderr, "clk_truth: %s\n", argc == 2 ? err.text : "usage: clk_truth FILE.clk");
		return 2;
	}
	for (i = 1; i < run.ranks; i++) {
		one = rank_outside(&run, (int)i);
		if (one < 0) {
			fprintf(stderr, "clk_truth: rank %zu: %s\n", i,
				err.text[0] ? err.text : "its clock is neither simulated nor that of rank 0");
			return 2;
		}
		bad += one;
	}
	cal_run_free(&run);
	return bad != 0;
}
