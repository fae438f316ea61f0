/* SPDX-License-Identifier: BSD-3-Clause */
/* The heat map of ranks over time, and every counter over time. */
#ifndef REPORT_PICTURES_COUNTERS_H
#define REPORT_PICTURES_COUNTERS_H

#include <stdio.h>

#include "report/data/trace.h"

void vtr_show_heat(FILE *f, const struct vtr_trace *t);
void vtr_show_counters(FILE *f, const struct vtr_trace *t);

/* The curves in the picture of a counter, for other programs to draw: at most VTR_CURVES curves of n <= VTR_PLACES
 * points. */
enum { VTR_CURVES = 7, VTR_PLACES = 320 };
struct vtr_curves {
	size_t lines, n;
	double length_s;              /* of the x axis */
	double *value[VTR_CURVES][3]; /* mean, low, high */
	char label[VTR_CURVES][120];
	void *memory;
};
/* Returns 0, or -1 when memory runs out; the caller frees memory. */
int vtr_counter_curves(const struct vtr_trace *t, size_t counter, struct vtr_curves *c);

/* data.c: writes the same values as JSON for the script. */
void vtr_write_data(FILE *f, const struct vtr_trace *t);

/* The series of a counter by rank, in *s (freed by the caller); returns how many, 0 also when memory runs out. */
size_t vtr_counter_series(const struct vtr_trace *t, size_t counter, const struct vtr_series ***s);
/* Smallest and largest value of them all; 0 and 1 if there is none. */
void vtr_counter_range(const struct vtr_series *const *s, size_t n, double *low, double *high);
/* Is there exactly one value in all series? */
int vtr_counter_is_constant(const struct vtr_trace *t, size_t counter, double *value);

#endif
