/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures as SVG inside HTML. They take the width of the page; text keeps its size. */
#ifndef REPORT_HTML_SVG_H
#define REPORT_HTML_SVG_H

#include <stddef.h>
#include <stdio.h>

#include "report/html/html.h"

/* A curve or band of n columns; NAN where there is nothing. low and high may be NULL. */
struct vtr_line {
	const double *low, *mean, *high;
	const char *label;
	int colour; /* 0 to 6, of Okabe and Ito */
	int dots;   /* single points instead of a line */
};

struct vtr_mark { /* something that happened at an unknown time in a part of the x axis */
	double from, to;
	const char *label;
};

struct vtr_chart {
	const char *id; /* letters and digits, unique in the page */
	const char *title, *about;
	double from, to;    /* of the x axis */
	const char *x_unit; /* of the values; the axis chooses a suitable one */
	const char *y_unit;
	size_t n; /* columns */
	const struct vtr_line *line;
	size_t lines;
	const struct vtr_mark *mark;
	size_t marks;
	int with_zero;    /* the y axis begins at 0 if nothing is negative */
	const char *data; /* value of data-series, for the script; NULL: none */
};
void vtr_svg_chart(FILE *f, const struct vtr_chart *c);

/* rows x columns cells, NAN: nothing there. */
struct vtr_heat {
	const char *id, *title, *about;
	double from, to; /* of the x axis; from == to: cells are labelled as rows are */
	const char *x_unit, *unit;
	size_t rows, columns;
	const double *cell; /* [rows * columns] */
	double low, high;   /* of the colours */
	void (*label)(void *context, size_t row, char *buf, size_t size);
	void *context;
	const char *data; /* as in struct vtr_chart */
};
void vtr_svg_heat(FILE *f, const struct vtr_heat *h);

#endif
