/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of findings. */
#include "config.h"
#include "report/data/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct vtr_finding *vtr_find(struct vtr_findings *all, const char *name, double weight, enum vtr_grade grade,
	const char *title, const char *fmt, ...)
{
	static struct vtr_finding spare;
	struct vtr_finding *n = all->n < sizeof(all->list) / sizeof(all->list[0]) ? &all->list[all->n++] : &spare;
	va_list ap;

	n->name = name;
	n->weight = weight;
	n->grade = grade;
	n->what_to_do = NULL;
	n->process = -1;
	snprintf(n->title, sizeof(n->title), "%s", title);
	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
	va_end(ap);
	return n;
}

static int by_weight(const void *a, const void *b)
{
	const struct vtr_finding *x = a, *y = b;

	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

void vtr_sort_findings(struct vtr_findings *all)
{
	qsort(all->list, all->n, sizeof(all->list[0]), by_weight);
}
