/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of others over simulated links, where the truth is known: each must be as good as its paper
 * lets it be, or a comparison with it would be worth nothing. And the comparison itself. */
#include "config.h"
#include "lab/compare/link_sim.h"
#include "calib/session/link_private.h"
#include "lab/compare/truth.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

enum { RANKS_MOST = 17 };

static double hz[RANKS_MOST], tick_s[RANKS_MOST];
static struct tmr_timer *clock_of[RANKS_MOST];

static struct cal_link *open_link(int ranks, const char *clocks, const char *network)
{
	struct tkm_err err = { .text = "" };
	struct cal_link *l = cal_link_sim(ranks, clocks, network, &err);
	int i;

	CHECK(l != NULL, "%s", err.text);
	for (i = 0; i < ranks; i++) {
		clock_of[i] = cal_link_sim_clock(l, i);
		hz[i] = clock_of[i]->hz;
		tick_s[i] = 1 / hz[i];
	}
	l->timer = clock_of[0];
	return l;
}

/* Master's time by a rank's line minus the master's true time, `after` seconds from now. */
static double error_of(struct cal_link *l, const struct cal_line *line, int rank, double after)
{
	int64_t at = cal_link_sim_time(l)->now_ps + llrint(after * 1e12);
	double f0, f;
	ltick_t l0 = tmr_sim_truth(clock_of[0], at, &f0), here = tmr_sim_truth(clock_of[rank], at, &f);

	return ((double)ltick_sub(line->master0, l0) - f0 + line->offset +
		       line->slope * ((double)ltick_sub(here, line->local0) + f)) /
		hz[0];
}

static double worst_of(struct cal_link *l, const struct cal_baseline_rank *out, double after)
{
	double worst = 0;
	int i;

	for (i = 1; i < l->size; i++) {
		worst = fmax(worst, fabs(error_of(l, &out[i].line, i, after)));
	}
	return worst;
}

static const char clocks[] = "offset={rank}ms,drift={rank}ppm,tick=0.{rank}7ns";

/* Clocks that run 1 to 4 ppm off, 200 ns each way, hardly any jitter: what is left is grids and drift. */
static void each_finds_offset_and_drift_of_quiet_clocks(void)
{
	/* an offset alone is off by the drift times the time: 4 ppm at most; hca3's line is learned in two milliseconds */
	static const double after_10s[CAL_BASELINES] = { 41e-6, 41e-6, 2e-6, 20e-9 };
	enum cal_baseline b;

	for (b = 0; b < CAL_BASELINES; b++) {
		struct cal_link *l = open_link(5, clocks, "delay=200ns,jitter=2ns,seed=1");
		struct cal_baseline_options opt = { .hz = hz };
		struct cal_baseline_rank out[5];
		struct tkm_err err;
		double now, later;

		CHECK(cal_baseline_run(l, b, &opt, out, &err) == 0, "%s: %s", cal_baseline_name(b), err.text);
		now = worst_of(l, out, 0);
		later = worst_of(l, out, 10);
		printf("# %-6s worst of 4 ranks: %.2f ns, after 10 s %.1f ns, %lld messages of rank 4\n",
			cal_baseline_name(b), now * 1e9, later * 1e9, out[4].messages);
		CHECK(now <= 8e-9, "%s: %g s off right after", cal_baseline_name(b), now);
		CHECK(later <= after_10s[b], "%s: %g s off after 10 s", cal_baseline_name(b), later);
		CHECK(b >= CAL_HCA3 || later > 30e-6, "%s: it has no drift, and %g s is too good to be true",
			cal_baseline_name(b), later);
		cal_link_close(l);
	}
}

static void each_uses_the_number_of_messages_of_its_paper(void)
{
	static const long long wanted[CAL_BASELINES] = { 20, 200, 0, 200000 };
	enum cal_baseline b;
	int i;

	for (b = 0; b < CAL_BASELINES; b++) {
		struct cal_link *l = open_link(3, clocks, "delay=200ns,jitter=20ns,seed=2");
		struct cal_baseline_options opt = { .hz = hz };
		struct cal_baseline_rank out[3];
		struct tkm_err err;

		CHECK(cal_baseline_run(l, b, &opt, out, &err) == 0, "%s", err.text);
		for (i = 1; i < 3; i++) {
			/* hca3: 501 estimates of 5 to 20 ping-pongs, the first of 20 */
			CHECK(wanted[b] ? out[i].messages == wanted[b]
					: out[i].messages >= 2 * (20 + 500 * 5) && out[i].messages < 2 * 501 * 20,
				"%s: %lld messages", cal_baseline_name(b), out[i].messages);
			CHECK(out[i].shortest / hz[i] >= 400e-9 && out[i].shortest / hz[i] < 470e-9, "%g s",
				out[i].shortest / hz[i]);
		}
		cal_link_close(l);
	}
}

/* What no method can see, none may seem to see: half of a constant asymmetry, per edge of the path. */
static void an_asymmetric_path_costs_each_half_of_it(void)
{
	enum cal_baseline b;

	for (b = 0; b < CAL_BASELINES; b++) {
		struct cal_link *l = open_link(4, clocks, "delay=200ns,jitter=1ns,asym=400ns,seed=3");
		struct cal_baseline_options opt = { .hz = hz, .fit_points = 200, .exchanges = 20 };
		struct cal_baseline_rank out[4];
		struct tkm_err err;
		/* messages to higher ranks take longer; rank 3 of the tree has two edges */
		double wanted = b == CAL_HCA3 ? 400e-9 : 200e-9;

		CHECK(cal_baseline_run(l, b, &opt, out, &err) == 0, "%s", err.text);
		CHECK_NEAR(fabs(error_of(l, &out[3].line, 3, 0)), wanted, 10e-9);
		CHECK_NEAR(fabs(error_of(l, &out[1].line, 1, 0)), 200e-9, 10e-9);
		cal_link_close(l);
	}
}

/* The ways of estimating are those of the papers: ten messages of which nine are slow one way, a different one
 * each time, do not hurt the least round trip; and the interval takes the best of each direction, from different
 * exchanges if need be, so it beats the least round trip where most messages are slow. */
static void estimates_are_those_of_the_papers(void)
{
	double error[2] = { 0, 0 };
	int round, b;

	for (round = 0; round < 200; round++) {
		for (b = CAL_MIN10; b <= CAL_SKAMPI; b++) {
			char network[80];
			struct cal_baseline_rank out[2];
			struct cal_baseline_options opt = { .hz = hz, .exchanges = 10 };
			struct cal_link *l;
			struct tkm_err err;

			snprintf(network, sizeof(network), "delay=200ns,jitter=10ns,outlier=3us,outliers=0.7,seed=%d",
				round);
			l = open_link(2, "offset={rank}ms,tick=0.1ns", network);
			CHECK(cal_baseline_run(l, (enum cal_baseline)b, &opt, out, &err) == 0, "%s", err.text);
			error[b] += fabs(error_of(l, &out[1].line, 1, 0)) / 200;
			cal_link_close(l);
		}
	}
	printf("# 7 of 10 messages slow: least round trip %.0f ns off, interval %.0f ns\n", error[0] * 1e9,
		error[1] * 1e9);
	CHECK(error[1] < 0.4 * error[0], "interval %g s, least round trip %g s", error[1], error[0]);
	CHECK(error[0] < 1e-6, "the least round trip was not taken: %g s", error[0]);
}

static void the_tree_reaches_any_number_of_ranks(void)
{
	int ranks;

	for (ranks = 1; ranks <= RANKS_MOST; ranks++) {
		struct cal_link *l =
			open_link(ranks, "offset={rank}ms,drift={rank}ppm,tick=0.5ns", "delay=200ns,jitter=5ns,seed=4");
		struct cal_baseline_options opt = { .hz = hz, .fit_points = 20, .exchanges = 20 };
		struct cal_baseline_rank out[RANKS_MOST];
		struct tkm_err err;

		CHECK(cal_baseline_run(l, CAL_HCA3, &opt, out, &err) == 0, "%s", err.text);
		/* a line through 20 points of less than half a millisecond is worth only what it is worth */
		CHECK(worst_of(l, out, 0) < 150e-9, "%d ranks: %g s", ranks, worst_of(l, out, 0));
		cal_link_close(l);
	}
}

static void the_check_finds_what_is_left(void)
{
	struct cal_link *l =
		open_link(3, "offset={rank}ms,drift={rank}0ppm,tick=0.5ns", "delay=200ns,jitter=5ns,seed=5");
	struct cal_baseline_options opt = { .hz = hz };
	struct cal_baseline_rank out[3];
	struct tkm_err err;

	CHECK(cal_baseline_run(l, CAL_SKAMPI, &opt, out, &err) == 0, "%s", err.text);
	CHECK(isnan(out[1].check_s) && isnan(out[2].check_s), "not checked yet");
	cal_link_sleep(l, 1);
	CHECK(cal_baseline_check(l, &opt, out, &err) == 0, "%s", err.text);
	/* 10 and 20 us have come together in a second */
	CHECK_NEAR(fabs(out[1].check_s), 10e-6, 50e-9);
	CHECK_NEAR(fabs(out[2].check_s), 20e-6, 50e-9);
	CHECK_NEAR(out[2].check_s, -error_of(l, &out[2].line, 2, 0), 50e-9);
	cal_link_close(l);
}

static void no_answer_is_an_error_with_the_rank(void)
{
	struct cal_link *l = open_link(2, "tick=1ns", "delay=200ns,loss=1");
	struct cal_baseline_options opt = { .hz = hz, .fit_points = 2, .exchanges = 2 };
	struct cal_baseline_rank out[2];
	struct tkm_err err;

	CHECK(cal_baseline_run(l, CAL_JK, &opt, out, &err) < 0 && strstr(err.text, "rank 1"), "%s", err.text);
	cal_link_close(l);
}

/* A rate that swings while the points of the line are measured: the line through them all is off at its end, and the offset
 * that is measured anew there is not. */
static void hca3_measures_its_intercept_anew(void)
{
	double off[2];
	int without;

	for (without = 0; without < 2; without++) {
		struct cal_link *l =
			open_link(4, "offset={rank}ms,drift={rank}ppm,wobble={rank}000ppm/3ms,tick=0.{rank}7ns",
				"delay=200ns,jitter=10ns,seed=8");
		struct cal_baseline_options opt = { .hz = hz, .without_intercept = without };
		struct cal_baseline_rank out[4];
		struct tkm_err err;

		CHECK(cal_baseline_run(l, CAL_HCA3, &opt, out, &err) == 0, "%s", err.text);
		off[without] = fabs(error_of(l, &out[1].line, 1, 0));
		cal_link_close(l);
	}
	printf("# a rate that swings by 0.1 %% in 3 ms: %.1f ns off, without a new intercept %.1f ns\n", off[0] * 1e9,
		off[1] * 1e9);
	CHECK(off[0] < 5e-9, "%g s off", off[0]);
	CHECK(off[1] > 4 * off[0] && off[1] > 10e-9, "a line without the step is off by no more than %g s", off[1]);
}

/* The estimate ends early where most exchanges are quick, and does not where one in twenty is. */
static void hca3_stops_an_estimate_when_it_knows_enough(void)
{
	static const char *const network[] = { "delay=200ns,jitter=1ns,seed=9", "delay=200ns,jitter=2us,seed=9" };
	long long messages[2];
	int k;

	for (k = 0; k < 2; k++) {
		struct cal_link *l = open_link(2, "tick=0.1ns", network[k]);
		struct cal_baseline_options opt = { .hz = hz };
		struct cal_baseline_rank out[2];
		struct tkm_err err;

		CHECK(cal_baseline_run(l, CAL_HCA3, &opt, out, &err) == 0, "%s", err.text);
		messages[k] = out[1].messages;
		cal_link_close(l);
	}
	CHECK_INT(messages[0], 2 * (20 + 500 * 5));
	CHECK(messages[1] > 2 * 501 * 15 && messages[1] <= 2 * 501 * 20, "%lld messages", messages[1]);
}

/* Two offsets give a line, and it is right between them and beyond where the rate is constant. */
static void two_offsets_give_a_line(void)
{
	struct cal_link *l =
		open_link(3, "offset={rank}ms,drift={rank}7ppm,tick=0.{rank}7ns", "delay=200ns,jitter=5ns,seed=10");
	struct cal_baseline_options opt = { .hz = hz };
	struct cal_baseline_rank first[3], last[3];
	struct tkm_err err;
	int i;

	CHECK(cal_baseline_run(l, CAL_MIN10, &opt, first, &err) == 0, "%s", err.text);
	cal_link_sleep(l, 10);
	CHECK(cal_baseline_run(l, CAL_MIN10, &opt, last, &err) == 0, "%s", err.text);
	CHECK(fabs(error_of(l, &first[2].line, 2, 0)) > 150e-6, "an offset alone has no drift");
	for (i = 1; i < 3; i++) {
		cal_baseline_join(&first[i], &last[i]);
		CHECK(fabs(error_of(l, &last[i].line, i, -10)) < 5e-9, "rank %d at the first: %g s", i,
			error_of(l, &last[i].line, i, -10));
		CHECK(fabs(error_of(l, &last[i].line, i, -5)) < 5e-9, "rank %d between: %g s", i,
			error_of(l, &last[i].line, i, -5));
		CHECK(fabs(error_of(l, &last[i].line, i, 10)) < 10e-9, "rank %d later: %g s", i,
			error_of(l, &last[i].line, i, 10));
		CHECK_INT(last[i].messages, 40);
	}
	cal_link_close(l);
}

static void each_can_be_given_another_number_of_messages(void)
{
	static const double share[] = { 0.001, 0.1, 0.5, 3 };
	enum cal_baseline b;
	size_t k;

	for (b = 0; b < CAL_BASELINES; b++) {
		double published = 0;

		for (k = 0; k <= sizeof(share) / sizeof(share[0]); k++) {
			struct cal_link *l = open_link(2, "tick=0.1ns", "delay=200ns,jitter=5ns,seed=11");
			struct cal_baseline_options opt = { .hz = hz };
			struct cal_baseline_rank out[2];
			struct tkm_err err;
			double got;

			cal_baseline_scale(b, k ? share[k - 1] : 1, &opt);
			CHECK(k || (opt.exchanges == 0 && opt.fit_points == 0), "%d, %d", opt.exchanges,
				opt.fit_points);
			CHECK(cal_baseline_run(l, b, &opt, out, &err) == 0, "%s", err.text);
			got = (double)out[1].messages;
			published = k ? published : got;
			/* one ping-pong is the least, and of a line ten; an early end makes some difference */
			CHECK(!k || (b == CAL_SKAMPI && share[k - 1] > 1 && got == published) ||
					(got > 0.6 * share[k - 1] * published - 20 &&
						got < 1.7 * share[k - 1] * published + 60),
				"%s: %g of %g messages for %g", cal_baseline_name(b), got, published,
				k ? share[k - 1] : 1);
			cal_link_close(l);
		}
	}
}

/* One row of the comparison; "published" has the numbers that were asked for. */
static void check_row(const struct cal_truth_row *r, int table, int m)
{
	const char *name = cal_truth_name(m);
	int ours = m < CAL_TRUTH_BASELINE, min10 = m == CAL_TRUTH_BASELINE + CAL_MIN10,
	    published = table == CAL_TRUTH_PUBLISHED;

	CHECK(r->rtt_s > 400e-9 && r->rtt_s < 1000e-9, "%s: round trip %g s", name, r->rtt_s);
	CHECK(r->error_s[0] > 0 && r->error_s[0] < (ours || m < CAL_TRUTH_BASELINE + CAL_HCA3 ? 500e-9 : 10e-6),
		"%s: %g s off", name, r->error_s[0]);
	CHECK(r->duration_s > 0 && r->messages > 0, "%s: %lld messages in %g s", name, r->messages, r->duration_s);
	CHECK_INT(r->sessions, m == CAL_TRUTH_PAIRS ? 5 : ours || min10 ? 2 : 1);
	/* a session is held up for 8 ms now and then */
	CHECK(r->total_s >= r->duration_s && r->total_s < r->sessions * (r->duration_s * 20 + 8e-3),
		"%g s in all, %g s each", r->total_s, r->duration_s);
	CHECK_INT(!isnan(r->between_s), ours || min10);
	CHECK(isnan(r->between_s) || (r->between_s > 0 && r->between_s < 500e-9), "%s: %g s between the sessions", name,
		r->between_s);
	CHECK_INT(!isnan(r->bound_s[2]), ours);
	CHECK_INT(r->outside, 0);
	CHECK_INT(isnan(r->claimed_s), m == CAL_TRUTH_ITC || min10);
	CHECK(!ours || (r->half_s > 0.1e-6 && r->half_s < 1e-6 && r->bound_s[0] >= r->error_s[0]),
		"%s: half width %g s", name, r->half_s);
	CHECK(m != CAL_TRUTH_BASELINE + CAL_SKAMPI || r->error_s[2] > 1e-3, "%s: %g s after 60 s of 51 ppm", name,
		r->error_s[2]);
	/* two offsets a second apart give a rate */
	CHECK(!min10 || r->error_s[2] < 100e-6, "%s: %g s after 60 s", name, r->error_s[2]);
	CHECK(!ours || !published || r->error_s[1] < 20e-6, "%s: %g s after 10 s", name, r->error_s[1]);
}

static void compare(enum cal_shape shape)
{
	enum { ROUNDS = 3 };
	struct cal_truth_row row[ROUNDS * CAL_TRUTH_TABLES * CAL_TRUTH_METHODS];
	struct cal_link *l = open_link(4,
		"offset={rank}ms,drift=-{rank}7ppm,wobble=0.2ppm/40s,tick=7.{rank}ns,noise=1ns,seed={rank}",
		"delay=200ns,jitter=20ns,outlier=8ms,outliers=0.001,asym=50ns,seed=6");
	struct cal_truth_options opt = { .methods = (1u << CAL_TRUTH_METHODS) - 1,
		.tables = (1u << CAL_TRUTH_TABLES) - 1,
		.rounds = ROUNDS,
		.apart_s = 1,
		.sessions = 5,
		.sync = { .max_messages = 100, .max_duration_s = 60, .hz = hz },
		.baseline = { .fit_points = 100, .exchanges = 20 },
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.tick_s = tick_s,
		.clock = clock_of };
	int member[4] = { 0, 1, 2, 3 }, i, table, m;
	struct cal_plan plan;
	struct tkm_err err;

	for (i = 0; i < 4; i++) {
		tick_s[i] += 10e-9; /* noise */
	}
	CHECK(cal_plan_make(&plan, shape, member, 4, NULL, NULL, &err) == 0, "%s", err.text);
	opt.plan = &plan;
	CHECK(cal_truth_measure(l, &opt, row, &err) == 0, "%s", err.text);
	for (i = 0; i < ROUNDS; i++) {
		const struct cal_truth_row *ours = cal_truth_row(row, i, CAL_TRUTH_PUBLISHED, CAL_TRUTH_PAIRS);

		for (table = 0; table < CAL_TRUTH_TABLES; table++) {
			for (m = 0; m < CAL_TRUTH_METHODS; m++) {
				const struct cal_truth_row *r = cal_truth_row(row, i, table, m);

				check_row(r, table, m);
				if (table == CAL_TRUTH_MESSAGES && m != CAL_TRUTH_ITC &&
					m != CAL_TRUTH_BASELINE + CAL_SKAMPI) {
					/* how early hca3's estimates end depends on how narrow its first interval happens to be */
					double slack = m == CAL_TRUTH_BASELINE + CAL_HCA3 ? 3 : 1.5;

					CHECK(r->messages > (double)ours->messages / slack &&
							r->messages < (double)ours->messages * slack,
						"%s: %lld messages, %lld of ours", cal_truth_name(m), r->messages,
						ours->messages);
				}
			}
		}
	}
	/* without pairs there is nothing to be equal to */
	opt.methods &= ~(1u << CAL_TRUTH_PAIRS);
	CHECK(cal_truth_measure(l, &opt, row, &err) < 0 && strstr(err.text, "of pairs"), "%s", err.text);
	cal_plan_free(&plan);
	cal_link_close(l);
}

static int let_go; /* calls that let waiting processes give up their cores */

static void note_cores(struct cal_link *l, int hold)
{
	(void)l;
	let_go += !hold;
}

/* How often that is so with one method alone. */
static int lets_go(int method)
{
	struct cal_truth_row row[CAL_TRUTH_TABLES * CAL_TRUTH_METHODS];
	struct cal_link *l = open_link(2, "offset={rank}ms,tick=1ns", "delay=200ns,jitter=20ns,seed=6");
	double clock_hz[2] = { 1e9, 1e9 }, ticks_s[2] = { 1e-9, 1e-9 };
	struct cal_truth_options opt = { .methods = 1u << method,
		.tables = 1u << CAL_TRUTH_PUBLISHED,
		.rounds = 1,
		.apart_s = 1,
		.sessions = 2,
		.sync = { .max_messages = 20, .max_duration_s = 60, .hz = clock_hz },
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.tick_s = ticks_s,
		.clock = clock_of };
	struct cal_link_ops ops = *l->ops;
	int member[2] = { 0, 1 };
	struct cal_plan plan;
	struct tkm_err err;

	ops.hold_cores = note_cores;
	l->ops = &ops;
	let_go = 0;
	CHECK(cal_plan_make(&plan, CAL_SHAPE_STAR, member, 2, NULL, NULL, &err) == 0, "%s", err.text);
	opt.plan = &plan;
	CHECK(cal_truth_measure(l, &opt, row, &err) == 0, "%s", err.text);
	cal_plan_free(&plan);
	cal_link_close(l);
	return let_go;
}

/* The processes of the guide's method wait as the launcher has set it; those of the others keep their cores. */
static void one_method_gives_up_its_cores(void)
{
	CHECK(lets_go(CAL_TRUTH_ITC) > 0, "the guide's method keeps its cores");
	CHECK_INT(lets_go(CAL_TRUTH_PAIRS), 0);
}

static void by_a_tree(void)
{
	compare(CAL_SHAPE_TREE);
}

static void the_comparison_has_every_method_and_the_bound_holds(void)
{
	compare(CAL_SHAPE_STAR);
	CHECK_HEAP(by_a_tree, 3);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(each_finds_offset_and_drift_of_quiet_clocks);
	RUN(each_uses_the_number_of_messages_of_its_paper);
	RUN(an_asymmetric_path_costs_each_half_of_it);
	RUN(estimates_are_those_of_the_papers);
	RUN(the_tree_reaches_any_number_of_ranks);
	RUN(the_check_finds_what_is_left);
	RUN(hca3_measures_its_intercept_anew);
	RUN(hca3_stops_an_estimate_when_it_knows_enough);
	RUN(two_offsets_give_a_line);
	RUN(each_can_be_given_another_number_of_messages);
	RUN(no_answer_is_an_error_with_the_rank);
	RUN(one_method_gives_up_its_cores);
	RUN(the_comparison_has_every_method_and_the_bound_holds);
	return check_end();
}
