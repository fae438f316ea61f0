/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of OpenMP: team KIND. It takes about a second. In a region two threads have equal work, or not (uneven). Or one thread works
 * alone for most of the time (serial), both work one after the other (critical), others beside those of OpenMP do (beside), or one
 * region has more threads than the rest (once). */
#include <pthread.h>
#include <string.h>

#include "tests/cli/vtreport/findings/compute.h"

static void *work_beside(void *arg)
{
	compute(0.5);
	return arg;
}

static void work_without_openmp(void)
{
	pthread_t t[2];
	int i;

	for (i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, work_beside, NULL);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
	}
}

static void take_turns(void)
{
	int i;

	for (i = 0; i < 5; i++) {
#pragma omp critical
		compute(0.01);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int uneven = !strcmp(kind, "uneven"), i, k;

	if (!strcmp(kind, "once")) {
#pragma omp parallel num_threads(8)
		compute(0.002);
	}
	for (i = 0; i < 10 && !strcmp(kind, "critical"); i++) {
#pragma omp parallel num_threads(2)
		take_turns();
	}
	for (i = 0; i < 10; i++) {
		if (!strcmp(kind, "serial")) {
			compute(0.06);
		}
#pragma omp parallel for num_threads(2) schedule(static, 1)
		for (k = 0; k < 2; k++) {
			compute(uneven && k == 1 ? 0.1 : 0.04);
		}
	}
	if (!strcmp(kind, "beside")) {
		work_without_openmp();
	}
	return 0;
}
