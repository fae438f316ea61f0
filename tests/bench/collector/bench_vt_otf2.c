/* SPDX-License-Identifier: BSD-3-Clause */
/* A metric event of OTF2 with a stamp taken for it, which is what VT_countval() does in one call. */
#include "config.h"
#include "tests/bench/collector/bench_vt.h"

#ifdef HAVE_OTF2
#include <stdio.h>
#include <time.h>

#include "tests/bench/lib/bench_otf2.h"

enum { MOST = 5 };

static OTF2_Archive *archive;
static OTF2_EvtWriter *writer;

static uint64_t stamp(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static double thread_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int bench_vt_otf2_open(unsigned k)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = before_flush, .otf2_post_flush = after_flush };
	char dir[20];

	snprintf(dir, sizeof(dir), "otf2.%u", k);
	archive = OTF2_Archive_Open(dir, "t", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
		OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!archive) {
		return -1;
	}
	OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(archive);
	OTF2_Archive_OpenEvtFiles(archive);
	writer = OTF2_Archive_GetEvtWriter(archive, 0);
	return writer ? 0 : -1;
}

double bench_vt_otf2(int n, unsigned k)
{
	OTF2_Type type[MOST] = { OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64,
		OTF2_TYPE_UINT64 };
	OTF2_MetricValue v[MOST] = { { 0 } };
	double begin = thread_seconds();
	int i;

	for (i = 0; i < n; i++) {
		v[0].unsigned_int = (uint64_t)i;
		OTF2_EvtWriter_Metric(writer, NULL, stamp(), 0, (uint8_t)k, type, v);
	}
	return thread_seconds() - begin;
}

int bench_vt_otf2_close(void)
{
	OTF2_Archive_CloseEvtWriter(archive, writer);
	OTF2_Archive_CloseEvtFiles(archive);
	OTF2_Archive_Close(archive);
	return 0;
}
#else
int bench_vt_otf2_open(unsigned k)
{
	(void)k;
	return -1;
}

double bench_vt_otf2(int n, unsigned k)
{
	(void)n;
	(void)k;
	return 1;
}

int bench_vt_otf2_close(void)
{
	return -1;
}
#endif
