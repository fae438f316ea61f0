/* SPDX-License-Identifier: BSD-3-Clause */
/* By how much the stamps of each process may be wrong. */
#include "config.h"
#include "stf/analysis/bounds.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The text has a decimal point, whatever the locale of the program. */
static double read_bound_seconds(const char *p, char **end)
{
	locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	double v;

	if (!plain) {
		*end = (char *)(uintptr_t)p;
		return 0;
	}
	v = strtod_l(p, end, plain);
	freelocale(plain);
	return v;
}

int stf_bound_next(const char **text, struct stf_bound *b)
{
	const char *p = *text;
	char *end;

	if (*p != ' ') {
		return 0;
	}
	b->from = strtoull(p, &end, 10);
	if (end == p || *end != ' ') {
		return 0;
	}
	p = end;
	b->seconds = read_bound_seconds(p, &end);
	if (end == p && !strncmp(p, " unknown", 8)) {
		b->seconds = (double)NAN;
		end = (char *)(uintptr_t)p + 8;
	}
	if (end == p || b->seconds < 0) {
		return 0;
	}
	*text = end;
	return 1;
}

static int add_bounds_of(struct stf_bounds *b, const char *text)
{
	struct stf_bound_list *l;
	struct stf_bound one, *new;
	unsigned process;
	int n = 0;

	if (sscanf(text, "process %u%n", &process, &n) != 1 || process >= b->n) {
		return 0;
	}
	l = &b->process[process];
	for (text += n; stf_bound_next(&text, &one) && (!l->n || one.from >= l->bound[l->n - 1].from);) {
		new = TKM_APPEND(l->bound, l->n);
		if (!new) {
			return -1;
		}
		*new = one;
	}
	return 0;
}

int stf_bounds_read(struct stf_bounds *b, const struct stf_reader *r)
{
	const char *cls, *text;
	size_t i;

	stf_reader_processes(r, &b->n);
	b->process = calloc((size_t)b->n + 1, sizeof(*b->process));
	for (i = 0; b->process && stf_reader_info(r, i, &cls, &text) == 0; i++) {
		if (cls && text && !strcmp(cls, "clock-bound") && add_bounds_of(b, text) < 0) {
			return -1;
		}
	}
	return b->process ? 0 : -1;
}

void stf_bounds_free(struct stf_bounds *b)
{
	uint32_t i;

	for (i = 0; b->process && i < b->n; i++) {
		free(b->process[i].bound);
	}
	free(b->process);
}

double stf_bounds_at(struct stf_bounds *b, uint32_t process, uint64_t time)
{
	struct stf_bound_list *l = process < b->n ? &b->process[process] : NULL;

	if (!l || !l->n || time < l->bound[0].from) {
		return (double)NAN;
	}
	if (time < l->bound[l->at].from) {
		l->at = 0;
	}
	while (l->at + 1 < l->n && l->bound[l->at + 1].from <= time) {
		l->at++;
	}
	return l->bound[l->at].seconds;
}
