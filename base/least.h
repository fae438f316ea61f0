/* SPDX-License-Identifier: BSD-3-Clause */
/* fmin(), fmax() and nearbyint() without libm. The preloaded library does not link libm, since loading it takes 0.1 ms
 * in each process and its mappings make each fork slower. The result for a number and NaN is the number; halves are
 * rounded up. */
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
