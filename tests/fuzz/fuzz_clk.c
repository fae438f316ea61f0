/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as correction data. What is read can be looked up, has no negative bound, and what is written of it can be read. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calib/file/clk.h"

#define FUZZ_NAME "clk"
#include "tests/fuzz/fuzz.h"

static void must(int ok)
{
	if (!ok) {
		abort();
	}
}

static void look_up(const struct cal_map *m)
{
	static const int64_t stamps[] = { INT64_MIN / 4, -1, 0, 1000, 500000000, 600000000, INT64_MAX / 4 };
	struct cal_walk w;
	double bound;
	size_t i;

	cal_walk_begin(&w, m);
	for (i = 0; i < sizeof(stamps) / sizeof(*stamps); i++) {
		cal_map_at(m, ltick(stamps[i]));
		must(cal_map_bound(m, ltick(stamps[i])) >= 0);
		must(cal_map_proven(m, ltick(stamps[i])) >= 0);
		cal_walk_next(&w, ltick(stamps[i]), &bound);
		must(bound >= 0);
	}
}

static void read_run(const char *text, size_t size)
{
	struct tkm_err err = { 0 };
	struct cal_run run, again;
	char *written = NULL;
	size_t i, n = 0;
	FILE *f;

	if (cal_clk_read(text, size, "x.clk", &run, &err) < 0) {
		must(*err.text != 0);
		return;
	}
	for (i = 0; i < run.ranks; i++) {
		look_up(&run.rank[i].map);
	}
	f = open_memstream(&written, &n);
	must(f && cal_clk_write(f, &run, "fuzz", &err) == 0 && fclose(f) == 0);
	cal_run_free(&run);
	must(cal_clk_read(written, n, "y.clk", &again, &err) == 0);
	cal_run_free(&again);
	free(written);
}

/* What processes send to the master, or leave while they run. */
static void read_parts(const char *text, size_t size)
{
	struct cal_pairs pairs = { 0 };
	struct cal_rank r = { 0 };
	struct tkm_err err = { 0 };

	if (cal_clk_read_rank(text, size, "x", &r, &err) == 0) {
		cal_rank_free(&r);
	}
	memset(&r, 0, sizeof(r));
	cal_clk_read_new(text, size, "x", &r, &err);
	cal_rank_free(&r);
	cal_clk_add_pairs(text, size, &pairs, &err);
	cal_pairs_free(&pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	read_run(text, size);
	read_parts(text, size);
	free(text);
	return 0;
}
