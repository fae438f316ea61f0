/* SPDX-License-Identifier: BSD-3-Clause */
/* fmin(), fmax() and nearbyint() without libm: what is preloaded does without it, since to load it takes 0.1 ms of each process and
 * its mappings make each fork slower. Of a number and NaN the number counts; of halves the greater whole number. */
#ifndef BASE_LEAST_H
#define BASE_LEAST_H

#include <math.h>

static inline double tkm_least(double a, double b)
{
	return a <= b || b != b ? a : b;
}

static inline double tkm_most(double a, double b)
{
	return a >= b || b != b ? a : b;
}

static inline double tkm_nearest(double v)
{
	return floor(v + 0.5);
}

#endif
