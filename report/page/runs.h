/* SPDX-License-Identifier: BSD-3-Clause */
/* Several runs before and after a change: what changed, in seconds, and whether that is more than runs vary. */
#ifndef REPORT_PAGE_RUNS_H
#define REPORT_PAGE_RUNS_H

#include <stdio.h>

#include "report/data/finding.h"
#include "report/data/trace.h"

enum vtr_measure { /* in the order of the first screen; all of them are seconds */
	VTR_RUN_TIME,
	VTR_RUN_WAITS_CPU, /* mean of the processes: ready without a processor */
	VTR_RUN_MPI,       /* mean of the ranks, between MPI_Init and MPI_Finalize */
	VTR_RUN_IMBALANCE, /* outside MPI: the longest less the mean */
	VTR_RUN_ASLEEP,    /* of the process that slept longest outside MPI */
	VTR_RUN_CPU,       /* of all processes */
	VTR_RUN_MEASURES
};

struct vtr_function_time {
	char *name;
	double seconds; /* in itself, of all processes */
};

struct vtr_run {
	char *path, *started, *command, *host; /* "" or NULL: unknown */
	uint32_t processes;
	double value[VTR_RUN_MEASURES];     /* NAN: not recorded */
	struct vtr_function_time *function; /* by name */
	size_t functions;
};

struct vtr_side {
	struct vtr_run *run;
	size_t n;
};

/* Takes from a trace what a comparison needs of it. Returns 0, or -1 if there is no memory. */
int vtr_run_take(struct vtr_run *r, const struct vtr_trace *t);
void vtr_run_free(struct vtr_run *r);

/* Finds the run time, and what in it changed most. side[0]: before, [1]: after. */
void vtr_find_changes(struct vtr_findings *all, const struct vtr_side side[2]);
/* Shows the runs, and a table of the measures and of the functions that changed most. */
void vtr_show_runs(FILE *f, const struct vtr_side side[2]);
void vtr_show_changes(FILE *f, const struct vtr_side side[2]);

#endif
