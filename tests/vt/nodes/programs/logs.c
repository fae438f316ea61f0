/* SPDX-License-Identifier: BSD-3-Clause */
/* A process of a job without MPI that logs by the clocks of the kernel: logs.c FOLDER. Every millisecond for 4 s it writes to
 * FOLDER/log.RANK.CLOCK what the clock shows, and the counter of the CPU before and after. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <VT.h>

enum { CLOCKS = 4 };

int main(int argc, char **argv)
{
	static const clockid_t id[CLOCKS] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME };
	static const char *const name[CLOCKS] = { "clock_realtime", "clock_monotonic", "clock_monotonic_raw",
		"clock_boottime" };
	FILE *f[CLOCKS];
	char path[4096];
	int i, k, rank;

	if (argc < 2 || VT_initialize(&argc, &argv) != VT_OK || VT_getrank(&rank) != VT_OK) {
		return 1;
	}
	for (k = 0; k < CLOCKS; k++) {
		snprintf(path, sizeof(path), "%.3000s/log.%d.%s", argv[1], rank, name[k]);
		f[k] = fopen(path, "w");
		if (!f[k]) {
			return 1;
		}
		fprintf(f[k], "rank,before,time,after\n");
	}
	for (i = 0; i < 4000; i++) {
		for (k = 0; k < CLOCKS; k++) {
			unsigned long long before = __rdtsc();
			struct timespec ts;

			clock_gettime(id[k], &ts);
			fprintf(f[k], "%d,%llu,%lld,%llu\n", rank, before, ts.tv_sec * 1000000000ll + ts.tv_nsec,
				(unsigned long long)__rdtsc());
		}
		usleep(1000);
	}
	for (k = 0; k < CLOCKS; k++) {
		fclose(f[k]);
	}
	return VT_finalize() == VT_OK ? 0 : 1;
}
