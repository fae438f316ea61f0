/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves in bounded memory: a time axis of a fixed number of columns, and per series the minimum, mean and maximum of
 * each column. The axis grows by doubling the width of its columns, so the length of the trace need not be known. */
#ifndef REPORT_DATA_AXIS_H
#define REPORT_DATA_AXIS_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct vtr_column {
	float low, high;    /* of all values added; low > high: there are none */
	double sum, weight; /* mean = sum / weight */
};

struct vtr_series {
	uint32_t counter; /* index into the counters of the trace */
	uint32_t willy;
	struct vtr_column *column; /* [columns of the axis] */
	uint64_t samples;
	uint64_t falls;     /* a running total that became smaller: no rate there */
	double low, high;   /* of the values shown; low > high: none */
	double sum, weight; /* over the whole run: weighted by time for a rate, else by samples */
	double increase;    /* of a running total, in its own unit */
	uint64_t last_time, last_bits;
	double interval; /* recent time between samples, used for rates */
	int begun;
};

struct vtr_axis {
	uint64_t start, width; /* time-stamp units; column i begins at start + i x width */
	uint32_t columns;      /* even */
	uint64_t first, last;  /* smallest and largest stamp seen; first > last: none */
	uint64_t before;       /* stamps before `start`, shown in the first column */
	struct vtr_series *series;
	size_t n_series, room;
	uint64_t max_bytes; /* of columns; further series get none, and `left_out` counts them */
	size_t left_out;
	struct tkm_table numbers; /* index into `series` for each counter and willy */
	uint32_t recent[8192];    /* 1 + the index that was found last, by a hash of counter and willy */
};

/* Begins an axis from start to end; if end <= start, it begins at `start` and its end is open. */
void vtr_axis_begin(struct vtr_axis *a, uint64_t start, uint64_t end, uint32_t columns, uint64_t max_bytes);
void vtr_axis_free(struct vtr_axis *a);

/* The series of that counter and willy, made when it is first used; NULL: no memory, or more than max_bytes. */
struct vtr_series *vtr_axis_series(struct vtr_axis *a, uint32_t counter, uint32_t willy);

/* Joins columns two by two as long as `columns` are left. */
void vtr_axis_reduce(struct vtr_axis *a, uint32_t columns);

/* Notes a stamp, and widens the columns until the axis contains it. */
void vtr_axis_reach(struct vtr_axis *a, uint64_t time);

/* Adds a value at one instant, or one that held from `from` to `to`. The axis must contain these times. */
void vtr_add_point(struct vtr_axis *a, struct vtr_series *s, uint64_t time, double value);
void vtr_add_interval(struct vtr_axis *a, struct vtr_series *s, uint64_t from, uint64_t to, double value);

/* Joins `n` neighbouring columns from `first` on into one. */
struct vtr_column vtr_column_join(const struct vtr_series *s, uint32_t first, uint32_t n);

/* The mean of a series from one stamp to another, to the precision of its columns. *weight: how much of that time, or
 * how many samples, it is of. NAN: none. */
double vtr_series_mean(
	const struct vtr_axis *a, const struct vtr_series *s, uint64_t from, uint64_t to, double *weight);

/* The number of columns up to the one with the last stamp, at least 1. */
uint32_t vtr_axis_used(const struct vtr_axis *a);

#endif
