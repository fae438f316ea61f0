/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the program calibsim share. */
#ifndef CALIB_CALIBSIM_H
#define CALIB_CALIBSIM_H

#include <stdio.h>

#include "calib/analysis/analysis.h"
#include "lab/compare/link_sim.h"
#include "calib/session/sync.h"
#include "calib/session/plan.h"

enum { CS_FINE = 0, CS_WRONG = 1, CS_ERROR = 2 };

enum { CS_SIZES = 24 };

struct cs_options {
	const char *domains, *shapes, *network, *clocks, *recording, *output, *json;
	int size[CS_SIZES], sizes;
	unsigned shape; /* a bit of each enum cal_shape */
	long long sessions, max_messages, seed;
	double apart_s, patience_s, max_drift, max_wander;
	int brief, force, quiet, splines;
};

/* Environment and command line, as for timertest. Returns 0; -1 after printing what is wrong; 1 after printing --help
 * or the like. */
int cs_options_parse(int argc, char **argv, struct cs_options *o);

/* The quality of one kind of map, over all ranks that have such a map. */
struct cs_quality {
	long ranks, wrong; /* ranks with a map; ranks whose error exceeded the stated bound at some point */
	double error_max_s, error_rms_s; /* against the truth */
	double bound_max_s, bound_median_s;
};

/* How far a rank is from the master, in exchanges. */
enum { CS_HOPS = 40 };

struct cs_hop {
	long ranks;
	double error_max_s, bound_max_s;
};

struct cs_row {
	int domains;
	enum cal_shape shape;
	int rounds, deepest;
	long exchanges;            /* pairs of a session */
	double messages;           /* of a session, mean */
	double first_s, session_s; /* virtual time of the first session, and the median of the others */
	size_t lost;               /* pairs whose exchange failed */
	long silent;               /* ranks without a map at the end */
	struct cs_quality online;  /* by each rank itself, right after the last session */
	struct cs_quality after;   /* all maps over the whole run, after rank 0 has collected everything */
	double ours_max_s;         /* --compare-splines: largest errors between the first and the last session */
	double spline_max_s[CAL_SPLINES_OF_GSL];
	struct cs_hop hop[CS_HOPS]; /* what each rank knows by itself, by number of exchanges to the master */
	struct cal_net net;
	char silence[200]; /* the first rank that did not answer */
	double cpu_s;      /* processor time of the simulation */
};

/* How the simulated network and clocks compare with real ones, and with the assumptions of the bounds. */
struct cs_model {
	struct cal_link_sim_model network;
	double wander; /* the largest change of any clock's rate during the run, against its mean; of up to 64 clocks */
	double drift;  /* the largest difference of a mean rate from the nominal one */
};

/* Opens a simulated link of `domains` clocks with the given options. Returns NULL with the reason. */
struct cal_link *cs_open_link(const struct cs_options *o, int domains, struct tkm_err *err);

/* Checks network, clocks and recording before anything takes time, and describes them. Returns 0 or -1. */
int cs_model(const struct cs_options *o, struct cs_model *m, struct tkm_err *err);

/* One sentence for each respect in which the simulation is milder than real clusters are, or harder than the bounds
 * assume; the i-th goes to buf. Returns 0 when there is no i-th. */
int cs_model_remark(const struct cs_options *o, const struct cs_model *m, int i, char *buf, size_t size);

/* One simulated run. Returns 0 or -1. */
int cs_simulate(const struct cs_options *o, int domains, enum cal_shape shape, struct cs_row *row, struct tkm_err *err);

/* Fills in the errors of GSL's interpolations for a run that has been solved. Returns 0 or -1. */
int cs_compare_splines(const struct cal_link *l, const struct cal_run *run, struct cs_row *row, struct tkm_err *err);

void cs_print_head(FILE *f, const struct cs_options *o, const struct cs_model *m);
void cs_print_row(FILE *f, const struct cs_row *row, const struct cs_row *before);

/* BASE.scale.dat, BASE.hops.dat and BASE.gnuplot. */
int cs_write_plots(const struct cs_options *o, const struct cs_row *row, int rows, struct tkm_err *err);

/* "-" is standard output. -1 also when built without jansson. */
int cs_write_json(
	const struct cs_options *o, const struct cs_model *m, const struct cs_row *row, int rows, struct tkm_err *err);
int cs_have_json(void);

#endif
