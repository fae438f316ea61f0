/* SPDX-License-Identifier: BSD-3-Clause */
/* One line per figure, tab separated: name, median, unit, minimum, maximum, runs. Benches print and
 * never judge. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdio.h>

#include "base/stats.h"

/* Prints one figure from n > 0 values, which are sorted. */
static inline void bench_print(const char *name, double *v, size_t n, const char *unit)
{
	struct tkm_spread s = tkm_spread(v, n);

	printf("%s\t%.4g\t%s\t%.4g\t%.4g\t%zu\n", name, s.median, unit, s.min, s.max, n);
	fflush(stdout);
}

#endif
