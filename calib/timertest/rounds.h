/* SPDX-License-Identifier: BSD-3-Clause */
/* In which order and where all pairs of ranks exchange their bursts: disjoint pairs at the same time, but no more on
 * a machine than half of its processing units. */
#ifndef CALIB_TIMERTEST_ROUNDS_H
#define CALIB_TIMERTEST_ROUNDS_H

#include <stddef.h>

#include "base/err.h"

/* One rank of a pair, with the place on its machine that the pair uses. */
struct cal_test_side {
	int rank;
	int unit;                 /* which of the machine's processing units it takes, from 0 */
	int from;                 /* rank of the pair that had the place before and hands it on; -1: none */
	int next_pair, next_side; /* who gets it then, as an index into the pairs; -1: none */
};

struct cal_test_pair {
	int round;
	struct cal_test_side side[2]; /* the lower rank first */
};

struct cal_test_rounds {
	int rounds;                 /* pairs of one round may exchange at the same time */
	int most;                   /* pairs in one round */
	size_t pairs;               /* ranks * (ranks - 1) / 2 */
	struct cal_test_pair *pair; /* each rank works off those that it has part in, in this order */
};

/* machine[r] is the machine of rank r by any number from 0 to ranks - 1, and units[r] how many processing units that
 * has. Pure: every process gets the same. A machine has half as many places as processing units, and at least one;
 * a pair needs a place on the machine of either rank, or one place where both are on the same. side[1] of those has none of
 * its own. Returns 0, or -1 without memory. Freed with cal_test_rounds_free(). */
int cal_test_rounds_make(
	struct cal_test_rounds *s, int ranks, const int *machine, const int *units, struct tkm_err *err);
void cal_test_rounds_free(struct cal_test_rounds *s);

#endif
