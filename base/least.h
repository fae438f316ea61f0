/* SPDX-License-Identifier: BSD-3-Clause */
/* fmin(), fmax(), floor() and nearbyint() without libm. The preloaded library does not link libm, since loading it takes 0.1 ms
 * in each process and its mappings make each fork slower. The result for a number and NaN is the number; halves are
 * rounded up. */
#ifndef BASE_LEAST_H
#define BASE_LEAST_H

#include <stdint.h>

static inline double tkm_least(double a, double b)
{
	return a <= b || b != b ? a : b;
}

static inline double tkm_most(double a, double b)
{
	return a >= b || b != b ? a : b;
}

/* gcc 16 calls floor() of libm where older ones made instructions of it. */
static inline double tkm_floor(double v)
{
	double whole;

	if (!(v > -0x1p52 && v < 0x1p52)) {
		return v; /* whole, infinite or NaN */
	}
	whole = (double)(int64_t)v;
	return whole > v ? whole - 1 : whole;
}

static inline double tkm_nearest(double v)
{
	return tkm_floor(v + 0.5);
}

#endif
