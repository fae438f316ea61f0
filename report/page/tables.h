/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions, messages, and what is known of the run. */
#ifndef REPORT_PAGE_TABLES_H
#define REPORT_PAGE_TABLES_H

#include <stdio.h>

#include "report/calls/calls.h"
#include "report/timeline/names.h"

void vtr_show_functions(FILE *f, const struct vtr_trace *t, const struct vtr_calls *c, const struct vtr_names *names);
void vtr_show_messages(FILE *f, const struct vtr_trace *t, const struct vtr_traffic *traffic);
void vtr_show_run(FILE *f, const struct vtr_trace *t);

#endif
