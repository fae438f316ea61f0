/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the clock maps of a run from the measurements of all its processes. */
#ifndef CALIB_SOLVE_H
#define CALIB_SOLVE_H

#include "calib/map/run.h"

/* Filters every session (drop 10 %), marks the used ones (start, end, and of the middle ones each
 * (skip + 1)th; skip < 0: none), and fills period, realtime0, end and all maps. Two used sessions give
 * a line (the guide's method: the regression over their samples), more what run->wanted says. A map is split
 * where a clock stepped (cal_map_split). Returns 0, or -1 with the rank in the message. */
int cal_solve(struct cal_run *run, int skip, struct tkm_err *err);

/* A map through all used sessions in the other way than the run's, to compare with (the guide's graph of
 * interpolation errors). *out is new and to be freed with cal_map_free(). */
int cal_solve_alternative(
	const struct cal_run *run, int rank, enum cal_interpolation how, struct cal_map *out, struct tkm_err *err);

/* gettimeofday() = offset + tick x skew for the rank's own, uncorrected clock (willy_definition): the
 * linear part of its correction. */
void cal_rank_skew(const struct cal_run *run, int rank, double *offset_s, double *skew_s);

#endif
