/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a job's calibration, and the clock of this process: the free clock beside a steered one, and the pairs of both. */
#ifndef CALIB_JOB_JOB_CLOCK_H
#define CALIB_JOB_JOB_CLOCK_H

#include <stdatomic.h>

#include "calib/session/agree.h"
#include "calib/session/domain.h"
#include "calib/file/clk.h"
#include "calib/map/online.h"
#include "calib/session/sync.h"

struct cal_job_options {
	enum cal_sync_method method; /* CAL_SYNC_PAIRS */
	enum cal_shape shape;
	long long max_messages;          /* SYNC-MAX-MESSAGES: exchanges of a pair at the start and at the end; 100 */
	double max_duration_s;           /* SYNC-MAX-DURATION; 60 */
	int synced_host, synced_cluster; /* -1: by the timer's nature, or as proven */
	double max_drift, max_wander;    /* 0: by the timer (timers/quality/assume.h) */
	int learn;                       /* LEARN-DRIFT: expect of the rates what they did so far, with a margin; 0 */
	const char *learn_from;          /* LEARN-FROM: a .clk file of an earlier run, read on rank 0; NULL: none */
	double prove_s;                  /* the time for proving a node's counter; 0: no proof; 0.02 */
	int skip;                        /* TIMER-SKIP for cal_solve() */
	enum cal_interpolation interpolation;
};

struct cal_job {
	struct cal_link *link;
	struct cal_job_options o;
	struct cal_rank rank;     /* of this process: what goes into the .clk file */
	struct cal_place *place;  /* of every rank: hosts, machines, domains */
	unsigned char *exchanges; /* ranks that exchange messages */
	struct cal_plan plan;
	struct cal_online online;
	struct cal_offset_estimate *tie; /* of every rank; this process knows its own */
	double *hz;                      /* of every rank's timer */
	double *earlier; /* lowest and highest rate of every rank by learn_from, in the master's ticks per tick; 0: unknown */
	int earlier_known;     /* rank 0: number of ranks with a known rate */
	char earlier_why[300]; /* why there is none; "": there is */
	struct cal_tick *tick; /* of every rank's timer, as measured at the start */
	struct tmr_timer *timer,
		*reference; /* of events; and the free clock beside it if it is steered and has to be corrected, which
	                                 * the sessions measure and link->timer then is; NULL: none */
	atomic_flag pairs_taken; /* who holds it adds one */
	int pairs_stopped;
	struct cal_clk_done kept;      /* by cal_job_keep() */
	size_t sessions;               /* number of finished sessions */
	ltick_t axis;                  /* the master's clock (reference) at global 0 of all maps */
	struct cal_sync_report report; /* of all sessions so far: pairs whose exchange failed */
	double session_s;              /* what the last session took here, in seconds, waiting included */
};

/* A reading of a steered timer beside the free clock, if one is due (cal_pair_every_s). For a thread that wakes up often
 * anyway; any thread may call it between cal_job_begin() and cal_job_stop_pairs(). Cheap, and nothing where there is none. */
void cal_job_pair(struct cal_job *j);

/* Writes what this process has measured since the last call, as lines of a .clk file (cal_clk_write_new()), so that it is not lost
 * if the process ends early. Returns 0 or -1. */
int cal_job_keep(struct cal_job *j, FILE *f, struct tkm_err *err);

/* cal_job_pair() does nothing from now on. */
void cal_job_stop_pairs(struct cal_job *j);

/* ---- for job.c ---- */

/* Called when the ranks that exchange messages are known. Opens a free clock beside a steered timer, which is
 * link->timer until cal_job_close_reference(), and sets the assumptions. Returns 0 or -1. */
int cal_job_open_reference(struct cal_job *j, struct tkm_err *err);
void cal_job_close_reference(struct cal_job *j);

/* Takes a pair even if none is due. Returns 0 or -1. */
int cal_job_pair_now(struct cal_job *j, struct tkm_err *err);

/* Hands the newest pairs to the map of the running job. Returns 0 or -1. */
int cal_job_recent_pairs(struct cal_job *j, struct tkm_err *err);

/* Was the virtual machine moved since the first session? */
void cal_job_look_for_disruption(struct cal_job *j);

#endif
