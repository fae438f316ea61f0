/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates from the .clk file of an earlier run. */
#ifndef CALIB_JOB_EARLIER_H
#define CALIB_JOB_EARLIER_H

#include "calib/job/job_clock.h"

/* Together. Reads from o.learn_from the rates of the clocks that the sessions measure. Returns 0 or -1: no memory, MPI
 * failed. */
int cal_job_look_up_earlier(struct cal_job *j, struct tkm_err *err);

#endif
