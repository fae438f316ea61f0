/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process does with its own clock, in a job and in timertest alike: the free clock beside a steered one, what is
 * assumed, and whether the virtual machine was moved. r: the record of this process. */
#ifndef CALIB_SESSION_OWN_CLOCK_H
#define CALIB_SESSION_OWN_CLOCK_H

#include "calib/map/run.h"
#include "timers/timer.h"

/* Opens a free clock beside t if t is steered, and describes it and the pairs of both in r. *reference is NULL if t is free.
 * Returns 0, or -1: there is none. */
int cal_own_reference(struct cal_rank *r, struct tmr_timer *t, struct tmr_timer **reference, struct tkm_err *err);

/* Assumes max_drift and max_wander of timer t; NAN: what is known of such a timer. given: where the two come from. */
void cal_own_assumptions(
	struct cal_rank *r, const struct tmr_timer *t, double max_drift, double max_wander, const char *const given[2]);

/* Notes the marker of the virtual machine; see tmr_disruption_marker(). */
void cal_own_mark_machine(struct cal_rank *r);

/* Was the machine moved since? 1: for the first time, after that many sessions; r has it then. */
int cal_own_machine_moved(struct cal_rank *r, int sessions);

#endif
