/* SPDX-License-Identifier: BSD-3-Clause */
/* Who measures with whom, and when. */
#include "config.h"
#include "calib/session/plan.h"
#include "tests/lib/check.h"

/* ---- plans ---- */

static int rounds_needed(int n)
{
	int bits = 0;

	while ((1 << bits) < n) {
		bits++;
	}
	return bits + 1; /* one more folds the cube */
}

/* Everybody can be reached, nobody is in two pairs of one round. */
static void check_plan(const struct cal_plan *p, int n)
{
	unsigned char reached[130] = { 1 };
	size_t i, k;
	int grown = 1;

	for (i = 0; i < p->pairs; i++) {
		const struct cal_pair *x = &p->pair[i];

		CHECK(x->a != x->b && x->a < n && x->b < n, "pair of %d and %d", x->a, x->b);
		for (k = 0; k < i; k++) {
			const struct cal_pair *y = &p->pair[k];

			CHECK(x->round != y->round || (x->a != y->a && x->a != y->b && x->b != y->a && x->b != y->b),
				"n %d: a rank is in two pairs of round %d", n, x->round);
			CHECK(x->a != y->a || x->b != y->b, "n %d: %d and %d talk twice", n, x->a, x->b);
		}
	}
	while (grown) {
		grown = 0;
		for (i = 0; i < p->pairs; i++) {
			const struct cal_pair *x = &p->pair[i];

			if (reached[x->a] != reached[x->b]) {
				reached[x->a] = reached[x->b] = 1;
				grown = 1;
			}
		}
	}
	for (i = 0; i < (size_t)n; i++) {
		CHECK(reached[i], "n %d: rank %zu is alone", n, i);
	}
}

static void plans_are_short_and_reach_everybody(void)
{
	int member[130], n, i;
	struct cal_plan p;

	for (i = 0; i < 130; i++) {
		member[i] = i;
	}
	for (n = 1; n < 130; n++) {
		CHECK(cal_plan_make(&p, CAL_SHAPE_TREE, member, n, NULL, NULL, NULL) == 0, "plan");
		check_plan(&p, n);
		CHECK(p.rounds <= rounds_needed(n), "n %d: %d rounds", n, p.rounds);
		cal_plan_free(&p);
		CHECK(cal_plan_make(&p, CAL_SHAPE_STAR, member, n, NULL, NULL, NULL) == 0, "plan");
		CHECK_INT(p.rounds, n - 1);
		cal_plan_free(&p);
		CHECK(cal_plan_make(&p, CAL_SHAPE_AUTO, member, n, NULL, NULL, NULL) == 0, "plan");
		CHECK_INT(p.shape, n <= 9 ? CAL_SHAPE_STAR : CAL_SHAPE_TREE);
		cal_plan_free(&p);
	}
	CHECK(cal_plan_make(&p, CAL_SHAPE_AUTO, member, 16, NULL, NULL, NULL) == 0, "plan");
	CHECK_INT(p.rounds, 5);
	cal_plan_free(&p);
}

/* On a node with few processing units no two pairs of a round have the same one, and who gets a unit waits for
 * the rank that had it before. */
static void crowded_nodes_take_turns(void)
{
	int member[64], node[64], units[64], round, i;
	struct cal_plan p;
	size_t k, m;

	for (round = 0; round < 100; round++) {
		int n = 2 + (int)(30 * check_uniform()), per = 1 + (int)(12 * check_uniform()),
		    has = 1 + (int)(5 * check_uniform());

		for (i = 0; i < n; i++) {
			member[i] = i;
			node[i] = i / per * per;
			units[i] = has;
		}
		CHECK(cal_plan_make(&p, CAL_SHAPE_TREE, member, n, node, units, NULL) == 0, "plan");
		check_plan(&p, n);
		for (k = 0; k < p.pairs; k++) {
			const struct cal_pair *x = &p.pair[k];

			CHECK(node[x->a] != node[x->b] || x->unit_a != x->unit_b, "a pair on one unit");
			CHECK(x->unit_a < (has > 2 ? has : 2) && x->unit_b < (has > 2 ? has : 2), "unit %d of %d",
				x->unit_a, has);
			CHECK(x->wait_a < 0 || node[x->wait_a] == node[x->a], "waits for another node's rank");
			for (m = 0; m < k; m++) {
				const struct cal_pair *y = &p.pair[m];

				CHECK(x->round != y->round || node[x->a] != node[y->a] || x->unit_a != y->unit_a,
					"two pairs on unit %d of node %d in round %d", x->unit_a, node[x->a], x->round);
			}
		}
		cal_plan_free(&p);
	}
	/* 16 on 2 units: a pair at a time, so the star has fewer turns */
	for (i = 0; i < 16; i++) {
		member[i] = i;
		node[i] = 0;
		units[i] = 2;
	}
	CHECK(cal_plan_make(&p, CAL_SHAPE_AUTO, member, 16, node, units, NULL) == 0, "plan");
	CHECK_INT(p.shape, CAL_SHAPE_STAR);
	cal_plan_free(&p);
	/* 40 pairs on 8 units: four at a time */
	for (i = 0; i < 16; i++) {
		units[i] = 8;
	}
	CHECK(cal_plan_make(&p, CAL_SHAPE_TREE, member, 16, node, units, NULL) == 0, "plan");
	CHECK(p.pairs == 40 && p.rounds <= 12, "%zu pairs in %d rounds", p.pairs, p.rounds);
	cal_plan_free(&p);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(plans_are_short_and_reach_everybody);
	RUN(crowded_nodes_take_turns);
	return check_end();
}
