/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the program calibtruth share. */
#ifndef LAB_CALIBTRUTH_H
#define LAB_CALIBTRUTH_H

#include "calib/timertest/timertest.h"
#include "lab/compare/truth.h"

struct ct_options {
	const char *method_names, *table_names; /* table_names NULL: all that are possible */
	unsigned methods, tables;
	long long rounds, sessions;
	double apart_s;
};

/* What rank 0 needs for the comparison. */
struct ct_comparison {
	const struct cal_test_options *o;
	struct cal_link *link;
	struct cal_truth_options opt;
	struct cal_truth_row *row;
	struct tmr_timer **clock;
	double *hz, *tick_s;
	double base_within_s; /* the clock under all is one to within this; NAN: not proven */
};

/* The command line. Options that timertest has, too, go into *common. Returns 0; -1 after printing on stderr of rank 0 what
 * is wrong; 1 after printing --help or the like. */
int ct_options_parse(int argc, char **argv, struct cal_test_options *common, struct ct_options *o);

/* How many errors of all ranks, methods and rounds are beyond their bound. */
long ct_count_beyond_bound(const struct ct_comparison *c);

/* Rank 0: prints the tables, and writes the JSON file if one was asked for. Returns 0 or -1. */
int ct_report(const struct ct_comparison *c, struct tkm_err *err);

#endif
