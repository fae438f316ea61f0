/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock calibration inside a job that does something else: the calibration of timertest, for a collector in users'
 * processes. Libc and MPI only (link calib/session/link_mpi.c with libcalib); no option is read, nothing is printed, no
 * communicator of the program is used. All calls marked "together" are made by all ranks of the link in the same
 * order; the others are this process's own affair. Every wait has a limit (struct cal_link).
 *
 *	link = cal_link_join(MPI_COMM_WORLD, &err);
 *	link->timer = timer;
 *	cal_job_begin(&job, link, &options, &err);              together
 *	cal_job_session(&job, CAL_START, &err);                 together
 *	... cal_job_session(&job, CAL_MIDDLE, &err);            together: VT_timesync(), SYNC-PERIOD
 *	... cal_map_at(cal_job_map(&job), stamp)                at any time, with its band
 *	cal_job_session(&job, CAL_END, &err);                   together
 *	cal_clk_write_rank(f, &job.rank, &err);                 for cal_solve(), which makes the maps of all
 *	cal_job_end(&job);
 *	cal_link_close(link);                                   together */
#ifndef CALIB_JOB_H
#define CALIB_JOB_H

#include "calib/job/job_clock.h"

/* The defaults that are above. */
struct cal_job_options cal_job_defaults(void);

/* Together. Finds the domains, proves what can be proven, measures the effective tick of every timer, makes the plan. link->timer is set, and its timer outlives
 * the job. Host, timer and so on of job->rank are filled in. Returns 0, or -1; cal_job_end() is called in any case. */
int cal_job_begin(struct cal_job *j, struct cal_link *link, const struct cal_job_options *o, struct tkm_err *err);

/* Together. One session: thorough at the start and at the end, in between one burst of 24 exchanges for each
 * pair of domains, without warming up: tens of microseconds (tests/bench/clocks/bench_session.c). A rank that does not
 * answer is left out and named in job->report; a session that this rank has lost makes its band wider, not wrong.
 * Returns 0, or -1: no memory, MPI failed. */
int cal_job_session(struct cal_job *j, enum cal_session_kind kind, struct tkm_err *err);

/* The map of this process's clock as far as the sessions know it, with its band (cal_map_bound()); its global axis is the
 * master's clock at its nominal rate in steps of its period_s, 0 at job->axis on all ranks alike. It belongs to the job and changes with each session, that of a steered
 * timer with each call. NULL:
 * no session of this rank has succeeded yet. The master has it too. */
const struct cal_map *cal_job_map(struct cal_job *j);

/* Seconds from `now` until the band of this process is beyond target_s: when its next session is due. INFINITY: never;
 * 0: it is. */
double cal_job_due(struct cal_job *j, ltick_t now, double target_s);

/* Frees what belongs to the job, not the link. */
void cal_job_end(struct cal_job *j);

#endif
