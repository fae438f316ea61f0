/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of threads, recorded, merged and read back as text. */
#ifndef TESTS_UNIT_COLLECTOR_PLUGIN_MERGE_RECORDS_EVENTS_H
#define TESTS_UNIT_COLLECTOR_PLUGIN_MERGE_RECORDS_EVENTS_H

#include "base/err.h"
#include "base/ticks.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"

#include <unistd.h>

static char dir[] = "/tmp/test_merge_events.XXXXXX";

/* The trace as lines "time willy what". */
static inline char *events(const char *name, struct vt_merge_result *res)
{
	char raw[200], trace[200], line[200], *text = NULL;
	struct vt_merge_input in = { .path = raw };
	struct vt_merge_options o = { .trace = trace, .force = 1 };
	const struct stf_record *r;
	struct stf_reader *reader;
	struct stf_cursor *c;
	struct stf_err se;
	struct tkm_err e;
	uint32_t i;
	size_t size;
	FILE *f;

	snprintf(raw, sizeof(raw), "%s/%s", dir, name);
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	CHECK(vt_merge(&in, 1, &o, res, &e) == 0, "%s", e.text);
	f = open_memstream(&text, &size);
	reader = stf_reader_open(trace, STF_READ_CHECK_REFS, &se);
	CHECK(reader, "%s", se.text);
	c = stf_cursor_open(reader, NULL, &se);
	while (stf_cursor_next(c, &r, &se) > 0) {
		const struct stf_value *fn = stf_value(r, "function"), *scl = stf_value(r, "scl"),
				       *seq = stf_value(r, "seqnr");
		struct stf_counter_value v;

		if (stf_get_counter_value(r, &v) == 0) {
			fprintf(f, "%u %u %s", (unsigned)r->time, stf_willy_thread(v.willy), r->layout->cls);
			for (i = 0; i < v.size_1_2; i++) {
				fprintf(f, " %u", (unsigned)v.values[i]);
			}
			fprintf(f, "\n");
			continue;
		}
		snprintf(line, sizeof(line), "%u %u %s%s%s%s", (unsigned)r->time,
			stf_willy_thread((uint32_t)stf_value(r, "willy")->u), r->layout->cls, fn ? " " : "",
			fn ? stf_reader_name(reader, STF_ID_function_definition, (uint32_t)fn->u) : "",
			scl && scl->u ? " at" : "");
		fprintf(f, "%s%s\n", line, seq ? seq->u == 7 ? " 7" : " ?" : "");
	}
	stf_cursor_close(c);
	stf_reader_close(reader);
	fclose(f);
	return text;
}

static inline struct vt_raw *begin(const char *name)
{
	static char path[200];
	struct tkm_err e;
	struct vt_raw_options o = { .path = path,
		.block_size = 4096,
		.max_blocks = 64,
		.autoflush = 1,
		.flush_blocks = 4,
		.job = "j",
		.trace = "t.stf",
		.program = "p",
		.timer = "test",
		.hz = 1e9,
		.start = ltick(0),
		.rank = -1 };
	struct vt_raw *r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	r = vt_raw_create(&o, &e);
	CHECK(r, "%s", e.text);
	vt_raw_class(r, 0x10001, 0, "outer");
	vt_raw_class(r, 0x10002, 0x10001, "inner");
	vt_raw_function(r, 0x10001, 0x10002, "f");
	vt_raw_function(r, 0x10002, 0x10001, "g");
	vt_raw_scl(r, 0x10001, 42, "a.c");
	vt_raw_scope(r, 0x10001, 0x10002, 0x10001, 0, "scope");
	return r;
}

#endif
