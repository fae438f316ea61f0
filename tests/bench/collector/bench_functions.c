/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of nothing but calls, for bench_functions.sh: compiled with -finstrument-functions it prints the processor time of one event
 * in ns, the least of seven runs, how many events there were, and the mean of all of them. */
#include <stdio.h>
#include <time.h>

enum { RUNS = 7, DEPTH = 25 };

#define PLAIN __attribute__((no_instrument_function))

static long calls;

static int PLAIN noted(int n)
{
	calls++;
	return n;
}

static double PLAIN seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

__attribute__((noinline)) static int fibonacci(int n)
{
	return noted(n) < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int PLAIN main(void)
{
	volatile int result = 0;
	double least = 1e9, sum = 0;
	long before;
	int i;

	for (i = 0; i < RUNS; i++) {
		double t = seconds();

		before = calls;
		result += fibonacci(DEPTH);
		t = seconds() - t;
		sum += t;
		t = t / (2.0 * (double)(calls - before)) * 1e9;
		least = t < least ? t : least;
	}
	printf("%.3f %ld %.3f\n", least, 2 * calls, sum / (2.0 * (double)calls) * 1e9);
	return 0;
}
