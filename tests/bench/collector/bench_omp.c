/* SPDX-License-Identifier: BSD-3-Clause */
/* For bench_omp.sh: parallel regions of OpenMP that are empty, or in which each thread computes for a while, and what one takes.
 * bench_omp THREADS REGIONS US prints ns a region, of the wall. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sink;

static void compute(long steps)
{
	double x = 1;
	long i;

	for (i = 0; i < steps; i++) {
		x = x * 0.999999 + 1e-6;
	}
	sink = x;
}

/* Steps that take so many microseconds here, the same number in each run of one binary and machine, roughly. */
static long steps_of(double us)
{
	long steps = 1000;
	double begin, took = 0;

	while (us > 0 && took < 0.02) {
		steps *= 2;
		begin = omp_get_wtime();
		compute(steps);
		took = omp_get_wtime() - begin;
	}
	return us > 0 ? (long)((double)steps * us * 1e-6 / took) : 0;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[1]) : 1, regions = argc > 3 ? atoi(argv[2]) : 1000, i;
	long steps = argc > 4 ? atol(argv[4]) : steps_of(argc > 3 ? atof(argv[3]) : 0);
	double begin;

	omp_set_dynamic(0);
	omp_set_num_threads(threads);
	for (i = 0; i < 100; i++) {
#pragma omp parallel
		compute(0);
	}
	begin = omp_get_wtime();
	for (i = 0; i < regions; i++) {
#pragma omp parallel
		compute(steps);
	}
	printf("%.3f %ld\n", (omp_get_wtime() - begin) / regions * 1e9, steps);
	return 0;
}
