/* SPDX-License-Identifier: BSD-3-Clause */
/* Correction files with one number that is wrong. */
#include "config.h"

#include <ctype.h>

#include "calib/file/clk.h"
#include "lab/compare/link_sim.h"
#include "calib/session/sync.h"
#include "calib/solve/solve.h"
#include "tests/lib/check.h"
#include "timers/sources/sim.h"

enum { RANKS = 3, SESSIONS = 3 };

/* A run with three sessions in a tree, and one rank with readings beside another clock. */
static void make(struct cal_run *run)
{
	static const struct cal_reading pair[] = { { .local = { 10 }, .before = { 5 }, .after = { 7 }, .over = 1 },
		{ .local = { 30 }, .before = { 8 }, .after = { 9 }, .over = 2 } };
	struct tkm_err err = { .text = "" };
	struct cal_link *l =
		cal_link_sim(RANKS, "offset={rank}ms,drift={rank}ppm,tick=1ns", "delay=100ns,jitter=20ns,seed=3", &err);
	double hz[RANKS] = { 1e9, 1e9, 1e9 };
	struct cal_sync_options opt = { .max_messages = 5, .max_duration_s = 60, .method = CAL_SYNC_PAIRS, .hz = hz };
	int member[RANKS] = { 0, 1, 2 }, i, k;
	unsigned char all[RANKS] = { 1, 1, 1 };
	struct cal_plan plan;

	CHECK(l != NULL, "%s", err.text);
	*run = (struct cal_run){
		.ranks = RANKS, .max_drift = 500e-6, .max_wander = 1e-6, .wanted = CAL_CUBIC, .method = CAL_SYNC_PAIRS
	};
	run->rank = calloc(RANKS, sizeof(*run->rank));
	for (i = 0; i < RANKS; i++) {
		run->rank[i].rank = i;
		run->rank[i].nominal_hz = 1e9;
		run->rank[i].effective_tick_s = 1e-9;
		snprintf(run->rank[i].host, sizeof(run->rank[i].host), "host");
		snprintf(run->rank[i].timer, sizeof(run->rank[i].timer), "sim");
	}
	l->timer = NULL;
	CHECK(cal_plan_make(&plan, CAL_SHAPE_TREE, member, RANKS, NULL, NULL, &err) == 0, "%s", err.text);
	for (k = 0; k < SESSIONS; k++) {
		cal_link_sleep(l, 0.5);
		CHECK(cal_sync_ranks(l, 0, &plan, all, &opt,
			      k == 0                      ? CAL_START
				      : k == SESSIONS - 1 ? CAL_END
							  : CAL_MIDDLE,
			      run->rank, &err) == 0,
			"%s", err.text);
	}
	run->rank[0].anchors = 2;
	for (k = 0; k < 2; k++) {
		run->rank[0].anchor[k] = (struct cal_anchor){ .local = ltick(k * 2000000000LL),
			.realtime_ns = k * 2000000000LL,
			.monotonic_ns = k * 2000000000LL };
	}
	CHECK(cal_solve(run, 0, &err) == 0, "%s", err.text);
	run->rank[1].reference_hz = 1e9;
	run->rank[1].pairs.reference_hz = 1e9;
	run->rank[1].pairs.max_slew = 500e-6;
	run->rank[1].pairs.slew_limit = 0.1;
	CHECK(cal_pairs_add(&run->rank[1].pairs, &pair[0], &err) == 0 &&
			cal_pairs_add(&run->rank[1].pairs, &pair[1], &err) == 0,
		"%s", err.text);
	cal_plan_free(&plan);
	cal_link_close(l);
}

static void a_number_that_is_none_is_an_error(void)
{
	struct cal_run run, back;
	struct tkm_err err;
	char *text = NULL, *wrong, *at, *line;
	size_t size = 0, n, tried = 0;
	FILE *f = open_memstream(&text, &size);

	make(&run);
	CHECK(cal_clk_write(f, &run, "test", &err) == 0, "%s", err.text);
	fclose(f);
	CHECK(cal_clk_read(text, size, "x.clk", &back, &err) == 0, "%s", err.text);
	cal_run_free(&back);
	wrong = malloc(size + 1);
	for (line = text; *line; line = strchr(line, '\n') + 1) {
		for (at = line; *at != '\n'; at += strspn(at, " ")) {
			n = strcspn(at, " \n");
			if (isdigit((unsigned char)*at) || *at == '-') {
				memcpy(wrong, text, size);
				wrong[at - text] = '!';
				tried++;
				if (cal_clk_read(wrong, size, "x.clk", &back, &err) == 0) {
					CHECK(0, "%.*s: '!' in %.*s is taken", (int)strcspn(line, "\n"), line, (int)n,
						at);
					cal_run_free(&back);
				}
			}
			at += n;
		}
	}
	CHECK(tried > 500, "%zu numbers", tried);
	printf("# %zu numbers in %zu bytes\n", tried, size);
	free(wrong);
	free(text);
	cal_run_free(&run);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_number_that_is_none_is_an_error);
	return check_end();
}
