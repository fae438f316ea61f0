/* SPDX-License-Identifier: BSD-3-Clause */
/* The two kinds of time, as two types that the compiler keeps apart. Local ticks count one timer on one process; global
 * ticks count the corrected time axis of the whole run. The only way from one to the other is a clock map
 * (calib/map/map.h). Differences are taken in integers first and go to double afterwards: no absolute time is ever a
 * double. Only this header does raw arithmetic on them. */
#ifndef BASE_TICKS_H
#define BASE_TICKS_H

#include <math.h>
#include <stdint.h>

typedef struct {
	int64_t v;
} ltick_t; /* local: ticks of one timer since its own origin */
typedef struct {
	int64_t v;
} gtick_t; /* global: ticks of the run's time axis since its start */

static inline ltick_t ltick(int64_t v)
{
	return (ltick_t){ v };
}

static inline gtick_t gtick(int64_t v)
{
	return (gtick_t){ v };
}

/* a - b, ticks of the same timer */
static inline int64_t ltick_sub(ltick_t a, ltick_t b)
{
	return a.v - b.v;
}

/* a - b, global ticks */
static inline int64_t gtick_sub(gtick_t a, gtick_t b)
{
	return a.v - b.v;
}

static inline ltick_t ltick_add(ltick_t a, int64_t ticks)
{
	return (ltick_t){ a.v + ticks };
}

static inline gtick_t gtick_add(gtick_t a, int64_t ticks)
{
	return (gtick_t){ a.v + ticks };
}

/* Unreasonably large timestamps, as in a damaged file, are cut to this value, so that the difference of any two
 * fits. */
#define TICKS_FARTHEST ((INT64_C(1) << 62) - 1)

/* a + ticks, rounded to the nearest tick and limited to TICKS_FARTHEST. */
static inline int64_t ticks_away(int64_t a, double ticks)
{
	double sum = (double)a + ticks;

	if (!(sum < 0x1p62)) {
		return TICKS_FARTHEST;
	}
	return sum > -0x1p62 ? a + llrint(ticks) : -TICKS_FARTHEST;
}

#endif
