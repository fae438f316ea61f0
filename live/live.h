/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of a running job, read from its raw files. The sampler process writes these files; this program only
 * maps them for reading. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct vtr_live_sample {
	uint64_t bits;
	int64_t tick;
};

/* A counter of a thread or of the node: its two newest values. */
struct vtr_live_cell {
	uint32_t column, row;
	int kind;          /* STF_COUNTER_I8, _F8 or _U8 */
	int own;           /* what the sampler itself costs */
	int rate;          /* a running total, shown as its increase per second */
	double factor, hz; /* shown = stored x factor; ticks per second */
	struct vtr_live_sample new, old;
	int n; /* how many of the two values exist */
};

struct vtr_live_text {
	char text[120], unit[40];
};

struct vtr_live_job {
	char job[64], program[256], trace[1024];
	char **path; /* raw files */
	size_t files;
	int running;                        /* files whose process was running at the last look */
	double run_s;                       /* since the start of the first process, by its timer */
	uint64_t lost;                      /* records for which there was no space */
	struct vtr_live_text *column, *row; /* "node", "rank 0"; counters */
	size_t columns, rows;
	uint32_t *order;            /* of the rows: the sampler's own counters are last */
	struct vtr_live_cell *cell; /* sorted by the order of their rows, then by column */
	size_t cells;
	int parents; /* processes that have children */
};

/* Finds a job of this user by a process id, or by the name of its trace or of one of its raw files. NULL: the only
 * job that runs; jobs with a sampler process are preferred. Returns 0, or -1 with err, which lists the jobs if there
 * are several. */
int vtr_live_find(struct vtr_live_job *j, const char *what, struct tkm_err *err);
void vtr_live_free(struct vtr_live_job *j);

/* Reads the newest values of all counters, or only of those with `only` in their names. If a file is gone, its
 * process has ended. Returns 0, or -1 if there is no memory. */
int vtr_live_read(struct vtr_live_job *j, const char *only, struct tkm_err *err);

/* The value to show: NaN if there is none yet, or only one value of a running total. */
double vtr_live_value(const struct vtr_live_cell *c);

/* The increase per second of a row's running total in all processes together; NAN: there is none, or only one process. */
double vtr_live_total(const struct vtr_live_job *j, size_t row);
/* "sh has started other programs, which are not recorded ..."; "" if that is not so. Returns buf. */
const char *vtr_live_hint(const struct vtr_live_job *j, char *buf, size_t size);

/* Prints one line for each value: time, column, counter, value and unit, separated by tabs. */
void vtr_live_print(FILE *f, const struct vtr_live_job *j);

/* screen.c, if ncurses is available: shows the job every period_s seconds. Returns 0 when the job ends, 1 when the
 * user quits, or -1 with err. */
int vtr_live_screen(struct vtr_live_job *j, const char *only, double period_s, struct tkm_err *err);

#endif
