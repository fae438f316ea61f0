/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions and barriers at which threads wait because they have unequal work, by spinning or by sleeping. For
 * each thread, prints the seconds that it waited, as it measured them:
 *   implicit_barrier THREAD SECONDS     from the end of its work to the end of the parallel region
 *   barrier THREAD SECONDS
 * unequal THREADS REGIONS [sleep] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64 };
static double at_end[MOST], waited[2][MOST];
static int sleeps;

static void work(int thread, int region)
{
	double s = 0.0005 + 0.002 * ((thread * 7 + region * 3) % 5), until = omp_get_wtime() + s;
	struct timespec t = { 0, (long)(s * 1e9) };

	if (sleeps) {
		nanosleep(&t, NULL);
	}
	while (omp_get_wtime() < until) {
	}
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[1]) : 2, regions = argc > 2 ? atoi(argv[2]) : 10, r, i;

	sleeps = argc > 3 && !strcmp(argv[3], "sleep");
	for (r = 0; r < regions; r++) {
		double end;

#pragma omp parallel num_threads(threads)
		{
			int me = omp_get_thread_num();
			double before;

			work(me, r);
			before = omp_get_wtime();
#pragma omp barrier
			waited[1][me] += omp_get_wtime() - before;
			work(me, r + 1);
			at_end[me] = omp_get_wtime();
		}
		end = omp_get_wtime();
		for (i = 0; i < threads; i++) {
			waited[0][i] += end - at_end[i];
		}
	}
	for (i = 0; i < threads; i++) {
		printf("implicit_barrier %d %.9f\nbarrier %d %.9f\n", i, waited[0][i], i, waited[1][i]);
	}
	return 0;
}
