/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the present rates of clocks from the .clk file of an earlier run. doc/calibration.md, "Learned drift". Libc
 * only. */
#ifndef CALIB_EARLIER_H
#define CALIB_EARLIER_H

#include "calib/map/run.h"

/* The rate of the child's clock against the master's, in ticks of the master per tick of the child: what the earlier run found for the
 * same two clocks, on the same hosts since these were booted, and within `wander` of it. Host, boot id, timer and reference of
 * child and master are read, nothing else. Returns 0; -1: the earlier run does not have both, or it saw a clock step or an assumption
 * broken. */
int cal_earlier_rate(const struct cal_run *earlier, const struct cal_rank *child, const struct cal_rank *master,
	double wander, double *low, double *high);

#endif
