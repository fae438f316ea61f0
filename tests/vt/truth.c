/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds the stamps of a trace of mpi_truth.c or mpi_pingpong.c against the clock that its values show: truth TRACE CLK. For each rank but
 * the first: how far its stamps are from the master's by that clock (median over its samples, of the differences that
 * preemption between the two readings made least), and the largest bound that its correction states. Exit status 1 when
 * one is not inside the other, 2 when there is nothing to compare.
 * truth CLK: prints the largest bound of each rank, "RANK SECONDS".
 * truth TRACE CLK step [N]: the clock of rank 1 was set N times (1): of each hundred of its samples the same, with the bound where they
 * are by the clock that their values show. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib/file/clk.h"
#include "stf/stf.h"

enum { LEAST = 100, MOST = 100000, RANKS = 64 };

static double *late[RANKS]; /* stamp minus value, s */
static double *stamp[RANKS];
static size_t n[RANKS];

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void take(const struct stf_counter_value *v, double resolution, uint32_t id)
{
	static int64_t first;
	uint32_t i, p = stf_willy_process(v->willy);

	for (i = 0; i < v->size_1_2; i++) {
		if (v->counters[i] == id && p < RANKS && n[p] < MOST) {
			first = first ? first : (int64_t)v->values[i];
			if (!late[p]) {
				late[p] = calloc(MOST, sizeof(double));
				stamp[p] = calloc(MOST, sizeof(double));
			}
			stamp[p][n[p]] = (double)v->time * resolution;
			late[p][n[p]++] = (double)v->time * resolution - (double)((int64_t)v->values[i] - first) * 1e-9;
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
	uint32_t bits, id = 0;
	size_t i;

	if (!r) {
		fprintf(stderr, "truth: %s: %s\n", err.file, err.text);
		return -1;
	}
	stf_reader_clock(r, &resolution, &bits);
	for (i = 0; (rec = stf_reader_record(r, STF_ID_counter_definition, i)) != NULL; i++) {
		uint32_t k = (uint32_t)stf_value(rec, "id")->u;
		const char *name = stf_reader_name(r, STF_ID_counter_definition, k);

		id = name && strcmp(name, "realtime") == 0 ? k : id;
	}
	c = stf_cursor_open(r, NULL, &err);
	while (c && stf_cursor_next(c, &rec, &err) > 0) {
		if (stf_get_counter_value(rec, &v) == 0) {
			take(&v, resolution, id);
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return id ? 0 : -1;
}

/* The smallest lateness but for a quarter: what lies between the two readings without preemption. */
static double typical(int rank)
{
	qsort(late[rank], n[rank], sizeof(double), ascending);
	return late[rank][n[rank] / 4];
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

/* A hundred samples of the rank, from the i-th on. 1: outside of the bound; *part: that they are of, SIZE_MAX: there may have been a
 * step among them. */
static int hundred(const struct cal_map *m, double period_s, int rank, size_t i, double master, size_t *part)
{
	double first = stamp[rank][i] - late[rank][i] + master,
	       last = stamp[rank][i + 99] - late[rank][i + 99] + master;
	double from, to, error, bound = 0, some[100];
	size_t k;

	memcpy(some, late[rank] + i, sizeof(some));
	qsort(some, 100, sizeof(double), ascending);
	error = some[25] - master;
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
	if (fabs(error) > bound) {
		printf("samples %zu to %zu, %.6f to %.6f s: error %.3g us, bound %.3g us\n", i, i + 99, first, last,
			error * 1e6, bound * 1e6);
	}
	return !(fabs(error) <= bound);
}

static int across_step(const struct cal_run *run, size_t steps)
{
	const struct cal_map *m = &run->rank[1].map;
	size_t i, part, seen[RANKS] = { 0 };
	int bad = 0, all = 1;
	double master;

	if (m->steps != steps || n[0] < 200 || n[1] < 200) {
		printf("%zu steps in the correction, %zu and %zu samples\n", m->steps, n[0], n[1]);
		return 2;
	}
	master = typical(0);
	for (i = 0; i + 100 <= n[1]; i += 100) {
		bad |= hundred(m, run->period_s, 1, i, master, &part);
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
	for (i = 1; i < run.ranks && i < RANKS && n[0] >= LEAST; i++) {
		double error, bound = largest_bound(&run.rank[i].map);

		if (n[i] >= LEAST && bound > 0) {
			error = typical((int)i) - typical(0);
			printf("rank %zu: error %.3g us, bound %.3g us, %zu samples\n", i, error * 1e6, bound * 1e6,
				n[i]);
			bad |= !(fabs(error) <= bound);
			compared++;
		}
	}
	return compared ? bad : 2;
}
