/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by caller, place and rank; messages by pair and size; collective
 * operations. */
#ifndef REPORT_PAGE_CALLS_H
#define REPORT_PAGE_CALLS_H

#include <stdio.h>

#include "report/calls/calls.h"
#include "report/timeline/names.h"

void vtr_show_tree(FILE *f, const struct vtr_tree *tree);
/* n: the rows of the timeline, for those who jump there from the table. */
void vtr_show_sites(FILE *f, const struct vtr_tree *tree, const struct vtr_names *n);
/* The efficiencies of the outermost functions and regions. */
void vtr_show_phases(FILE *f, const struct vtr_trace *t);
void vtr_show_balance(FILE *f, const struct vtr_trace *t);

/* traffic.c */
void vtr_show_message_pairs(FILE *f, const struct vtr_traffic *traffic);
void vtr_show_collectives(FILE *f, const struct vtr_traffic *traffic);

#endif
