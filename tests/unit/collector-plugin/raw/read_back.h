/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files read back: what was defined and what was recorded. */
#ifndef TESTS_UNIT_COLLECTOR_PLUGIN_RAW_READ_BACK_H
#define TESTS_UNIT_COLLECTOR_PLUGIN_RAW_READ_BACK_H

#include "collector-plugin/raw/definition.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/private.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/lib/raw_file.h"

/* Reads all records of all streams. Values are expected to be 1, 2, 3 ... per stream from `first[stream]` on; returns how
 * many counter records there were, -1 if one is not what it should be. */
static inline long read_back(struct vt_raw_file *f, uint64_t first, uint64_t *last, int64_t step)
{
	struct vt_raw_cursor c;
	long n = 0;
	size_t i;

	for (i = 0; i < vt_raw_streams(f); i++) {
		uint64_t want = first, v;

		vt_raw_cursor(f, i, &c);
		while (vt_raw_cursor_next(&c)) {
			size_t k;

			if (c.h.type != VT_RAW_COUNTERS) {
				return -1;
			}
			memcpy(&v, c.p + 8, 8);
			want = want ? want : v;
			if (v != want || c.now != 1000 + (int64_t)v * step) {
				return -1;
			}
			for (k = 0; k < c.h.n; k++) {
				uint32_t id;

				memcpy(&id, c.p + 8 + 8 * (size_t)c.h.n + 4 * k, 4);
				if (id != k + 1) {
					return -1;
				}
			}
			want++;
			n++;
		}
		*last = want - 1;
	}
	return n;
}

struct seen {
	int classes, counters, threads, groups, clocks, infos, functions;
	char counter[100], info[1100];
	uint32_t members[8];
};

static inline int see(const struct vt_raw_def *d, void *ctx)
{
	struct seen *s = ctx;

	s->classes += d->type == VT_RAW_DEF_CLASS;
	s->threads += d->type == VT_RAW_DEF_THREAD;
	s->clocks += d->type == VT_RAW_DEF_CLOCK;
	s->functions += d->type == VT_RAW_DEF_FUNCTION;
	if (d->type == VT_RAW_DEF_COUNTER) {
		s->counters++;
		snprintf(s->counter, sizeof(s->counter), "%u %u %s %s %s %g %s %llu", d->id, d->counter.type, d->name,
			d->counter.unit, d->counter.description, d->counter.factor, d->counter.shown_unit,
			(unsigned long long)d->counter.upper);
	}
	if (d->type == VT_RAW_DEF_INFO) {
		s->infos++;
		snprintf(s->info, sizeof(s->info), "%s %s", d->name, d->text);
	}
	if (d->type == VT_RAW_DEF_GROUP && d->n < 8) {
		s->groups++;
		memcpy(s->members, d->members, d->n * 4);
	}
	return 0;
}

static inline void define(struct vt_raw *r)
{
	struct vt_raw_counter_def c = { .id = 1,
		.classid = 1,
		.type = 0x43,
		.upper = UINT64_MAX,
		.name = "a counter",
		.unit = "1/s",
		.description = "what it counts",
		.factor = 0.5,
		.shown_unit = "half" };
	uint32_t members[2] = { 0, 3 };

	CHECK(vt_raw_class(r, 1, 0, "OS") == 0, "%s", path);
	CHECK(vt_raw_counter(r, &c) == 0, "%s", path);
	CHECK(vt_raw_thread(r, 0, 4711, "main") == 0, "%s", path);
	CHECK(vt_raw_group(r, 2, "some", members, 2) == 0, "%s", path);
	CHECK(vt_raw_clock(r, ltick(1000), 1, 2, 3) == 0, "%s", path);
	CHECK(vt_raw_info(r, "missing", "nothing") == 0, "%s", path);
	CHECK(vt_raw_function(r, 5, 1, "f") == 0, "%s", path);
}

static inline void check_definitions(struct vt_raw_file *f)
{
	struct seen s = { 0 };

	CHECK(vt_raw_definitions(f, see, &s) == 0, "%s", path);
	CHECK(s.classes == 1 && s.counters == 1 && s.threads == 1 && s.groups == 1 && s.clocks == 1 && s.infos == 1 &&
			s.functions == 1,
		"%s", path);
	CHECK(!strcmp(s.counter, "1 67 a counter 1/s what it counts 0.5 half 18446744073709551615"), "%s", path);
	CHECK(!strcmp(s.info, "missing nothing"), "%s", path);
	CHECK(s.members[0] == 0 && s.members[1] == 3, "%s", path);
}

/* Bytes of the file that this process has mapped. */
static inline size_t mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[400];
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, path) && !strstr(line, "(deleted)") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
			n += to - from;
		}
	}
	if (f) {
		fclose(f);
	}
	return n;
}

#endif
