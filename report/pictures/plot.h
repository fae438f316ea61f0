/* SPDX-License-Identifier: BSD-3-Clause */
/* Single pictures by gnuplot (plots/curves.gnuplot). */
#ifndef REPORT_PICTURES_PLOT_H
#define REPORT_PICTURES_PLOT_H

#include "report/data/clocks.h"
#include "report/data/trace.h"

struct vtr_plot_options {
	const char *format; /* svg, png, pdf; txt: on standard output */
	const char *base;   /* pictures are BASE.NAME.FORMAT */
	const char *only;   /* counters with this in their name; NULL: all */
	int keep, force;    /* keep script and data */
	double from_s;      /* where the trace's window begins; 0: at its start */
};

/* A picture of each counter, and of the clocks. Returns how many there are, or -1. */
int vtr_plot(
	const struct vtr_trace *t, const struct vtr_clocks *c, const struct vtr_plot_options *o, struct tkm_err *err);

#endif
