/* SPDX-License-Identifier: BSD-3-Clause */
/* Records what all hosts of one machine share however their monotonic clocks differ: CLOCK_REALTIME, in nanoseconds, as
 * the value of a counter, next to the stamp that the collector takes. Some seconds' tenths long: argv[1]. */
#include <VT.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int cls, h, i, tenths;

	MPI_Init(&argc, &argv);
	tenths = argc > 1 ? atoi(argv[1]) : 5;
	VT_classdef("Truth", &cls);
	VT_countdef("realtime", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &h);
	for (i = 0; i < tenths * 100; i++) {
		struct timespec ts;
		int64_t ns;

		clock_gettime(CLOCK_REALTIME, &ts);
		ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
		VT_countval(1, &h, &ns);
		usleep(1000);
	}
	MPI_Finalize();
	return 0;
}
