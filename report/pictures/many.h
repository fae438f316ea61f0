/* SPDX-License-Identifier: BSD-3-Clause */
/* Many curves in one picture: a few are all drawn; if there are more, the envelope and the curves that are farthest
 * from 0. */
#ifndef REPORT_PICTURES_MANY_H
#define REPORT_PICTURES_MANY_H

#include "report/html/svg.h"

enum { VTR_LINES = 6 };

/* Values of several rows at the same places: [rows * n]. */
struct vtr_field {
	size_t rows, n;
	double *value, *low, *high; /* low and high may be NULL. All are one block that begins at value */
	const char *word;           /* what a row is, such as "rank" */
	const char *const *name;    /* names of the rows; NULL: word and number */
};

struct vtr_chosen {
	struct vtr_line line[VTR_LINES];
	char label[VTR_LINES][100];
	size_t n;
	double *sum; /* for the envelope; the caller frees it */
};

/* Begins a field in which all values are NAN. Returns 0, or -1 if there is no memory. The caller frees value. */
int vtr_field_begin(struct vtr_field *f, size_t rows, size_t n, int with_band);
/* Largest distance of a row from 0; negative: it has no value. */
double vtr_farthest(const struct vtr_field *f, size_t row);
/* Makes lines for the rows except `without` (-1: none). */
void vtr_choose(const struct vtr_field *f, int without, int dots, struct vtr_chosen *c);

#endif
