/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of a run: what its .clk file says of how well stamps agree, as a verdict and as pictures. */
#ifndef REPORT_CLOCKS_H
#define REPORT_CLOCKS_H

#include <stdio.h>

#include "calib/file/clk.h"
#include "report/first.h"

enum { VTR_INSTANTS = 320 }; /* at which maps and bounds are shown */

struct vtr_clocks {
	int loaded; /* 0: there is no such file, or it is damaged: `why` says */
	char path[1024], why[600];
	struct cal_run run;
	double worst_s; /* largest bound at the instants, and sessions, of all ranks */
	int worst_rank;
	double calm_s;    /* the same away from steps */
	double largest_s; /* largest offset that the correction took away, and whose; NAN: no nominal frequency */
	int largest_rank;
	size_t steps, contradictions, shared;
	char verdict[40], reason[300]; /* timertest's own, from the .gnuplot file beside; "": there is none */
};

/* Loads BASE.clk and what timertest left beside it; base is the path without its suffix. */
void vtr_clocks_load(struct vtr_clocks *c, const char *base);
void vtr_clocks_free(struct vtr_clocks *c);

/* One line about all clocks of the run, and how good that is. */
enum vtr_grade vtr_clocks_verdict(const struct vtr_clocks *c, unsigned processes, char *buf, size_t size);
void vtr_find_in_clocks(struct vtr_findings *all, const struct vtr_clocks *c);

/* Curves of one rank at VTR_INSTANTS instants of the run, in seconds. */
void vtr_clock_curves(const struct vtr_clocks *c, size_t rank, double *uncorrected, double *bound);

/* Rate of a clock against the corrected axis, relative to its nominal frequency: low, likely and high, over the run; NAN:
 * unknown. */
struct vtr_rate {
	double low, likely, high;
};
struct vtr_rate vtr_clock_rate(const struct vtr_clocks *c, size_t rank);

/* Offsets of pairs of ranks and of cores, from the .dat files of timertest, if they are there. */
void vtr_show_pairs(FILE *f, const struct vtr_clocks *c);

/* All sections about clocks. */
void vtr_show_clocks(FILE *f, const struct vtr_clocks *c);

#endif
