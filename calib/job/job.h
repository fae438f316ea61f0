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
 *	cal_job_gather(&job, &run, &err);                       together; rank 0: all maps, cal_clk_write()
 *	cal_job_end(&job);
 *	cal_link_close(link);                                   together */
#ifndef CALIB_JOB_H
#define CALIB_JOB_H

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
	int skip;                        /* TIMER-SKIP for cal_job_gather() */
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

/* A reading of a steered timer beside the free clock, if one is due (cal_pair_every_s). For a thread that wakes up often
 * anyway; any thread may call it between cal_job_begin() and cal_job_gather(). Cheap, and nothing where there is none. */
void cal_job_pair(struct cal_job *j);

/* The map of this process's clock as far as the sessions know it, with its band (cal_map_bound()); its global axis is the
 * master's clock at its nominal rate in steps of its period_s, 0 at job->axis on all ranks alike. It belongs to the job and changes with each session, that of a steered
 * timer with each call. NULL:
 * no session of this rank has succeeded yet. The master has it too. */
const struct cal_map *cal_job_map(struct cal_job *j);

/* Seconds from `now` until the band of this process is beyond target_s: when its next session is due. INFINITY: never;
 * 0: it is. */
double cal_job_due(struct cal_job *j, ltick_t now, double target_s);

/* Writes what this process has measured since the last call, as lines of a .clk file (cal_clk_write_new()), so that it is not lost
 * if the process ends early. Returns 0 or -1. */
int cal_job_keep(struct cal_job *j, FILE *f, struct tkm_err *err);

/* Pairs that another process has read for this one, as lines of a .clk file: before cal_job_gather(). Returns 0 or -1. */
int cal_job_add_pairs(struct cal_job *j, const char *text, size_t length, struct tkm_err *err);

/* Together. Rank 0: *run has what all ranks measured and their maps, to be written with cal_clk_write() and freed with
 * cal_run_free(); elsewhere it is empty. Returns 0 or -1, the reason on rank 0. */
int cal_job_gather(struct cal_job *j, struct cal_run *run, struct tkm_err *err);

/* Frees what belongs to the job, not the link. */
void cal_job_end(struct cal_job *j);

#endif
