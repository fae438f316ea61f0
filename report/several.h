/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of several files: drift of clocks over days and weeks, and two runs side by side. */
#ifndef REPORT_SEVERAL_H
#define REPORT_SEVERAL_H

#include <stdio.h>

#include "report/clocks.h"

/* n loaded correction files, which are sorted by their date. Returns 0, or -1 when memory runs out. */
int vtr_write_weeks(FILE *f, struct vtr_clocks *c, size_t n);

/* Two traces with their clocks: [0] before, [1] after. */
int vtr_write_comparison(FILE *f, const struct vtr_trace *t, const struct vtr_clocks *c);

#endif
