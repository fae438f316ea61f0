/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the timeline, and the numbers under which a page knows functions, lines of the source, communicators and
 * kinds of collective operations: only those that occur in it. */
#ifndef REPORT_TIMELINE_NAMES_H
#define REPORT_TIMELINE_NAMES_H

#include <stdio.h>

#include "base/table.h"
#include "report/data/trace.h"

enum { VTR_ROWS = 4096, VTR_NO_ROW = UINT32_MAX };

struct vtr_names {
	const struct vtr_trace *t;
	uint64_t origin, end; /* of the timeline: time stamps */
	unsigned shift;       /* times in the page are stamps since the origin, divided by 2^shift */
	double unit_s;
	uint32_t rows, *first; /* the row of the first thread of each process */
	uint64_t left_out;     /* threads that have no row */
	struct tkm_table number;
	uint32_t given[STF_ID_END]; /* how many of each class have a number */
	int closed;                 /* the names are written: nothing gets a number any more */
};

/* Returns 0, or -1 if there is no memory. The caller calls vtr_names_free() all the same. */
int vtr_names_begin(struct vtr_names *n, const struct vtr_trace *t);
void vtr_names_free(struct vtr_names *n);

/* The row of a thread, or VTR_NO_ROW. */
uint32_t vtr_names_row(const struct vtr_names *n, uint32_t willy);
/* The number of a function and so on, from 1; 0 for id 0, if there is no memory, and for what got none before the names were
 * written. */
uint32_t vtr_names_number(struct vtr_names *n, unsigned class_id, uint32_t id);
/* Gives a number to all that the trace names: a page that can ask for details gets no names later. */
void vtr_names_all(struct vtr_names *n);
/* The class of a function; 0: unknown. */
uint32_t vtr_names_class(const struct vtr_names *n, uint32_t function);
/* A stamp in units of the page. */
uint64_t vtr_names_time(const struct vtr_names *n, uint64_t time);
int64_t vtr_names_signed_time(const struct vtr_names *n, uint64_t time);

/* Writes members of a JSON object: units, rows, and the names of all numbers that were given. */
void vtr_names_write(FILE *f, struct vtr_names *n);

#endif
