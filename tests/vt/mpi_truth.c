/* SPDX-License-Identifier: BSD-3-Clause */
/* Records what all hosts of one machine share however their monotonic clocks differ: CLOCK_REALTIME, in nanoseconds, as
 * the value of a counter, next to the stamp that the collector takes. Some seconds' tenths long: argv[1]. argv[2] "multiple":
 * as one that may call MPI from several threads; "sync": with VT_timesync() in between. */
#include <VT.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int cls, h, i, tenths, level, sync = argc > 2 && strstr(argv[2], "sync");

	if (argc > 2 && strstr(argv[2], "multiple")) {
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	} else {
		MPI_Init(&argc, &argv);
	}
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
		if (sync && i % 200 == 199) {
			VT_timesync();
		}
	}
	MPI_Finalize();
	return 0;
}
