/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of calib/job/job.h share. */
#ifndef CALIB_JOB_PRIVATE_H
#define CALIB_JOB_PRIVATE_H

#include "calib/job/job.h"

/* Called when the ranks that exchange messages are known. Opens a free clock beside a steered timer, which is
 * link->timer until cal_job_close_reference(), and sets the assumptions. Returns 0 or -1. */
int cal_job_open_reference(struct cal_job *j, struct tkm_err *err);
void cal_job_close_reference(struct cal_job *j);

/* Together. Reads from o.learn_from the rates of the clocks that the sessions measure. Returns 0 or -1: no memory, MPI
 * failed. */
int cal_job_look_up_earlier(struct cal_job *j, struct tkm_err *err);

/* Takes a pair even if none is due. Returns 0 or -1. */
int cal_job_pair_now(struct cal_job *j, struct tkm_err *err);

/* cal_job_pair() does nothing from now on. */
void cal_job_stop_pairs(struct cal_job *j);

/* Hands the newest pairs to the map of the running job. Returns 0 or -1. */
int cal_job_recent_pairs(struct cal_job *j, struct tkm_err *err);

/* Was the virtual machine moved since the first session? */
void cal_job_look_for_disruption(struct cal_job *j);

#endif
