/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a point for each rank and session from the exchanges of all ranks. Libc only. */
#ifndef CALIB_NET_H
#define CALIB_NET_H

#include "calib/map/run.h"

/* Fills in the given points of all sessions of a run that was synchronised in a tree (struct cal_rank's edges):
 * first with what is believed of the clocks' rates, then with what the sessions themselves say about them. Does
 * nothing for a run without edges. run->net says what was found. Returns 0 or -1. */
int cal_net_solve(struct cal_run *run, struct tkm_err *err);

#endif
