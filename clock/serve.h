/* SPDX-License-Identifier: BSD-3-Clause */
/* timertest --serve: keeps the page with UTC on this node, and the ClockBound segment beside it. */
#ifndef CLOCK_SERVE_H
#define CLOCK_SERVE_H

#include "base/err.h"

struct tkc_serve_options {
	const char *reference; /* "ntp" or "ptp:/dev/ptp0" */
	double every_s;        /* between two updates */
	double max_drift;      /* of the counter, off its nominal rate; and of CLOCK_REALTIME between two updates */
	double max_wander;
	int quiet; /* prints only errors */
};

/* Runs until SIGTERM or SIGINT. Prints to stderr and stdout. Returns 0, or -1: it could not start. */
int tkc_serve(const struct tkc_serve_options *o, struct tkm_err *err);

#endif
