/* SPDX-License-Identifier: BSD-3-Clause */
/*  */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "calib/map/stretch.h"
#include "tests/lib/check.h"

#include <math.h>

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(check_uniform() * (double)(high - low));
}

/* Parts and rates of a straight map; nominal is its slope. */
static void split(struct cal_map *m)
{
	struct tkm_err err;

	CHECK(cal_map_split(m, 10, &err) == 0, "%s", err.text);
	CHECK_INT(m->parts, 1);
	m->part[0].pieces = m->pieces;
}

/* No stretch says less than the bound itself anywhere in it, and none much more. */
static void stretches_hold_the_bound(void)
{
	struct cal_node node[12];
	struct cal_map m = { .period_s = 1e-10, .max_drift = 1e-5, .max_wander = 1e-7, .node = node, .nodes = 12 };
	struct cal_stretch s[CAL_STRETCHES];
	double bound, most = 0;
	size_t n, k;
	int i;

	for (i = 0; i < 12; i++) {
		int64_t at = i * 3000000000 + between(0, 2000000000), off = between(50, 5000);

		node[i] = (struct cal_node){ .local = ltick(at),
			.global = gtick(at * 10),
			.low = gtick(at * 10 - off),
			.high = gtick(at * 10 + off),
			.used = i % 3 != 1 };
	}
	CHECK(cal_map_line(&m, ltick(0), gtick(0), 10, NULL) == 0, "line");
	split(&m);
	n = cal_map_stretches(&m, ltick(-1000000000), ltick(50000000000), s);
	CHECK(n > 1 && n <= CAL_STRETCHES, "%zu stretches", n);
	for (i = 0; i < 200000; i++) {
		int64_t at = between(-1000000000, 50000000000);

		bound = cal_map_bound(&m, ltick(at));
		most = fmax(most, bound);
		for (k = 0; k + 1 < n && s[k + 1].from.v <= at; k++) {
		}
		CHECK(bound <= s[k].bound_s, "at %lld the bound is %g, of the stretch %g", (long long)at, bound,
			s[k].bound_s);
	}
	for (k = 0; k < n; k++) {
		CHECK(s[k].bound_s <= 1.2 * most, "%g where the largest is %g", s[k].bound_s, most);
	}
	m.node = NULL;
	cal_map_free(&m);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(stretches_hold_the_bound);
	return check_end();
}
