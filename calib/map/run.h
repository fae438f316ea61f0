/* SPDX-License-Identifier: BSD-3-Clause */
/* One run: what every process measured, and the maps that follow from it (calib/solve/solve.h). Libc only. */
#ifndef CALIB_RUN_H
#define CALIB_RUN_H

#include "calib/map/map.h"
#include "calib/map/sample.h"

/* The realtime clock beside a stamp: what the guide calls gettimeofday() on the master. */
struct cal_anchor {
	ltick_t local;        /* the timer, midway between the two reads of the others */
	int64_t realtime_ns;  /* since 1970 */
	int64_t monotonic_ns; /* CLOCK_MONOTONIC, to notice that somebody set the clock */
};

/* Clocks of the kernel by which other programs log. The sampler process reads each of them with the rank's timer before and after. */
enum { CAL_MONOTONIC = 1, CAL_CLOCKS = 4 };

/* "clock_realtime", ...: their names as timers. */
const char *cal_clock_name(int clock);

enum cal_sync {
	CAL_OWN,    /* exchanged messages with the master, or is the master */
	CAL_SHARED, /* shares the clock of `leader` (SYNCED-HOST, SYNCED-CLUSTER, or the timer's nature) */
};

struct cal_rank {
	int rank;
	char host[128], boot_id[40], time_ns[40];
	char timer[256];                                         /* canonical name */
	double nominal_hz;                                       /* 0: unknown */
	double measured_hz, measured_se_ppm, measured_bound_ppm; /* 0, NAN: not measured */
	double effective_tick_s; /* what a reading can lag behind the clock; NAN: not measured */
	int may_step;            /* somebody may set the clock (TMR_STEPPED) */
	/* A steered clock: its sessions are those of a free one beside it, with the pairs from one to the other. */
	char reference[256]; /* canonical name; "": the sessions are the timer's own */
	double reference_hz, reference_tick_s;
	struct cal_pairs pairs;
	struct cal_pairs
		clock[CAL_CLOCKS]; /* readings of the clocks of the kernel, in ns; the reference is the timer */
	/* Assumptions about the clock that the sessions measure (timers/quality/assume.h), and their source; 0: those of struct
	 * cal_run are valid. */
	double max_drift, max_wander;
	char drift_from[80], wander_from[160];
	uint64_t disruption;    /* marker of the virtual machine at the first session (tmr_disruption_marker()) */
	int has_disruption;     /* 1: the marker is known; 0: unknown */
	int disruption_changed; /* 1 + the session before which it changed; 0: it did not */
	/* The run has shown that an assumption about this clock is wrong: this is the reason why the bound is wider.
	 * "": none */
	char contradiction[200];
	enum cal_sync sync;
	int leader;
	double shared_within_s; /* CAL_SHARED: how far the two clocks can be apart; 0: one kernel clock */
	size_t sessions;
	struct cal_session *session;
	size_t edges; /* exchanges with ranks other than the master, in trees (calib/tree/net.h) */
	struct cal_session *edge;
	size_t anchors; /* of the master: start and, unless the run still lasts, end */
	struct cal_anchor anchor[2];
	struct cal_map map;
};

enum cal_interpolation {
	CAL_LINEAR,      /* least squares */
	CAL_CONSTRAINED, /* splines through the condensed sessions, see enum cal_spline */
	CAL_CUBIC,       /* the best where a clock wanders; its band is in calib/map/curve.h */
	CAL_INTERPOLATIONS,
};

/* "linear", "constrained", "cubic"; the words of --interpolation and of the .clk file. */
const char *cal_interpolation_name(enum cal_interpolation how);

/* How a session is made and condensed. */
enum cal_sync_method {
	CAL_SYNC_ITC,   /* the guide's: round robin; mean of what the filter keeps */
	CAL_SYNC_PAIRS, /* pair by pair; gated mean or midpoint of the one-way minima, inside what is certain */
};

enum { CAL_LOOP_RANKS = 40 };

/* A loop of exchanges that contradict each other: at least one clock in it stepped in the session, or was set, or
 * is off by more than is believed possible. */
struct cal_loop {
	int n;                    /* ranks in it */
	int rank[CAL_LOOP_RANKS]; /* the first of them, in order */
	double gap;               /* the amount by which the loop does not close, in units of the edges */
};

/* Properties of the trees of a run, the worst of all its sessions. */
struct cal_net {
	size_t sessions; /* that were trees; 0: the rest is void */
	size_t edges;
	int deepest;           /* exchanges between a rank and the master */
	double rms_s, worst_s; /* how well the edges agree: residuals of the least squares */
	size_t loops;          /* that did not close */
	size_t loop_session;   /* of the first of them, with its ranks */
	struct cal_loop loop;
	double gap_s;
};

struct cal_run {
	int master;
	enum cal_sync_method method;
	size_t ranks;
	struct cal_rank *rank;         /* rank[i].rank == i */
	double max_drift, max_wander;  /* assumptions behind the bounds */
	int learn;                     /* 1: predict the rates after the run (calib/map/learn.h) */
	int contradicted;              /* by cal_solve(): some rank's assumption was wrong (cal_rank.contradiction) */
	enum cal_interpolation wanted; /* through more than two sessions; two give the regression */
	/* set by cal_solve() */
	double period_s;
	int64_t realtime0_ns; /* realtime clock at global tick 0 */
	gtick_t end;          /* global time of the last anchor; the first is 0 */
	int clock_was_set;    /* the realtime clock stepped in the run; the monotonic one gave the length */
	enum cal_interpolation interpolation;
	struct cal_net net; /* of a run that was synchronised in a tree */
};

/* Host, boot and time namespace of this process. */
void cal_rank_here(struct cal_rank *r);

/* Nominal frequency if known, else measured, else 0. */
double cal_rank_hz(const struct cal_rank *r);

/* The same, the effective tick (NAN: not measured) and whether it may be set, of what the sessions measure: the reference
 * beside a steered clock, else the timer. */
double cal_session_hz(const struct cal_rank *r);
double cal_session_tick(const struct cal_rank *r);
int cal_session_may_step(const struct cal_rank *r);

/* Steps of clocks for a picture that has room for so many names. A step happened somewhere between two sessions; if there are more steps
 * than `room`, those whose times overlap are one group. Returns the number of groups. */
struct cal_step_group {
	double from_s, to_s; /* global time */
	double size_s;       /* of the largest */
	size_t rank;         /* which made it */
	size_t n;            /* steps */
};
size_t cal_group_steps(const struct cal_run *run, struct cal_step_group *group, size_t room);

/* Free what the members point to, not the struct itself. */
void cal_rank_free(struct cal_rank *r);
void cal_run_free(struct cal_run *run);

#endif
