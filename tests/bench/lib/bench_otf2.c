/* SPDX-License-Identifier: BSD-3-Clause */
/* The same work with OTF2: one location, one metric class of k members, its defaults without compression. */
#include "config.h"
#include "tests/bench/lib/bench_work.h"

#include <stdio.h>

#include "tests/bench/lib/bench_otf2.h"

static void write_definitions(OTF2_Archive *a, uint64_t n, unsigned k)
{
	OTF2_GlobalDefWriter *d = OTF2_Archive_GetGlobalDefWriter(a);
	OTF2_MetricMemberRef member[WORK_K];
	unsigned i;

	OTF2_GlobalDefWriter_WriteClockProperties(d, 1000000000, 0, UINT64_MAX / 2, OTF2_UNDEFINED_TIMESTAMP);
	OTF2_GlobalDefWriter_WriteString(d, 0, "x");
	OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	OTF2_GlobalDefWriter_WriteLocationGroup(
		d, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
	OTF2_GlobalDefWriter_WriteLocation(d, 0, 0, OTF2_LOCATION_TYPE_CPU_THREAD, n, 0);
	for (i = 0; i < k; i++) {
		member[i] = i;
		OTF2_GlobalDefWriter_WriteMetricMember(d, i, 0, 0, OTF2_METRIC_TYPE_OTHER,
			OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, 0);
	}
	OTF2_GlobalDefWriter_WriteMetricClass(
		d, 0, (uint8_t)k, member, OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
}

double xch_otf2_write(const char *dir, uint64_t n, unsigned k)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = before_flush, .otf2_post_flush = after_flush };
	static struct work_block b;
	OTF2_Type type[WORK_K] = { OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64,
		OTF2_TYPE_UINT64 };
	OTF2_MetricValue v[WORK_K];
	OTF2_EvtWriter *e;
	OTF2_Archive *a;
	struct work w;
	double t, sum = 0;
	uint64_t left;
	size_t i;
	unsigned j;

	work_begin(&w, k);
	t = bench_now();
	a = OTF2_Archive_Open(dir, "t", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
		OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!a) {
		fprintf(stderr, "bench_stf: OTF2 cannot write %s\n", dir);
		return -1;
	}
	OTF2_Archive_SetFlushCallbacks(a, &flush, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(a);
	OTF2_Archive_OpenEvtFiles(a);
	e = OTF2_Archive_GetEvtWriter(a, 0);
	sum += bench_now() - t;
	for (left = n; left; left -= b.n) {
		work_next(&w, &b, left);
		t = bench_now();
		for (i = 0; i < b.n; i++) {
			for (j = 0; j < k; j++) {
				v[j].unsigned_int = b.value[i][j];
			}
			OTF2_EvtWriter_Metric(e, NULL, b.time[i], 0, (uint8_t)k, type, v);
		}
		sum += bench_now() - t;
	}
	t = bench_now();
	OTF2_Archive_CloseEvtWriter(a, e);
	OTF2_Archive_CloseEvtFiles(a);
	OTF2_Archive_OpenDefFiles(a);
	OTF2_Archive_CloseDefWriter(a, OTF2_Archive_GetDefWriter(a, 0));
	OTF2_Archive_CloseDefFiles(a);
	write_definitions(a, n, k);
	OTF2_Archive_Close(a);
	return sum + bench_now() - t;
}

struct seen {
	struct work_sum *sum;
	uint64_t from, to;
};

static OTF2_CallbackCode on_metric(OTF2_LocationRef loc, OTF2_TimeStamp time, uint64_t position, void *user,
	OTF2_AttributeList *attributes, OTF2_MetricRef metric, uint8_t n, const OTF2_Type *types,
	const OTF2_MetricValue *values)
{
	struct seen *s = user;
	unsigned j;

	(void)loc;
	(void)position;
	(void)attributes;
	(void)metric;
	(void)types;
	if (time < s->from) {
		return OTF2_CALLBACK_SUCCESS;
	}
	if (time > s->to) {
		return OTF2_CALLBACK_INTERRUPT;
	}
	s->sum->n++;
	s->sum->times += time;
	for (j = 0; j < n; j++) {
		s->sum->values += values[j].unsigned_int;
	}
	return OTF2_CALLBACK_SUCCESS;
}

double xch_otf2_read(const char *dir, uint64_t from, uint64_t to, struct work_sum *sum)
{
	struct seen s = { sum, from, to };
	OTF2_EvtReaderCallbacks *cb;
	OTF2_EvtReader *e;
	OTF2_Reader *r;
	char path[600];
	uint64_t got;
	double t = bench_now();

	snprintf(path, sizeof(path), "%s/t.otf2", dir);
	r = OTF2_Reader_Open(path);
	if (!r) {
		fprintf(stderr, "bench_stf: OTF2 cannot read %s\n", path);
		return -1;
	}
	OTF2_Reader_SetSerialCollectiveCallbacks(r);
	OTF2_Reader_ReadAllGlobalDefinitions(r, OTF2_Reader_GetGlobalDefReader(r), &got);
	OTF2_Reader_SelectLocation(r, 0);
	OTF2_Reader_OpenEvtFiles(r);
	e = OTF2_Reader_GetEvtReader(r, 0);
	cb = OTF2_EvtReaderCallbacks_New();
	OTF2_EvtReaderCallbacks_SetMetricCallback(cb, on_metric);
	OTF2_Reader_RegisterEvtCallbacks(r, e, cb, &s);
	OTF2_EvtReaderCallbacks_Delete(cb);
	OTF2_Reader_ReadAllLocalEvents(r, e, &got);
	OTF2_Reader_CloseEvtReader(r, e);
	OTF2_Reader_CloseEvtFiles(r);
	OTF2_Reader_Close(r);
	return bench_now() - t;
}
