/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of OpenMP that have as much work as each other, or not, or of which one works alone for most of the time: team even | uneven |
 * serial. It takes about a second. */
#include <string.h>
#include <time.h>

static double thread_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double s)
{
	double until = thread_cpu_s() + s;
	volatile long k;

	while (thread_cpu_s() < until) {
		for (k = 0; k < 20000; k++) {
		}
	}
}

int main(int argc, char **argv)
{
	int uneven = argc > 1 && !strcmp(argv[1], "uneven"), i, k;

	for (i = 0; i < 10; i++) {
		if (argc > 1 && !strcmp(argv[1], "serial")) {
			compute(0.06);
		}
#pragma omp parallel for num_threads(2) schedule(static, 1)
		for (k = 0; k < 2; k++) {
			compute(uneven && k == 1 ? 0.1 : 0.04);
		}
	}
	return 0;
}
