/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of correction data that processes wrote, put in order. */
#include "config.h"
#include "base/err.h"
#include "calib/file/clk.h"
#include "calib/map/pairs.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

/* Two processes read the clock of one rank: its pairs come out of order, and overlap. */
static void pairs_of_two_processes_are_put_in_order(void)
{
	static const char text[] = "pair 30 21 29 4\n"
				   "pair 10 5 9 1\n"
				   "pair 11 7 8 2\n" /* inside the one before, and narrower */
				   "pair 40 31 3x 9\n"
				   "pair 35 24 50 3\n" /* inside one, and wider */
				   "rank 1\n"
				   "pair 20 11 19 1\n";
	static const int64_t want[][3] = { { 11, 7, 2 }, { 20, 11, 2 }, { 30, 21, 4 } };
	struct cal_pairs p = { 0 };
	struct tkm_err err = { .text = "" };
	size_t i;

	CHECK(cal_clk_add_pairs(text, sizeof(text) - 1, &p, &err) == 0, "%s", err.text);
	CHECK_INT(p.n, 3);
	for (i = 0; i < p.n && i < 3; i++) {
		CHECK(p.pair[i].local.v == want[i][0] && p.pair[i].before.v == want[i][1] &&
				p.pair[i].over == want[i][2],
			"pair %zu: %lld %lld %d", i, (long long)p.pair[i].local.v, (long long)p.pair[i].before.v,
			p.pair[i].over);
	}
	cal_pairs_free(&p);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(pairs_of_two_processes_are_put_in_order);
	return check_end();
}
