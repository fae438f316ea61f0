/* SPDX-License-Identifier: BSD-3-Clause */
/* Do two groups of runs differ by more than runs of one group do? */
#ifndef REPORT_PAGE_SIGNIFICANCE_H
#define REPORT_PAGE_SIGNIFICANCE_H

#include <stddef.h>

/* The two-sided p of the rank sum test of Wilcoxon, Mann and Whitney (Hollander and Wolfe, "Nonparametric Statistical
 * Methods", 4.1): how often a difference at least as large comes by chance, if nothing has changed. Exact, also with equal
 * values, up to 40 runs together; then by the normal distribution. 1 if one of the groups is empty. */
double vtr_rank_sum_p(const double *a, size_t na, const double *b, size_t nb);

/* The smallest p that so many runs can have. */
double vtr_rank_sum_least_p(size_t na, size_t nb);

#endif
