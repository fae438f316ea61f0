/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of calib/job/job.h share. */
#ifndef CALIB_JOB_PRIVATE_H
#define CALIB_JOB_PRIVATE_H

#include "calib/job/job.h"

/* After it is known who exchanges messages: a steered timer gets a free clock beside it, which is link->timer from then on until
 * cal_job_close_reference(); and what is assumed. Returns 0 or -1. */
int cal_job_open_reference(struct cal_job *j, struct tkm_err *err);
void cal_job_close_reference(struct cal_job *j);

/* Together. What o.learn_from says of the rates of what the sessions measure. Returns 0 or -1: no memory, MPI failed. */
int cal_job_look_up_earlier(struct cal_job *j, struct tkm_err *err);

/* A pair in any case. Returns 0 or -1. */
int cal_job_pair_now(struct cal_job *j, struct tkm_err *err);

/* cal_job_pair() does nothing from now on. */
void cal_job_stop_pairs(struct cal_job *j);

/* Hands the newest pairs to the map of the running job. Returns 0 or -1. */
int cal_job_recent_pairs(struct cal_job *j, struct tkm_err *err);

/* Was the virtual machine moved since the first session? */
void cal_job_look_for_disruption(struct cal_job *j);

#endif
