/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files of a job of several ranks, merged on any number of threads to traces of one identity. */
#ifndef TESTS_UNIT_COLLECTOR_PLUGIN_MERGE_JOB_H
#define TESTS_UNIT_COLLECTOR_PLUGIN_MERGE_JOB_H

#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_head.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In place of the C library's: the same identity for every trace, so that their bytes can be compared. */
ssize_t getrandom(void *p, size_t n, unsigned flags);
ssize_t getrandom(void *p, size_t n, unsigned flags)
{
	(void)flags;
	memset(p, 1, n);
	return (ssize_t)n;
}

enum { FILES = 4 };

static char dir[64], trace[100];

static char path[FILES][100];

struct made {
	int file, rank;
	const char *timer, *program;
	double hz;
	int64_t start; /* tick */
	uint32_t pid;
};

static inline struct vt_raw *create(const struct made *f)
{
	struct vt_raw_options o = { .path = path[f->file],
		.block_size = 4096,
		.max_blocks = 64,
		.autoflush = 1,
		.timer = f->timer,
		.program = f->program,
		.job = "job",
		.hz = f->hz,
		.start = ltick(f->start),
		.rank = f->rank,
		.ranks = 4 };
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw *r;

	unlink(path[f->file]);
	r = vt_raw_create(&o, &e);
	CHECK(r != NULL, "%s", e.text);
	/* if it is closed; else it is a process that went on as another program */
	vt_raw_head(r)->ending = VT_RAW_ENDED_EXIT;
	return r;
}

static inline void define(struct vt_raw *r, uint32_t first, const char *cls)
{
	struct vt_raw_counter_def c = { .id = first,
		.classid = 1,
		.type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE,
		.do_diff = 1,
		.upper = UINT64_MAX,
		.factor = 0.5,
		.name = "bytes",
		.unit = "B",
		.shown_unit = "half",
		.description = "what" };

	vt_raw_class(r, 1, 0, cls);
	vt_raw_class(r, 2, 1, "inner");
	vt_raw_counter(r, &c);
	c.id = first + 1;
	c.classid = 2;
	c.name = "level";
	c.do_diff = 0;
	c.where = VT_RAW_GROUP + VT_RAW_NODE;
	vt_raw_counter(r, &c);
}

/* The i-th sample of a trace as time, willy and first value; returns how many there are. */
static inline int samples(
	struct stf_reader *r, uint64_t *time, uint32_t *willy, uint64_t *value, uint32_t *id, int room)
{
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(r, NULL, &e);
	const struct stf_record *rec;
	struct stf_counter_value v;
	int n = 0;

	while (c && stf_cursor_next(c, &rec, &e) > 0) {
		if (stf_get_counter_value(rec, &v) == 0) {
			if (n < room) {
				time[n] = v.time;
				willy[n] = v.willy;
				value[n] = v.values[0];
				id[n] = v.counters[0];
			}
			n++;
		}
	}
	stf_cursor_close(c);
	return n;
}

/* A child makes a trace of so many records. Returns its largest size in memory, KB. */
static inline long memory_for(uint32_t records)
{
	struct vt_raw *raw = create(&(struct made){ 0, 0, "clock_monotonic", "p", 1e9, 1000, 10 });
	struct vt_raw_stream *s = vt_raw_stream(raw);
	struct vt_merge_input in = { .path = path[0] };
	struct vt_merge_options o = { .trace = trace, .force = 1 };
	struct rusage used;
	uint32_t i, id = 16;
	int status = -1;
	uint64_t v;
	pid_t pid;

	define(raw, 16, "OS");
	for (i = 0; i < records; i++) {
		v = i;
		vt_raw_counters(s, ltick(2000 + i), 0, 1, &id, &v);
		if (i % 3000 == 0) {
			vt_raw_tick(raw, ltick(2000 + i));
		}
	}
	vt_raw_stream_end(s);
	vt_raw_close(raw, ltick(2000 + records));
	pid = fork();
	if (pid == 0) {
		struct vt_merge_result res;
		struct tkm_err e;

		_exit(vt_merge(&in, 1, &o, &res, &e) == 0 && res.samples == records ? 0 : 1);
	}
	CHECK(wait4(pid, &status, 0, &used) == pid && status == 0, "status %x", status);
	unlink(path[0]);
	return used.ru_maxrss;
}

/* ---- several threads ---- */

/* Four ranks with two streams each, many equal times; rank 2's second samples its node. A stray node record: rank 3 has one
 * of a counter that is not defined as one of the node. */
static inline void four_ranks(int stray)
{
	uint32_t id, i, seed = 1;
	struct vt_raw_stream *s, *both[2];
	struct vt_raw *raw;
	uint16_t where;
	uint64_t v;
	int k, t;

	for (k = 0; k < FILES; k++) {
		raw = create(&(struct made){ k, k, "clock_monotonic", "p", 1e9, 1000, 10 + (uint32_t)k });
		vt_raw_class(raw, 1, 0, "OS");
		vt_raw_counter(raw,
			&(struct vt_raw_counter_def){
				.id = 16, .classid = 1, .type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE, .name = "n" });
		if (k == 2) {
			define(raw, 17, "node");
		}
		vt_raw_clock(raw, ltick(1000), 1000000000000 + 1000, 1000, 0);
		both[0] = vt_raw_stream(raw);
		both[1] = vt_raw_stream(raw);
		for (t = 0; t < 2; t++) {
			int64_t now = 2000;

			s = both[t];
			for (i = 0; i < 3000; i++) {
				seed = seed * 1103515245 + 12345;
				now += seed >> 16 & 3;
				v = i;
				id = k == 2 && t == 1 ? 18 : 16;
				where = (uint16_t)t;
				if (id == 18 || (stray && k == 3 && i == 1000)) {
					where = VT_RAW_GROUP + VT_RAW_NODE;
				}
				vt_raw_counters(s, ltick(now), where, 1, &id, &v);
				if (i % 50 == 0) {
					vt_raw_enter(s, ltick(now), (uint16_t)t, (struct vt_raw_state_change){ 0, 0 });
					vt_raw_comment(s, ltick(now), (uint16_t)t, "here");
				}
			}
		}
		vt_raw_stream_end(both[0]);
		vt_raw_stream_end(both[1]);
		vt_raw_close(raw, ltick(20000));
	}
}

static int by_node;

static const struct cal_map *given;

static inline int merge_to(const char *sub, uint32_t per_file, int single, int threads, struct vt_merge_result *res)
{
	struct vt_merge_input in[FILES];
	struct tkm_err e = { TKM_OK, "" };
	struct vt_merge_options o = {
		.procs_per_file = per_file, .by_node = by_node, .threads = threads, .single = single
	};
	char name[200];
	cpu_set_t eight;
	struct tkm_cpus cpus = { &eight, sizeof(eight) };
	int i, rc;

	/* so that threads are made wherever the test runs */
	CPU_ZERO(&eight);
	for (i = 0; i < 8; i++) {
		CPU_SET(i, &eight);
	}
	o.cpus = &cpus;
	snprintf(name, sizeof(name), "%s/%s", dir, sub);
	mkdir(name, 0700);
	snprintf(name, sizeof(name), "%s/%s/t.%sstf", dir, sub, single ? "single." : "");
	o.trace = name;
	for (i = 0; i < FILES; i++) {
		in[i] = (struct vt_merge_input){ .path = path[i], .map = given };
	}
	rc = vt_merge(in, FILES, &o, res, &e);
	CHECK(rc == 0 || e.text[0], "no reason");
	return rc;
}

static inline int shell(const char *fmt, const char *a, const char *b)
{
	char command[300];

	snprintf(command, sizeof(command), fmt, a, b);
	return system(command);
}

#endif
