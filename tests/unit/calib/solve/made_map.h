/* SPDX-License-Identifier: BSD-3-Clause */
/* A map that is right but for what a test moves. */
#ifndef TESTS_UNIT_CALIB_SOLVE_MADE_MAP_H
#define TESTS_UNIT_CALIB_SOLVE_MADE_MAP_H

#include "base/ticks.h"
#include "calib/map/map.h"
#include "calib/map/run.h"
#include "tests/lib/check.h"

static const int64_t second = 1000000000;

/* Sessions, a second apart and certain to 200 ns, of which the first and the last are used. */
static inline void make_map(struct cal_rank *r, struct cal_node *node, size_t nodes)
{
	struct cal_map *m = &r->map;
	size_t k;

	CHECK_INT(cal_map_line(m, ltick(0), gtick(0), 1, NULL), 0);
	m->period_s = 1e-9;
	m->max_drift = 500e-6;
	m->max_wander = 1e-6;
	m->rate_low = 1 - 1e-6;
	m->rate_high = 1 + 1e-6;
	m->nominal = 1;
	for (k = 0; k < nodes; k++) {
		int64_t at = (int64_t)k * second;

		node[k] = (struct cal_node){ .local = ltick(at),
			.global = gtick(at),
			.low = gtick(at - 200),
			.high = gtick(at + 200),
			.used = k == 0 || k + 1 == nodes };
	}
	m->node = node;
	m->nodes = nodes;
}

enum { RANKS = 3, MOST = 8003 };

static struct made made;

/* Three clocks of a nanosecond a tick; rank 0 is the master. */
struct made {
	struct cal_run run;
	struct cal_rank rank[RANKS];
	struct cal_node node[RANKS][MOST];
};

static inline void make(size_t nodes)
{
	size_t i;

	memset(&made.rank, 0, sizeof(made.rank));
	made.run = (struct cal_run){
		.ranks = RANKS, .rank = made.rank, .max_drift = 500e-6, .max_wander = 1e-6, .period_s = 1e-9
	};
	for (i = 0; i < RANKS; i++) {
		made.rank[i].rank = (int)i;
		made.rank[i].nominal_hz = 1e9;
		make_map(&made.rank[i], made.node[i], nodes);
	}
}

static inline void unmake(void)
{
	size_t i;

	for (i = 0; i < RANKS; i++) {
		made.rank[i].map.node = NULL;
		cal_map_free(&made.rank[i].map);
	}
}

/* Moves a check of a rank. */
static inline void move(int rank, size_t k, int64_t by)
{
	struct cal_node *n = &made.node[rank][k];

	n->global.v += by;
	n->low.v += by;
	n->high.v += by;
}

#endif
