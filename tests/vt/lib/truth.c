/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds the stamps of a trace of mpi_truth.c or mpi_pingpong.c against the clock of day that its values show, read before each stamp
 * and again after it: truth TRACE CLK. For each rank but the first: how far its stamps are from the master's by that clock, of the
 * hundred samples farthest off (the middle of what is possible, and how far that is known), and the largest bound that its
 * correction states, with that of the first rank. A thread that waits for a core between two readings makes wider what is possible, and no stamp wrong.
 * Nor may the first rank's own lateness change by more than a thousandth of the time, so that the axis goes at the rate of that clock.
 * Exit status 1 when an error is certain to be larger than the bound, 2 when there is nothing to compare.
 * truth CLK: prints the largest bound of each rank, "RANK SECONDS".
 * truth TRACE CLK step [N]: the clock of rank 1 was set N times (1): of each hundred of its samples the same, with the bound where they
 * are by the clock that their values show. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib/file/clk.h"
#include "include/stf.h"

enum { LEAST = 100, MOST = 100000, RANKS = 64 };

/* In seconds: a stamp, and what the clock of day showed before it and after it. */
struct sample {
	double stamp, since, until;
};

static struct sample *sample[RANKS];
static size_t n[RANKS];
static uint32_t ref; /* the first rank that has samples */
static uint32_t since_id, until_id, of_id;

static int by_time(const void *a, const void *b)
{
	double x = ((const struct sample *)a)->since, y = ((const struct sample *)b)->since;

	return (x > y) - (x < y);
}

/* What was read after a stamp comes in a record of its own, with what was read before it. */
static void take(const struct stf_counter_value *v, double resolution)
{
	static struct sample *end[RANKS];
	static int64_t first;
	double of = 0, value;
	uint32_t i, p = stf_willy_process(v->willy);

	for (i = 0; i < v->size_1_2 && p < RANKS; i++) {
		first = first || v->counters[i] != since_id ? first : (int64_t)v->values[i];
		value = (double)((int64_t)v->values[i] - first) * 1e-9;
		if (v->counters[i] == since_id && n[p] < MOST) {
			sample[p] = sample[p] ? sample[p] : calloc(MOST, sizeof(struct sample));
			sample[p][n[p]++] = (struct sample){ (double)v->time * resolution, value, INFINITY };
			end[p] = &sample[p][n[p] - 1];
		}
		of = v->counters[i] == of_id ? value : of;
		if (v->counters[i] == until_id && end[p]) {
			while (end[p] > sample[p] && end[p]->since > of) {
				end[p]--;
			}
			end[p]->until = end[p]->since == of ? value : INFINITY;
		}
	}
}

static int read_trace(const char *path)
{
	struct stf_err err;
	struct stf_reader *r = stf_reader_open(path, 0, &err);
	const struct stf_record *rec;
	struct stf_counter_value v;
	struct stf_cursor *c;
	double resolution = 0;
	uint32_t bits;
	size_t i;

	if (!r) {
		fprintf(stderr, "truth: %s: %s\n", err.file, err.text);
		return -1;
	}
	stf_reader_clock(r, &resolution, &bits);
	for (i = 0; (rec = stf_reader_record(r, STF_ID_counter_definition, i)) != NULL; i++) {
		uint32_t k = (uint32_t)stf_value(rec, "id")->u;
		const char *name = stf_reader_name(r, STF_ID_counter_definition, k);

		since_id = name && strcmp(name, "realtime") == 0 ? k : since_id;
		of_id = name && strcmp(name, "realtime of") == 0 ? k : of_id;
		until_id = name && strcmp(name, "realtime after") == 0 ? k : until_id;
	}
	c = stf_cursor_open(r, NULL, &err);
	while (c && stf_cursor_next(c, &rec, &err) > 0) {
		if (stf_get_counter_value(rec, &v) == 0) {
			take(&v, resolution);
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	for (i = 0; i < RANKS; i++) {
		if (n[i] > 1) {
			qsort(sample[i], n[i], sizeof(struct sample), by_time);
		}
	}
	return since_id && until_id && of_id ? 0 : -1;
}

/* A stamp minus the clock of day is at least *lo at some time of the samples from..to-1, and at most *hi at some time. */
static void lateness(int rank, size_t from, size_t to, double *lo, double *hi)
{
	*lo = -INFINITY;
	*hi = INFINITY;
	for (; from < to; from++) {
		const struct sample *s = &sample[rank][from];

		*lo = fmax(*lo, s->stamp - s->until);
		*hi = fmin(*hi, s->stamp - s->since);
	}
}

/* The first sample of the master not before that time. */
static size_t master_at(double since)
{
	size_t lo = 0, hi = n[ref];

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		lo = sample[ref][mid].since < since ? mid + 1 : lo;
		hi = sample[ref][mid].since < since ? hi : mid;
	}
	return lo;
}

/* How far a hundred samples of the rank, from the i-th on, are from those of the master then: at least *least at some time, and at most
 * *most at some time. *master: the master's own lateness. */
static void hundred_error(int rank, size_t i, double *least, double *most, double *master)
{
	double lo, hi, first, last, margin;
	size_t from, to;

	for (margin = 0.01;; margin *= 2) {
		from = master_at(sample[rank][i].since - margin);
		to = master_at(sample[rank][i + 99].since + margin);
		if (to - from >= 20 || to - from == n[ref]) {
			break;
		}
	}
	lateness((int)ref, from, to, &lo, &hi);
	lateness(rank, i, i + 100, &first, &last);
	*least = first - fmax(lo, hi);
	*most = last - fmin(lo, hi);
	*master = 0.5 * (lo + hi);
}

static double largest_bound(const struct cal_map *m)
{
	double worst = 0;
	int i;

	for (i = 0; m->nodes > 1 && i <= 100; i++) {
		int64_t span = ltick_sub(m->node[m->nodes - 1].local, m->node[0].local);

		worst = fmax(worst, cal_map_bound(m, ltick_add(m->node[0].local, span / 100 * i)));
	}
	return worst;
}

static int print_bounds(const char *path)
{
	struct cal_run run;
	struct tkm_err err;
	size_t i;

	if (cal_clk_load(path, &run, &err) < 0) {
		fprintf(stderr, "truth: %s\n", err.text);
		return 2;
	}
	for (i = 0; i < run.ranks; i++) {
		printf("%zu %.9g\n", i, largest_bound(&run.rank[i].map));
	}
	return 0;
}

/* The largest bound of a part of the map, at its nodes but the last, and between them. */
static double part_bound(const struct cal_map *m, size_t part)
{
	const struct cal_part *p = &m->part[part];
	double worst = 0;
	size_t k;

	for (k = p->node; k + 1 < p->node + p->nodes; k++) {
		struct cal_walk w;
		double b;
		int i;

		for (i = 0; i < 10; i++) {
			int64_t to_next = ltick_sub(m->node[k + 1].local, m->node[k].local);

			cal_walk_begin(&w, m);
			w.part = part;
			cal_walk_node(&w, k);
			cal_walk_at(&w, ltick_add(m->node[k].local, to_next / 10 * i), &b);
			worst = fmax(worst, b);
		}
	}
	return worst;
}

/* When step k was, at the earliest and at the latest; a stamp near that may be from either side, as the bound of each says. */
static void around(const struct cal_map *m, double period_s, size_t k, double *from, double *to)
{
	double slack = 2 * m->step[k].within_s + 0.001;

	*from = (double)m->step[k].from_global.v * period_s - slack;
	*to = (double)m->step[k].to_global.v * period_s + slack;
}

/* A hundred samples of rank 1, from the i-th on. 1: outside of the bound; *part: that they are of, SIZE_MAX: there may have been a
 * step among them. */
static int hundred(const struct cal_map *m, double period_s, size_t i, size_t *part)
{
	double from, to, bound = 0, least, most, master, first, last;
	size_t k;

	hundred_error(1, i, &least, &most, &master);
	first = sample[1][i].since + master;
	last = sample[1][i + 99].since + master;
	for (k = 0, *part = 0; k < m->steps; k++) {
		around(m, period_s, k, &from, &to);
		if (first > to) {
			*part = k + 1;
		} else if (last >= from) {
			*part = SIZE_MAX;
			bound = fabs(m->step[k].size_s) + m->step[k].within_s + part_bound(m, k) + part_bound(m, k + 1);
			break;
		}
	}
	bound = *part != SIZE_MAX ? part_bound(m, *part) : bound;
	if (!(least <= bound && most >= -bound)) {
		printf("samples %zu to %zu, %.6f to %.6f s: error %.3g to %.3g us, bound %.3g us\n", i, i + 99, first,
			last, least * 1e6, most * 1e6, bound * 1e6);
		return 1;
	}
	return 0;
}

/* All of a rank, hundred by hundred: prints the one farthest off. 1: outside of the bound. */
static int whole(int rank, double bound)
{
	double least, most, master, worst[2] = { 0, 0 };
	int bad = 0;
	size_t i;

	for (i = 0; i + 100 <= n[rank]; i += 100) {
		hundred_error(rank, i, &least, &most, &master);
		bad |= !(least <= bound && most >= -bound);
		if (i == 0 || fabs(least + most) > fabs(worst[0] + worst[1])) {
			worst[0] = least;
			worst[1] = most;
		}
	}
	printf("rank %d: error %.3g us, known to %.3g us, bound %.3g us, %zu samples\n", rank,
		0.5e6 * (worst[0] + worst[1]), 0.5e6 * fabs(worst[1] - worst[0]), bound * 1e6, n[rank]);
	return bad;
}

/* The lateness of the first rank at the end against the beginning. 1: more than the bound and a thousandth of the time between. */
static int axis(double bound)
{
	const struct sample *s = sample[ref];
	double lo[2], hi[2], span = s[n[ref] - 1].since - s[0].since, least, most;

	lateness((int)ref, 0, LEAST, &lo[0], &hi[0]);
	lateness((int)ref, n[ref] - LEAST, n[ref], &lo[1], &hi[1]);
	least = lo[1] - hi[0];
	most = hi[1] - lo[0];
	printf("axis: %.3g to %.3g us in %.3g s\n", least * 1e6, most * 1e6, span);
	return !(least <= 2 * bound + 0.001 * span && most >= -2 * bound - 0.001 * span);
}

static int across_step(const struct cal_run *run, size_t steps)
{
	const struct cal_map *m = &run->rank[1].map;
	size_t i, part, seen[RANKS] = { 0 };
	int bad = 0, all = 1;

	if (m->steps != steps || n[0] < 200 || n[1] < 200) {
		printf("%zu steps in the correction, %zu and %zu samples\n", m->steps, n[0], n[1]);
		return 2;
	}
	for (i = 0; i + 100 <= n[1]; i += 100) {
		bad |= hundred(m, run->period_s, i, &part);
		if (part < RANKS) {
			seen[part]++;
		}
	}
	for (i = 0; i <= steps; i++) {
		printf("part %zu: %zu hundreds, bound %.3g us\n", i, seen[i], part_bound(m, i) * 1e6);
		all &= seen[i] > 0;
	}
	for (i = 0; i < steps; i++) {
		printf("step %.9g s, found to %.3g s\n", m->step[i].size_s, m->step[i].within_s);
	}
	return all ? bad : 2;
}

int main(int argc, char **argv)
{
	struct cal_run run;
	struct tkm_err err;
	int bad = 0, compared = 0;
	size_t i;

	if (argc == 2) {
		return print_bounds(argv[1]);
	}
	if (argc < 3 || read_trace(argv[1]) < 0 || cal_clk_load(argv[2], &run, &err) < 0) {
		fprintf(stderr, "truth: nothing to read\n");
		return 2;
	}
	if (argc > 3 && run.ranks > 1) {
		return across_step(&run, argc > 4 ? (size_t)atoi(argv[4]) : 1);
	}
	while (ref + 1 < RANKS && n[ref] < LEAST) {
		ref++; /* VTserver may be rank 0, and has none */
	}
	for (i = ref + 1; i < run.ranks && i < RANKS && n[ref] >= LEAST; i++) {
		/* of a job that joined by a word another process is the master */
		double bound =
			largest_bound(&run.rank[i].map) + (run.master || ref ? largest_bound(&run.rank[ref].map) : 0);

		if (n[i] >= LEAST && bound > 0) {
			bad |= whole((int)i, bound);
			compared++;
		}
	}
	if (compared) {
		bad |= axis(largest_bound(&run.rank[ref].map));
	}
	return compared ? bad : 2;
}
