/* SPDX-License-Identifier: BSD-3-Clause */
/* Work of a known length. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double thread_cpu_s(void) __attribute__((no_instrument_function));

static double thread_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Uses a processor for that long, however long it has to wait for one. */
static void compute(double s)
{
	double until = thread_cpu_s() + s;
	volatile long k;

	while (thread_cpu_s() < until) {
		for (k = 0; k < 20000; k++) {
		}
	}
}

/* 8 MB that are never given back, and work on it. */
static inline void take_memory(void)
{
	enum { BYTES = 8 << 20 };
	static char *volatile taken; /* else the compiler leaves it out */

	taken = malloc(BYTES);
	if (taken) {
		memset(taken, 1, BYTES);
	}
	compute(0.05);
}
