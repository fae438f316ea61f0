/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the values of counters in columns of a time axis that grows with the trace. */
#include "config.h"
#include "report/data/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static const struct vtr_column empty = { .low = INFINITY, .high = -INFINITY };

void vtr_axis_begin(struct vtr_axis *a, uint64_t start, uint64_t end, uint32_t columns, uint64_t max_bytes)
{
	memset(a, 0, sizeof(*a));
	a->start = start;
	a->columns = columns;
	a->width = end > start ? (end - start) / columns + 1 : 1;
	a->first = UINT64_MAX;
	a->max_bytes = max_bytes;
}

void vtr_axis_free(struct vtr_axis *a)
{
	size_t i;

	for (i = 0; i < a->n_series; i++) {
		free(a->series[i].column);
	}
	free(a->series);
	tkm_table_free(&a->numbers);
	memset(a, 0, sizeof(*a));
}

/* Halves the number of columns of every series, so that there is memory for more series. */
static void halve_columns(struct vtr_axis *a)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < a->n_series; i++) {
		struct vtr_series *s = &a->series[i];
		struct vtr_column *less;

		for (k = 0; k < a->columns / 2; k++) {
			s->column[k] = vtr_column_join(s, 2 * k, 2);
		}
		less = realloc(s->column, a->columns / 2 * sizeof(*less));
		s->column = less ? less : s->column;
	}
	a->columns /= 2;
	a->width *= 2;
}

void vtr_axis_reduce(struct vtr_axis *a, uint32_t columns)
{
	while (a->columns / 2 >= columns && a->columns % 4 == 0) {
		halve_columns(a);
	}
}

struct vtr_series *vtr_axis_series(struct vtr_axis *a, uint32_t counter, uint32_t willy)
{
	const uint32_t key[2] = { counter, willy };
	/* a willy has the process in its lower half and the thread in its upper half */
	uint32_t *recent = &a->recent[((willy & 0xffff) * 16 + (willy >> 16) * 1361 + counter) % 8192], k;
	size_t *number;
	struct vtr_series *s;

	if (*recent && a->series[*recent - 1].counter == counter && a->series[*recent - 1].willy == willy) {
		return &a->series[*recent - 1];
	}
	number = tkm_table_find(&a->numbers, key, sizeof(key));
	if (number) {
		*recent = (uint32_t)*number + 1;
		return &a->series[*number];
	}
	while ((a->n_series + 1) * a->columns * sizeof(struct vtr_column) > a->max_bytes && a->columns >= 64 &&
		a->columns % 4 == 0) {
		halve_columns(a);
	}
	if ((a->n_series + 1) * a->columns * sizeof(struct vtr_column) > a->max_bytes ||
		TKM_GROW(a->series, a->room, a->n_series + 1) < 0) {
		a->left_out++;
		return NULL;
	}
	s = &a->series[a->n_series];
	memset(s, 0, sizeof(*s));
	s->counter = counter;
	s->willy = willy;
	s->low = INFINITY;
	s->high = -INFINITY;
	s->column = malloc(a->columns * sizeof(*s->column));
	number = s->column ? tkm_table_put(&a->numbers, key, sizeof(key), sizeof(*number)) : NULL;
	if (!number) {
		free(s->column);
		a->left_out++;
		return NULL;
	}
	for (k = 0; k < a->columns; k++) {
		s->column[k] = empty;
	}
	*number = a->n_series++;
	return s;
}

static void widen_axis(struct vtr_axis *a)
{
	size_t i;
	uint32_t k, half = a->columns / 2;

	for (i = 0; i < a->n_series; i++) {
		struct vtr_series *s = &a->series[i];

		for (k = 0; k < half; k++) {
			s->column[k] = vtr_column_join(s, 2 * k, 2);
		}
		for (; k < a->columns; k++) {
			s->column[k] = empty;
		}
	}
	a->width *= 2;
}

void vtr_axis_reach(struct vtr_axis *a, uint64_t time)
{
	a->first = time < a->first ? time : a->first;
	a->last = time > a->last ? time : a->last;
	if (time < a->start) {
		a->before++;
		return;
	}
	while ((time - a->start) / a->width >= a->columns) {
		widen_axis(a);
	}
}

static uint32_t axis_column_at(const struct vtr_axis *a, uint64_t time)
{
	return time < a->start ? 0 : (uint32_t)((time - a->start) / a->width);
}

static void add_to_column(struct vtr_column *c, double value, double weight)
{
	c->low = (float)value < c->low ? (float)value : c->low;
	c->high = (float)value > c->high ? (float)value : c->high;
	c->sum += value * weight;
	c->weight += weight;
}

static void add_to_run(struct vtr_series *s, double value, double weight)
{
	s->low = value < s->low ? value : s->low;
	s->high = value > s->high ? value : s->high;
	s->sum += value * weight;
	s->weight += weight;
}

void vtr_add_point(struct vtr_axis *a, struct vtr_series *s, uint64_t time, double value)
{
	if (isfinite(value)) {
		add_to_column(&s->column[axis_column_at(a, time)], value, 1);
		add_to_run(s, value, 1);
	}
}

void vtr_add_interval(struct vtr_axis *a, struct vtr_series *s, uint64_t from, uint64_t to, double value)
{
	uint32_t k = axis_column_at(a, from), last = axis_column_at(a, to);
	uint64_t edge;

	if (!isfinite(value) || to <= from) {
		return;
	}
	add_to_run(s, value, (double)(to - from));
	for (; k < last; k++) {
		edge = a->start + (uint64_t)(k + 1) * a->width;
		add_to_column(&s->column[k], value, (double)(edge - from));
		from = edge;
	}
	if (to > from) {
		add_to_column(&s->column[k], value, (double)(to - from));
	}
}

struct vtr_column vtr_column_join(const struct vtr_series *s, uint32_t first, uint32_t n)
{
	struct vtr_column c = empty;
	uint32_t k;

	for (k = first; k < first + n; k++) {
		const struct vtr_column *o = &s->column[k];

		c.low = o->low < c.low ? o->low : c.low;
		c.high = o->high > c.high ? o->high : c.high;
		c.sum += o->sum;
		c.weight += o->weight;
	}
	return c;
}

double vtr_series_mean(const struct vtr_axis *a, const struct vtr_series *s, uint64_t from, uint64_t to, double *weight)
{
	uint32_t k = axis_column_at(a, from), last = axis_column_at(a, to);
	double sum = 0, part, low, high;

	*weight = 0;
	for (; k <= last && k < a->columns; k++) {
		low = fmax((double)from, (double)a->start + (double)k * (double)a->width);
		high = fmin((double)to, (double)a->start + (double)(k + 1) * (double)a->width);
		part = high > low ? (high - low) / (double)a->width : 0;
		sum += part * s->column[k].sum;
		*weight += part * s->column[k].weight;
	}
	return *weight > 0 ? sum / *weight : NAN;
}

uint32_t vtr_axis_used(const struct vtr_axis *a)
{
	return a->first > a->last ? 1 : axis_column_at(a, a->last) + 1;
}
