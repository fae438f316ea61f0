/* SPDX-License-Identifier: BSD-3-Clause */
/* What sessions say about each other, against clocks whose truth is known. Local ticks of 1 ns, global ones of 0.1 ns. */
#include "config.h"
#include "calib/map/curve.h"
#include "calib/map/map.h"
#include "tests/lib/check.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NODES = 40 };

static const double wander = 1e-6;

/* A rate that is as far as it may be from 10 on one side, then on the other: the change at each of these times, in seconds. */
struct swings {
	int n, first;
	double at[30], middle;
};

static void make_swings(struct swings *s, double seconds)
{
	int i;

	s->n = (int)(check_uniform() * 30);
	s->first = check_random() % 2 ? 1 : -1;
	s->middle = 10 * (1 + (check_uniform() - 0.5) * 1e-4);
	for (i = 0; i < s->n; i++) {
		s->at[i] = seconds * check_uniform();
	}
}

/* Global ticks at that local time: the sum over the changes up to then. */
static double true_time(const struct swings *s, double local_s)
{
	double extra = s->first * local_s;
	int i;

	for (i = 0; i < s->n; i++) {
		/* each change turns the rate round; which way depends on how many came before it */
		int before = 0, k;

		for (k = 0; k < s->n; k++) {
			before += s->at[k] < s->at[i];
		}
		if (local_s > s->at[i]) {
			extra += 2 * s->first * (before % 2 ? 1 : -1) * (local_s - s->at[i]);
		}
	}
	return s->middle * 1e9 * local_s + s->middle * wander * 1e9 * extra;
}

/* Sessions of that many seconds in all; `poor` of 100 are certain of up to 100 times less. */
static void make_nodes(struct cal_map *m, const struct swings *s, size_t n, double seconds, unsigned poor)
{
	double at = 0;
	size_t i;

	m->nodes = n;
	m->node = calloc(n, sizeof(*m->node));
	for (i = 0; i < n; i++) {
		double width = 2000 * (0.5 + check_uniform()), truth;
		int64_t low;

		width *= check_random() % 100 < poor ? 1 + 99 * check_uniform() : 1;
		at += seconds / (double)n * (0.05 + 1.9 * check_uniform());
		truth = true_time(s, floor(at * 1e9) * 1e-9);
		low = (int64_t)floor(truth - width * check_uniform());
		m->node[i] = (struct cal_node){ .local = ltick((int64_t)floor(at * 1e9)),
			.low = gtick(low),
			.high = gtick(low + (int64_t)width + 1),
			.used = i == 0 || i + 1 == n || check_random() % 10 };
		m->node[i].global = gtick(low + (int64_t)(width * check_uniform()));
		m->node[i].sigma = 0.1 * width;
	}
}

static int node_holds(const struct cal_node *n, double truth)
{
	return (double)cal_node_low(n).v <= truth + 2 && truth - 2 <= (double)cal_node_high(n).v;
}

/* However the rate swings within what is assumed, no session is made to exclude the truth, and no stamp leaves its bound. */
static void the_truth_stays_inside(void)
{
	size_t narrowed = 0, nodes = 0, i, outside = 0;
	int round, k;

	for (round = 0; round < 3000; round++) {
		struct cal_map m = { .period_s = 1e-10, .max_drift = 1e-4, .max_wander = wander };
		double seconds = pow(10, -1 + 4 * check_uniform()), first, last;
		struct swings s;
		struct tkm_err err;

		make_swings(&s, seconds * 2);
		make_nodes(&m, &s, 2 + check_random() % (MOST_NODES - 2), seconds, check_random() % 100);
		CHECK(cal_map_split(&m, 10, &err) == 0, "%s", err.text);
		cal_map_narrow(&m);
		for (i = 0; i < m.nodes; i++) {
			const struct cal_node *n = &m.node[i];

			nodes += (size_t)n->used;
			narrowed += n->above > 0 || n->below > 0;
			CHECK(n->used || (n->above == 0 && n->below == 0), "a check is no longer what it was");
			CHECK(node_holds(n, true_time(&s, (double)n->local.v * 1e-9)), "round %d: session %zu of %zu",
				round, i, m.nodes);
		}
		CHECK(cal_curve(&m, 0, CAL_SPLINE_CUBIC, 10, &err) == 0, "%s", err.text);
		first = (double)m.node[0].local.v * 1e-9;
		last = (double)m.node[m.nodes - 1].local.v * 1e-9;
		for (k = 0; k < 50; k++) {
			ltick_t at = ltick((int64_t)((first + (last - first) * (1.2 * check_uniform() - 0.1)) * 1e9));
			double off = fabs((double)cal_map_at(&m, at).v - true_time(&s, (double)at.v * 1e-9)) * 1e-10;

			outside += !(off <= cal_map_bound(&m, at) + 3e-10);
		}
		cal_map_free(&m);
	}
	CHECK_INT(outside, 0);
	CHECK(narrowed > nodes / 10, "%zu of %zu sessions", narrowed, nodes);
}

/* At one end of its band up to a poor session at u, at the other end from there on: farther from the straight line no clock with
 * that wander can be. The two sessions beside it are certain to a tick, and off by it. */
static void check_at_the_ends_of_the_band(double most, double u, double seconds, int slow_first)
{
	struct cal_node node[3] = { { .used = 1 }, { .used = 1 }, { .used = 1 } };
	struct cal_map m = { .period_s = 1e-10, .max_drift = 1e-2, .max_wander = most, .nodes = 3, .node = node };
	double to = seconds * 1e9, before = 10 * (1 + (slow_first ? -most : most)), after = 20 - before;
	double local[3] = { 0, floor(u * to), to }, truth[3] = { 0, before * local[1], 0 }, off;
	int i;

	truth[2] = truth[1] + after * (to - local[1]);
	for (i = 0; i < 3; i++) {
		int64_t wide = i == 1 ? 10 * (int64_t)to : 1;

		node[i].local = ltick((int64_t)local[i]);
		node[i].global = gtick((int64_t)truth[i]);
		node[i].low = gtick((int64_t)truth[i] - wide);
		node[i].high = gtick((int64_t)truth[i] + wide);
	}
	cal_map_narrow(&m);
	CHECK(node[1].above > 0 && node[1].below > 0, "%g at %g: not narrowed", most, u);
	CHECK(node_holds(&node[1], truth[1]), "%g at %g: from %g to %g around the truth", most, u,
		(double)cal_node_low(&node[1]).v - truth[1], (double)cal_node_high(&node[1]).v - truth[1]);
	/* the same without that session, on the straight line */
	node[1] = node[2];
	m.nodes = 2;
	CHECK(cal_map_line(&m, ltick(0), gtick(0), truth[2] / to, NULL) == 0, "line");
	off = fabs((double)cal_map_at(&m, ltick((int64_t)local[1])).v - truth[1]) * m.period_s;
	CHECK(off <= cal_map_bound(&m, ltick((int64_t)local[1])), "%g at %g: %g off, the bound is %g", most, u, off,
		cal_map_bound(&m, ltick((int64_t)local[1])));
	CHECK(cal_map_bound(&m, ltick((int64_t)local[1])) <= off * (1 + most) / (1 - most) + 1e-9,
		"more than a clock can do");
	free(m.piece);
}

static void a_large_wander_is_allowed_for_exactly(void)
{
	static const double wanders[] = { 1e-6, 1e-5, 1e-4, 1e-3, 0.1, 0.5 }, at[] = { 0.01, 0.211, 0.5, 0.789, 0.99 };
	struct cal_map beyond = { .max_wander = 1.5 };
	int i, k;

	for (i = 0; i < 6; i++) {
		for (k = 0; k < 10; k++) {
			check_at_the_ends_of_the_band(wanders[i], at[k / 2], i < 2 ? 1000 : 100, k % 2);
		}
	}
	/* a clock that can stand still stays behind by all that it rises, and no figure is infinite */
	CHECK(cal_map_bow(&beyond, 0.75, 100) >= 75 && cal_map_bow(&beyond, 0.75, 100) < 150, "%g",
		cal_map_bow(&beyond, 0.75, 100));
	CHECK_NEAR(cal_map_bow(&beyond, 1, 100), 0, 0);
	CHECK_NEAR(cal_map_bow(&beyond, 0, 100), 0, 0);
}

/* Nine sessions a second apart, of which one was held up on one of the two ways. */
static void make_nine_at(struct cal_map *m, int64_t which, int64_t poor, int may_step)
{
	struct tkm_err err;
	int64_t i;

	*m = (struct cal_map){
		.period_s = 1e-10, .max_drift = 1e-4, .max_wander = wander, .nodes = 9, .may_step = may_step
	};
	m->node = calloc(9, sizeof(*m->node));
	for (i = 0; i < 9; i++) {
		int64_t at = i * 10000000000, late = i == which ? poor : 0;

		m->node[i] = (struct cal_node){ .local = ltick(i * 1000000000),
			.global = gtick(at + late / 2),
			.low = gtick(at - 1000),
			.high = gtick(at + 1000 + late),
			.used = 1,
			.sigma = 100 };
	}
	CHECK(cal_map_split(m, 10, &err) == 0, "%s", err.text);
	cal_map_narrow(m);
	CHECK(cal_curve(m, 0, CAL_SPLINE_CUBIC, 10, &err) == 0, "%s", err.text);
}

static void make_nine(struct cal_map *m, int64_t poor, int may_step)
{
	make_nine_at(m, 4, poor, may_step);
}

/* The first or the last session, 10 ms late, has a neighbour on one side only. That is certain of 2,000 ticks; in the second between them
 * the rate, known to the wander and what the sessions leave, 1.1e-6 to each side, adds 22,000. */
static void a_poor_session_at_an_end_is_narrowed(void)
{
	struct cal_map m;
	int64_t which;

	for (which = 0; which < 9; which += 8) {
		const struct cal_node *n;
		double width;

		make_nine_at(&m, which, 100000000, 0);
		n = &m.node[which];
		width = (double)gtick_sub(cal_node_high(n), cal_node_low(n));
		CHECK(width < 25000, "session %d: %g ticks wide", (int)which, width);
		CHECK(node_holds(n, (double)which * 1e10), "session %d does not hold the truth", (int)which);
		cal_map_free(&m);
	}
}

/* 20 us late: around it the bound is that of the sessions beside it, 0.1 us, and what the rate can do in two seconds, 1 us. */
static void a_poor_session_costs_nothing(void)
{
	struct cal_map m;
	ltick_t there = ltick(4000000000);

	make_nine(&m, 200000, 0);
	CHECK(m.parts == 1 && !m.may_step, "taken for a step");
	CHECK(cal_map_bound(&m, there) < 2.5e-6, "the bound is %g", cal_map_bound(&m, there));
	CHECK(fabs((double)cal_map_at(&m, there).v - 4e10) * 1e-10 <= cal_map_bound(&m, there), "the truth is outside");
	CHECK(cal_map_proven(&m, there) > 5e-6, "messages alone prove more than they say: %g",
		cal_map_proven(&m, there));
	cal_map_free(&m);
}

/* Sessions that are certain of 20 us each and lie 0.1 s and 4 s apart: a cubic through their points would swing by more than that. */
static void a_curve_bends_no_more_than_a_clock(void)
{
	static const int64_t at_ms[] = { 0, 100, 400, 2000, 6000 },
			     off[] = { 150000, -150000, 150000, -150000, 150000 };
	struct cal_map m = { .period_s = 1e-10, .max_drift = 1e-4, .max_wander = wander, .nodes = 5 };
	struct tkm_err err;
	double worst = 0;
	int i;

	m.node = calloc(5, sizeof(*m.node));
	for (i = 0; i < 5; i++) {
		int64_t at = at_ms[i] * 10000000;

		m.node[i] = (struct cal_node){ .local = ltick(at_ms[i] * 1000000),
			.global = gtick(at + off[i]),
			.low = gtick(at - 200000),
			.high = gtick(at + 200000),
			.used = 1,
			.sigma = 1 };
	}
	CHECK(cal_map_split(&m, 10, &err) == 0, "%s", err.text);
	cal_map_narrow(&m);
	CHECK(cal_curve(&m, 0, CAL_SPLINE_CUBIC, 10, &err) == 0, "%s", err.text);
	for (i = 0; i <= 6000; i++) {
		worst = fmax(worst, cal_map_bound(&m, ltick(i * 1000000ll)));
	}
	CHECK(worst <= 40e-6 + 2 * 2e-6, "the bound is %g", worst);
	cal_map_free(&m);
}

/* A clock that may have been set can have been anywhere in between. */
static void a_clock_that_may_step_keeps_its_sessions(void)
{
	struct cal_map m;

	make_nine(&m, 200000, 1);
	CHECK(m.node[4].above == 0 && m.node[4].below == 0, "a session was narrowed");
	cal_map_free(&m);
}

/* A session that lies where the others say that it cannot be: each counts as it is. */
static void sessions_that_contradict_are_left_alone(void)
{
	struct cal_map m;
	size_t i;

	make_nine(&m, 200000, 0);
	m.node[4].low = gtick(40000000000 + 150000);
	cal_map_narrow(&m);
	for (i = 0; i < 9; i++) {
		CHECK(m.node[i].above == 0 && m.node[i].below == 0, "session %zu was narrowed", i);
	}
	cal_map_free(&m);
}

int main(void)
{
	RUN(the_truth_stays_inside);
	RUN(a_large_wander_is_allowed_for_exactly);
	RUN(a_poor_session_costs_nothing);
	RUN(a_poor_session_at_an_end_is_narrowed);
	RUN(a_curve_bends_no_more_than_a_clock);
	RUN(a_clock_that_may_step_keeps_its_sessions);
	RUN(sessions_that_contradict_are_left_alone);
	return check_end();
}
