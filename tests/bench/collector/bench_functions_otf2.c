/* SPDX-License-Identifier: BSD-3-Clause */
/* The same calls as bench_functions.c, as events of OTF2 with a stamp each, written to a file: prints the processor time of one event
 * in ns with all that the library does until the archive is closed, and how many there were. bench_functions.sh compiles it where OTF2 is
 * installed. usage: otf2 FOLDER EVENTS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/bench/lib/bench_otf2.h"

static uint64_t stamp(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static OTF2_EvtWriter *writer;

static void enter(OTF2_RegionRef f)
{
	OTF2_EvtWriter_Enter(writer, NULL, stamp(), f);
}

static void leave(OTF2_RegionRef f)
{
	OTF2_EvtWriter_Leave(writer, NULL, stamp(), f);
}

static long calls;

static int fibonacci(int n)
{
	int v;

	enter(0);
	calls++;
	v = n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
	leave(0);
	return v;
}

int main(int argc, char **argv)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = before_flush, .otf2_post_flush = after_flush };
	long events = argc > 2 ? atol(argv[2]) : 0;
	volatile int sum = 0;
	OTF2_Archive *a;
	double begin;

	a = argc > 2 ? OTF2_Archive_Open(argv[1], "t", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
			       OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)
		     : NULL;
	if (!a) {
		return 1;
	}
	OTF2_Archive_SetFlushCallbacks(a, &flush, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(a);
	OTF2_Archive_OpenEvtFiles(a);
	writer = OTF2_Archive_GetEvtWriter(a, 0);
	begin = seconds();
	while (2 * calls < events) {
		sum += fibonacci(25);
	}
	OTF2_Archive_CloseEvtWriter(a, writer);
	OTF2_Archive_CloseEvtFiles(a);
	OTF2_Archive_Close(a);
	printf("%.3f %ld\n", (seconds() - begin) / (2.0 * (double)calls) * 1e9, 2 * calls);
	return 0;
}
