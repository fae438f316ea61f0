/* SPDX-License-Identifier: BSD-3-Clause */
/* One run: what every process measured, and the maps that follow from it. */
#ifndef CALIB_SOLVE_H
#define CALIB_SOLVE_H

#include "calib/map.h"
#include "calib/sample.h"
#include "calib/topology.h"

/* The realtime clock beside a stamp: what the guide calls gettimeofday() on the master. */
struct cal_anchor {
	ltick_t local;         /* the timer, midway between the two reads of the others */
	int64_t realtime_ns;   /* since 1970 */
	int64_t monotonic_ns;  /* CLOCK_MONOTONIC, to notice that somebody set the clock */
};

enum cal_sync {
	CAL_OWN,    /* exchanged messages with the master, or is the master */
	CAL_SHARED, /* shares the clock of `leader` (SYNCED-HOST, SYNCED-CLUSTER, or the timer's nature) */
};

struct cal_rank {
	int rank;
	char host[128], boot_id[40], time_ns[40];
	char timer[256];           /* canonical name */
	double nominal_hz;         /* 0: nobody says */
	double measured_hz, measured_se_ppm, measured_bound_ppm; /* 0, NAN: not measured */
	double effective_tick_s;   /* what a reading can lag behind the clock; NAN: not measured */
	int may_step;              /* somebody may set the clock (TMR_STEPPED) */
	/* A steered clock: its sessions are those of a free one beside it, with the pairs from one to the other. */
	char reference[256];       /* canonical name; "": the sessions are the timer's own */
	double reference_hz, reference_tick_s;
	struct cal_pairs pairs;
	/* Assumed about what the sessions measure (timers/assume.h), and where that comes from; 0: cal_run's count. */
	double max_drift, max_wander;
	char drift_from[80], wander_from[160];
	uint64_t disruption;       /* marker of the virtual machine at the first session (tmr_disruption_marker()) */
	int has_disruption;        /* 1: the machine says; 0: unknown */
	int disruption_changed;    /* 1 + the session before which it changed; 0: it did not */
	/* The run has shown that an assumption about this clock is wrong; the bound is wider, and this says why. "": none */
	char contradiction[200];
	enum cal_sync sync;
	int leader;
	double shared_within_s;    /* CAL_SHARED: how far the two clocks can be apart; 0: one kernel clock */
	size_t sessions;
	struct cal_session *session;
	size_t edges;              /* exchanges with ranks other than the master, in trees (calib/topology.h) */
	struct cal_session *edge;
	size_t anchors;            /* of the master: start and, unless the run still lasts, end */
	struct cal_anchor anchor[2];
	struct cal_map map;
};

enum cal_interpolation {
	CAL_LINEAR,      /* least squares */
	CAL_CONSTRAINED, /* splines through the condensed sessions, see enum cal_spline */
	CAL_STEFFEN,
	CAL_CUBIC,       /* the best where a clock wanders; its band is in calib/curve.h */
	CAL_INTERPOLATIONS,
};

/* "linear", "constrained", "steffen", "cubic"; the words of --interpolation and of the .clk file. */
const char *cal_interpolation_name(enum cal_interpolation how);

/* How a session is made and condensed. */
enum cal_sync_method {
	CAL_SYNC_ITC,   /* the guide's: round robin; mean of what the filter keeps */
	CAL_SYNC_PAIRS, /* pair by pair; gated mean or midpoint of the one-way minima, inside what is certain */
};

struct cal_run {
	int master;
	enum cal_sync_method method;
	size_t ranks;
	struct cal_rank *rank;     /* rank[i].rank == i */
	double max_drift, max_wander; /* assumptions behind the bounds */
	int contradicted;          /* by cal_solve(): some rank's assumption was wrong (cal_rank.contradiction) */
	enum cal_interpolation wanted; /* through more than two sessions; two give the regression */
	/* set by cal_solve() */
	double period_s;
	int64_t realtime0_ns;      /* realtime clock at global tick 0 */
	gtick_t end;               /* global time of the last anchor; the first is 0 */
	int clock_was_set;         /* the realtime clock stepped in the run; the monotonic one gave the length */
	enum cal_interpolation interpolation;
	struct cal_net net;        /* of a run that was synchronised in a tree */
};

/* Filters every session (drop 10 %), marks the used ones (start, end, and of the middle ones each
 * (skip + 1)th; skip < 0: none), and fills period, realtime0, end and all maps. Two used sessions give
 * a line (the guide's method: the regression over their samples), more what run->wanted says. A map is split
 * where a clock stepped (cal_map_split). Returns 0, or -1 with the rank in the message. */
int cal_solve(struct cal_run *run, int skip, struct tkm_err *err);

/* Part of cal_solve(): tests the assumptions by the sessions that the maps do not use and by what raised the wander; widens
 * maps whose assumptions are wrong; sets contradiction and contradicted. */
void cal_test_assumptions(struct cal_run *run);

/* Part of cal_solve() and of reading a file: hands the pairs of every rank to its map, and to those that share its clock. */
int cal_attach_pairs(struct cal_run *run, struct tkm_err *err);

/* What error to expect between the sessions that a map uses: an estimate from the others, the checks, by how far each is from the
 * map, its own scatter included. Of few checks the 99.9 % are what a normal distribution with their median has, or the
 * largest if that is more. */
struct cal_expected {
	size_t checks;
	double median_s, most_s; /* 99.9 %; NAN with fewer than 5 checks */
};

struct cal_expected cal_expected_error(const struct cal_map *m);

/* A map through all used sessions in the other way than the run's, to compare with (the guide's graph of
 * interpolation errors). *out is new and to be freed with cal_map_free(). */
int cal_solve_alternative(const struct cal_run *run, int rank, enum cal_interpolation how, struct cal_map *out,
	struct tkm_err *err);

/* Nominal frequency if known, else measured, else 0. */
double cal_rank_hz(const struct cal_rank *r);

/* The same, the effective tick (NAN: not measured) and whether it may be set, of what the sessions measure: the reference
 * beside a steered clock, else the timer. */
double cal_session_hz(const struct cal_rank *r);
double cal_session_tick(const struct cal_rank *r);
int cal_session_may_step(const struct cal_rank *r);

/* gettimeofday() = offset + tick x skew for the rank's own, uncorrected clock (willy_definition): the
 * linear part of its correction. */
void cal_rank_skew(const struct cal_run *run, int rank, double *offset_s, double *skew_s);

/* Free what hangs on them, not the struct itself. */
void cal_rank_free(struct cal_rank *r);
void cal_run_free(struct cal_run *run);

#endif
