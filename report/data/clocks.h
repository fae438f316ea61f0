/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of a run: how well stamps agree, by the run's .clk file, as a verdict and as pictures. */
#ifndef REPORT_DATA_CLOCKS_H
#define REPORT_DATA_CLOCKS_H

#include <stdio.h>

#include "calib/file/clk.h"
#include "report/data/finding.h"

enum { VTR_INSTANTS = 320 }; /* at which maps and bounds are shown */

struct vtr_clocks {
	int loaded; /* 0: there is no such file, or it is damaged; `why` has the reason */
	char path[1024], why[600];
	struct cal_run run;
	double worst_s; /* largest bound of all ranks, at the instants and the sessions */
	int worst_rank;
	double calm_s;          /* largest bound away from steps */
	double largest_s;       /* largest offset that the correction took away, and whose; NAN: no nominal frequency */
	double largest_start_s; /* that clock's offset at the start of the run, clock minus master */
	double largest_ppm;     /* its rate, clock minus master; NAN: unknown */
	int largest_rank;
	size_t steps, contradictions, shared;
	/* of timertest, from the .gnuplot file beside the .clk file; "": there is none */
	char verdict[40], reason[300];
};

/* Loads BASE.clk and what timertest left beside it; base is the path without its suffix. */
void vtr_clocks_load(struct vtr_clocks *c, const char *base);
void vtr_clocks_free(struct vtr_clocks *c);

/* Writes one line about all clocks of the run; returns how good they are. */
enum vtr_grade vtr_clocks_verdict(const struct vtr_clocks *c, unsigned processes, char *buf, size_t size);

/* Curves of one rank at VTR_INSTANTS instants of the run, in seconds. */
void vtr_clock_curves(const struct vtr_clocks *c, size_t rank, double *uncorrected, double *bound);

/* How far a rank's clock was from the master's at the start of the run, by its own reading, in seconds; NAN: unknown. The
 * counters of two nodes, which begin when the nodes start, can be days apart. */
double vtr_clock_start(const struct vtr_clocks *c, size_t rank);

/* Rate of a clock relative to the corrected axis and to its nominal frequency, over the run: low, likely and high;
 * NAN: unknown. */
struct vtr_rate {
	double low, likely, high;
};
struct vtr_rate vtr_clock_rate(const struct vtr_clocks *c, size_t rank);

/* Shows the offsets of pairs of ranks and of cores, from the .dat files of timertest, if they exist. */
void vtr_show_pairs(FILE *f, const struct vtr_clocks *c);

/* Writes all sections about clocks. */
void vtr_show_clocks(FILE *f, const struct vtr_clocks *c);

#endif
