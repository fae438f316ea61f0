/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the assumptions behind the bounds of a run, and estimates its error. */
#ifndef CALIB_SOLVE_ASSUMPTIONS_H
#define CALIB_SOLVE_ASSUMPTIONS_H

#include "calib/map/run.h"

/* Part of cal_solve(): tests the assumptions by the sessions that the maps do not use and by what raised the wander; widens
 * the maps of all ranks where one of them shows that an assumption is wrong; sets contradiction and contradicted. */
void cal_test_assumptions(struct cal_run *run);

/* Part of cal_solve() and of reading a file: hands the pairs of every rank to its map, and to those that share its clock. */
int cal_attach_pairs(struct cal_run *run, struct tkm_err *err);

/* Estimates the error of a map between the sessions that it uses.
 * - Input: the distance of each other session, a check, from the map. A constant error of all sessions (asymmetry) is not seen.
 * - most_s: in 39 of 40 runs 99.9 % of all errors are below it. It is one of the checks, or with too few it is extrapolated.
 * doc/calibration.md has the method. */
struct cal_expected {
	size_t checks;
	double median_s, most_s; /* 99.9 %; NAN with fewer than 5 checks */
	int extrapolated;        /* most_s is, because there are fewer than 3688 checks */
};

struct cal_expected cal_expected_error(const struct cal_map *m);

#endif
