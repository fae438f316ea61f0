/* SPDX-License-Identifier: BSD-3-Clause */
/* Correction files with one number that is wrong. */
#include "config.h"
#include "calib/file/clk.h"
#include "calib/session/sync.h"
#include "calib/solve/solve.h"
#include "lab/compare/link_sim.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/unit/calib/scenario.h"

#include <ctype.h>

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

static const char quiet[] = "delay=100ns,jitter=20ns,read=14ns";

/* ---- the file ---- */

static char *as_text(const struct cal_run *run, size_t *length)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, length);

	CHECK(cal_clk_write(f, run, "test", NULL) == 0, "write");
	fclose(f);
	return text;
}

/* The reference of a pair may begin on the tick on which that of the pair before ended. Blanks between words do not matter. */
static void pairs_that_touch_and_blanks_are_read(void)
{
	static const struct cal_reading pair[] = { { .local = { 10 }, .before = { 5 }, .after = { 7 } },
		{ .local = { 30 }, .before = { 7 }, .after = { 9 } } };
	struct scenario sc = { "pairs", 2, "tick=1ns", quiet, 1, 0, -1, 0, 0, CAL_LINEAR, CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	struct cal_run run, back;
	struct cal_rank *r;
	char *text, *more, *at;
	size_t n;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	r = &run.rank[1];
	r->reference_hz = 1e9;
	r->pairs.reference_hz = 1e9;
	r->pairs.max_slew = 500e-6;
	r->pairs.slew_limit = 0.1;
	CHECK(cal_pairs_add(&r->pairs, &pair[0], &err) == 0 && cal_pairs_add(&r->pairs, &pair[1], &err) == 0, "%s",
		err.text);
	snprintf(r->host, sizeof(r->host), "a host");
	text = as_text(&run, &n);
	more = calloc(1, n + 3);
	at = strstr(text, "\"a host\"");
	CHECK(at != NULL, "no host in %s", text);
	snprintf(more, n + 3, "%.*s  %s", (int)(at - text), text, at);
	CHECK(cal_clk_read(more, n + 2, "x.clk", &back, &err) == 0, "%s", err.text);
	CHECK_STR(back.rank[1].host, "a host");
	CHECK_INT(back.rank[1].pairs.n, 2);
	cal_run_free(&back);
	at = strstr(text, "pair 30 7 9 ");
	CHECK(at != NULL, "no pair in %s", text);
	at[8] = '6'; /* and not before it */
	CHECK(cal_clk_read(text, n, "x.clk", &back, &err) < 0 && strstr(err.text, "must ascend"), "%s", err.text);
	free(text);
	free(more);
	cal_run_free(&run);
	cal_link_close(l);
}

static void every_cut_of_the_file_is_an_error(void)
{
	struct scenario sc = { "cut", 2, "tick=1ns,step={rank}s@700ms", quiet, 1, 0.5, -1, 0, 0, CAL_CONSTRAINED,
		CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	struct cal_run run, back;
	char *text;
	size_t n, cut;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	text = as_text(&run, &n);
	for (cut = 0; cut < n; cut++) {
		char *part = malloc(cut + 1);

		memcpy(part, text, cut);
		err.text[0] = '\0';
		CHECK(cal_clk_read(part, cut, "x.clk", &back, &err) < 0, "%zu of %zu bytes were taken", cut, n);
		CHECK(strncmp(err.text, "x.clk:", 6) == 0, "%s", err.text);
		free(part);
	}
	free(text);
	cal_run_free(&run);
	cal_link_close(l);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_number_that_is_none_is_an_error);
	RUN(pairs_that_touch_and_blanks_are_read);
	RUN(every_cut_of_the_file_is_an_error);
	return check_end();
}
