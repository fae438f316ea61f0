/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files to a trace: what was recorded, and only that, comes back through the trace's reader. */
#include "config.h"
#include "collector-plugin/merge/merge.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/merge/hosts.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_head.h"

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

static struct vt_raw *create(const struct made *f)
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
	return r;
}

static void define(struct vt_raw *r, uint32_t first, const char *cls)
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

static struct stf_reader *merged(int n, const struct cal_map *map, double period_s, struct vt_merge_result *res)
{
	struct vt_merge_input in[FILES];
	struct vt_merge_options o = { .trace = trace, .force = 1, .period_s = period_s };
	struct tkm_err e = { TKM_OK, "" };
	struct stf_err se = { STF_OK, "", 0, 0, "" };
	struct stf_reader *r;
	int i;

	for (i = 0; i < n; i++) {
		in[i] = (struct vt_merge_input){ .path = path[i], .map = map ? &map[i] : NULL };
	}
	CHECK(vt_merge(in, (size_t)n, &o, res, &e) == 0, "%s", e.text);
	r = stf_reader_open(trace, 0, &se);
	CHECK(r != NULL, "%s", se.text);
	return r;
}

/* The i-th sample of a trace as time, willy and first value; returns how many there are. */
static int samples(struct stf_reader *r, uint64_t *time, uint32_t *willy, uint64_t *value, uint32_t *id, int room)
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

static int has_info(struct stf_reader *r, const char *cls, const char *part)
{
	const char *c, *t;
	size_t i;

	for (i = 0; stf_reader_info(r, i, &c, &t) == 0; i++) {
		if (!strcmp(c, cls) && strstr(t, part)) {
			return 1;
		}
	}
	return 0;
}

/* Two processes on one node: their samples in the order of time, ids unified, times from the start of the first. */
static void two_processes(void)
{
	static const struct made f[2] = { { 0, -1, "clock_monotonic", "a", 1e9, 5000, 1 },
		{ 1, -1, "clock_monotonic", "b", 1e9, 7000, 2 } };
	uint64_t time[40], value[40], v;
	uint32_t willy[40], id[40], one, i;
	struct vt_merge_result res;
	struct vt_raw_stream *s;
	struct stf_reader *r;
	struct vt_raw *raw;
	const uint32_t *threads;
	int k, n;

	for (k = 0; k < 2; k++) {
		raw = create(&f[k]);
		define(raw, 16 + 7 * (uint32_t)k, "OS");
		vt_raw_clock(raw, ltick(f[k].start), 1000000000000 + f[k].start, f[k].start, 0);
		vt_raw_thread(raw, 0, 100 + (uint64_t)k, k ? "second" : "first");
		vt_raw_thread(raw, 2, 103, "worker");
		s = vt_raw_stream(raw);
		for (i = 0; i < 10; i++) {
			v = 1000 * (uint64_t)k + i;
			one = 16 + 7 * (uint32_t)k;
			vt_raw_counters(s, ltick(8000 + 100 * (int64_t)i + 50 * k), (uint16_t)(k ? 2 : 0), 1, &one, &v);
		}
		one++;
		vt_raw_counters(s, ltick(9500), VT_RAW_GROUP + VT_RAW_NODE, 1, &one, &v);
		vt_raw_stream_end(s);
		vt_raw_close(raw, ltick(10000));
	}
	r = merged(2, NULL, 0, &res);
	CHECK_INT(res.samples, 22);
	CHECK_INT(res.processes, 2);
	CHECK_INT(res.threads, 6);
	CHECK_INT(res.killed, 0);
	CHECK_NEAR(res.duration_s, 5e-6, 1e-12);
	n = samples(r, time, willy, value, id, 40);
	CHECK_INT(n, 22);
	for (k = 0; k < 20 && n == 22; k++) {
		CHECK_INT(time[k], 3000 + 50 * k);
		CHECK_INT(value[k], 1000 * (k % 2) + k / 2);
		CHECK_INT(willy[k], k % 2 ? STF_WILLY(1, 2) : STF_WILLY(0, 0));
		CHECK_INT(id[k], id[0]);
	}
	CHECK(stf_willy_is_group(willy[20]) && willy[20] == willy[21] && id[20] == id[21] && id[20] != id[0],
		"node counters");
	CHECK_STR(stf_reader_name(r, STF_ID_counter_definition, id[0]), "bytes");
	CHECK_STR(stf_reader_name(r, STF_ID_class_definition, 1), "OS");
	CHECK_INT(stf_reader_count(r, STF_ID_counter_definition), 2);
	threads = stf_reader_processes(r, &i);
	CHECK(i == 2 && threads[0] == 3 && threads[1] == 3, "%u processes", i);
	CHECK(has_info(r, "counter-display", "\"OS:bytes\" 0.5 \"half\"") &&
			has_info(r, "counter-display", "\"OS:inner:level\" 0.5"),
		"how counters are shown");
	CHECK(!has_info(r, "missing", ""), "nothing is missing");
	stf_reader_close(r);
}

/* Ranks are process numbers; the map of each rank counts. */
static void ranks_and_maps(void)
{
	static const struct made f[2] = { { 0, 3, "CPU", "a", 2e9, 100, 1 }, { 1, 1, "CPU", "b", 1e9, 5000, 2 } };
	uint64_t time[4], value[4], v = 7;
	uint32_t willy[4], id[4], one = 16, n;
	struct vt_merge_result res;
	struct cal_map map[2] = { { 0 } };
	struct stf_reader *r;
	struct tkm_err e;
	int k;

	CHECK(cal_map_line(&map[0], ltick(100), gtick(1000), 5.0, &e) == 0, "map");
	CHECK(cal_map_line(&map[1], ltick(5000), gtick(1700), 10.0, &e) == 0, "map");
	for (k = 0; k < 2; k++) {
		struct vt_raw *raw = create(&f[k]);
		struct vt_raw_stream *s = vt_raw_stream(raw);

		define(raw, 16, "OS");
		vt_raw_counters(s, ltick(f[k].start + 10), 0, 1, &one, &v);
		vt_raw_counters(s, ltick(f[k].start + 1000), 0, 1, &one, &v);
		vt_raw_stream_end(s);
		vt_raw_close(raw, ltick(f[k].start + 1000));
	}
	r = merged(2, map, 1e-10, &res);
	CHECK_INT(samples(r, time, willy, value, id, 4), 4);
	CHECK(time[0] == 1050 && willy[0] == STF_WILLY(3, 0), "%llu", (unsigned long long)time[0]);
	CHECK(time[1] == 1800 && willy[1] == STF_WILLY(1, 0), "%llu", (unsigned long long)time[1]);
	CHECK(time[2] == 6000 && time[3] == 11700, "%llu %llu", (unsigned long long)time[2],
		(unsigned long long)time[3]);
	CHECK(stf_reader_processes(r, &n) && n == 4, "%u processes", n);
	stf_reader_close(r);
	cal_map_free(&map[0]);
	cal_map_free(&map[1]);
}

/* A stamp that goes back by less than its bound is moved up, one by more is left where it is; the trace says both. */
static void stamps_that_go_back(void)
{
	static const struct made f = { 0, 0, "CPU", "a", 1e9, 0, 1 };
	static const int64_t tick[] = { 1000, 2000, 1990, 1995, 2010, 500, 600, 2020 };
	static const int64_t want[] = { 1000, 2000, 2000, 2000, 2010, 500, 600, 2020 };
	uint64_t time[8], value[8], v;
	uint32_t willy[8], id[8], one = 16;
	struct vt_merge_result res;
	struct cal_map map = { 0 };
	struct vt_raw *raw = create(&f);
	struct vt_raw_stream *s = vt_raw_stream(raw);
	struct stf_reader *r;
	struct tkm_err e;
	size_t i, n;

	CHECK(cal_map_line(&map, ltick(0), gtick(0), 1.0, &e) == 0, "map");
	map.extra_s = 10e-9;
	define(raw, 16, "OS");
	for (v = 0; v < 8; v++) {
		vt_raw_counters(s, ltick(tick[v]), 0, 1, &one, &v);
	}
	vt_raw_stream_end(s);
	vt_raw_close(raw, ltick(2020));
	r = merged(1, &map, 1e-9, &res);
	n = (size_t)samples(r, time, willy, value, id, 8);
	CHECK_INT(n, 8);
	for (i = 0; i < 8 && n == 8; i++) {
		CHECK_INT(time[i], want[value[i]]);
	}
	CHECK_INT(res.moved, 2);
	CHECK(has_info(r, "repairs",
		      "2 stamps that went back in their thread were moved up to the one before them, by 1e-08 s at "
		      "most"),
		"repairs");
	CHECK(has_info(r, "missing",
		      "1 stamps go back in their thread, by 1.51e-06 s at most, which is beyond the bound of their "
		      "correction: a clock was set back, or a signal handler recorded in the middle of a call"),
		"what was not");
	stf_reader_close(r);
	cal_map_free(&map);
}

/* Without a map: the line through the readings of the system's clocks, whatever the nominal rate. */
static void own_clock(void)
{
	static const struct made f = { 0, -1, "CPU", "a", 2e9, 0, 1 };
	struct vt_raw *raw = create(&f);
	struct vt_raw_stream *s = vt_raw_stream(raw);
	uint64_t time[2], value[2], v = 1;
	uint32_t willy[2], id[2], one = 16, bits;
	struct vt_merge_result res;
	struct stf_reader *r;
	double resolution;

	define(raw, 16, "OS");
	/* 10 s in which the timer ran 1% fast */
	vt_raw_clock(raw, ltick(0), 5000000000000, 1000000000, 0);
	vt_raw_clock(raw, ltick(20200000000), 5010000000000, 11000000000, 0);
	vt_raw_counters(s, ltick(2020000000), 0, 1, &one, &v);
	vt_raw_stream_end(s);
	vt_raw_close(raw, ltick(20200000000));
	r = merged(1, NULL, 0, &res);
	CHECK_INT(samples(r, time, willy, value, id, 2), 1);
	CHECK(stf_reader_clock(r, &resolution, &bits) == 0, "clock");
	CHECK_NEAR((double)time[0] * resolution, 1.0, 1e-9);
	CHECK_NEAR(res.duration_s, 10, 1e-8);
	stf_reader_close(r);
}

/* Several streams of one process, one of which steps back; a process killed in the middle; a second program by exec. */
static void streams_and_ends(void)
{
	static const struct made f[2] = { { 0, -1, "clock_monotonic", "script", 1e9, 1000, 1 },
		{ 1, -1, "clock_monotonic", "program", 1e9, 50000, 1 } };
	static uint64_t time[3000], value[3000];
	static uint32_t willy[3000], id[3000];
	struct vt_merge_result res;
	struct vt_raw_stream *s[3];
	struct stf_reader *r;
	struct vt_raw *raw[2];
	uint32_t one = 16;
	uint64_t v;
	int i, k, n, late = 0;

	for (k = 0; k < 2; k++) {
		raw[k] = create(&f[k]);
		define(raw[k], 16, "OS");
	}
	for (k = 0; k < 3; k++) {
		s[k] = vt_raw_stream(raw[0]);
		for (i = 0; i < 500; i++) {
			v = (uint64_t)(k * 500 + i);
			vt_raw_counters(s[k], ltick(2000 + 30 * i + 7 * k - (k == 2 && i == 250 ? 1000 : 0)),
				(uint16_t)k, 1, &one, &v);
		}
	}
	v = 9999;
	vt_raw_enter(s[0], ltick(20000), 0, (struct vt_raw_state_change){ 77, 0 });
	vt_raw_comment(s[0], ltick(20001), 0, "a comment");
	vt_raw_counters(vt_raw_stream(raw[1]), ltick(60000), 0, 1, &one, &v);
	vt_raw_function(raw[0], 77, 1, "f");
	/* neither is closed: both as after SIGKILL, but the first went on as the second */
	r = merged(2, NULL, 0, &res);
	CHECK_INT(res.samples, 1501);
	CHECK_INT(res.changes, 2); /* the state that nobody left is closed */
	CHECK_INT(res.processes, 1);
	CHECK_INT(res.killed, 1);
	n = samples(r, time, willy, value, id, 3000);
	CHECK_INT(n, 1501);
	for (i = 1; i < n; i++) {
		late += time[i] < time[i - 1];
	}
	CHECK_INT(late, 1);
	CHECK_INT(time[n - 1], 59000);
	CHECK(has_info(r, "missing", "(program, pid") && !has_info(r, "missing", "(script, pid"), "which was killed");
	stf_reader_close(r);
	vt_raw_detach_after_fork(raw[0]);
	vt_raw_detach_after_fork(raw[1]);
}

static void wrong_inputs(void)
{
	static const struct made f = { 0, -1, "clock_monotonic", "a", 1e9, 1000, 1 };
	struct vt_merge_options o = { .trace = trace, .delete_raw = 1 };
	struct vt_merge_input in = { .path = path[3] };
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw *raw;
	int fd;

	unlink(path[3]);
	CHECK(vt_merge(&in, 1, &o, NULL, &e) < 0 && strstr(e.text, path[3]), "%s", e.text);
	CHECK(vt_merge(&in, 0, &o, NULL, &e) < 0, "no file");
	fd = open(path[3], O_CREAT | O_WRONLY, 0600);
	CHECK(write(fd, "abc", 3) == 3, "write");
	close(fd);
	CHECK(vt_merge(&in, 1, &o, NULL, &e) < 0 && access(path[3], F_OK) == 0, "%s", e.text);
	CHECK(!vt_merge_is_raw(path[3]), "is no raw file");
	/* an existing trace stays, and so does the raw file */
	raw = create(&f);
	define(raw, 16, "OS");
	vt_raw_close(raw, ltick(2000));
	in.path = path[0];
	CHECK(vt_merge_is_raw(path[0]), "is a raw file");
	CHECK(vt_merge(&in, 1, &o, NULL, &e) < 0 && e.code == TKM_ERR_EXISTS && access(path[0], F_OK) == 0, "%s",
		e.text);
	o.force = 1;
	CHECK(vt_merge(&in, 1, &o, NULL, &e) == 0 && access(path[0], F_OK) != 0, "%s", e.text);
}

/* ---- several threads ---- */

/* Four ranks with two streams each, many equal times; rank 2's second samples its node. A stray node record: rank 3 has one
 * of a counter that is not defined as one of the node. */
static void four_ranks(int stray)
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

static const struct vt_merge_hosts *hosts;
static int by_node, apart, whole;
static char definitions[FILES][450];

static int put_at(void *ctx, uint64_t at, const void *p, size_t n)
{
	return pwrite(*(int *)ctx, p, n, (off_t)at) == (ssize_t)n ? 0 : -1;
}

/* As if only its host saw the file: its definitions are here. */
static void set_apart(struct vt_merge_input *in, int i)
{
	struct tkm_err e;
	struct stat st, all;
	int fd;

	snprintf(definitions[i], sizeof(definitions[i]), "%s.rank%d", path[i], i);
	fd = open(definitions[i], O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0 && vt_raw_copy_definitions(path[i], put_at, &fd, &e) == 0, "%s", e.text);
	CHECK(fstat(fd, &st) == 0 && stat(path[i], &all) == 0 && st.st_size < all.st_size, "%lld bytes",
		(long long)st.st_size);
	close(fd);
	in->there = path[i];
	in->path = definitions[i];
}
static const struct cal_map *given;

static int merge_to(const char *sub, uint32_t per_file, int single, int threads, struct vt_merge_result *res)
{
	static const uint32_t host[FILES] = { 0, 1, 1, 2 };
	struct vt_merge_input in[FILES];
	struct tkm_err e = { TKM_OK, "" };
	struct vt_merge_options o = { .procs_per_file = per_file,
		.by_node = by_node,
		.threads = threads,
		.single = single,
		.cpus_size = sizeof(cpu_set_t) };
	char name[200];
	cpu_set_t cpus;
	int i, rc;

	/* so that threads are made wherever the test runs */
	CPU_ZERO(&cpus);
	for (i = 0; i < 8; i++) {
		CPU_SET(i, &cpus);
	}
	o.cpus = &cpus;
	snprintf(name, sizeof(name), "%s/%s", dir, sub);
	mkdir(name, 0700);
	snprintf(name, sizeof(name), "%s/%s/t.%sstf", dir, sub, single ? "single." : "");
	o.trace = name;
	for (i = 0; i < FILES; i++) {
		in[i] = (struct vt_merge_input){ .path = path[i], .map = given, .host = hosts ? host[i] : 0 };
		if (apart && in[i].host) {
			set_apart(&in[i], i);
		}
	}
	o.hosts = hosts;
	whole = 0;
	rc = vt_merge(in, FILES, &o, res, &e);
	for (i = 0; i < FILES; i++) {
		if (in[i].there) {
			unlink(in[i].path);
		}
	}
	CHECK(rc == 0 || e.text[0], "no reason");
	return rc;
}

static int shell(const char *fmt, const char *a, const char *b)
{
	char command[300];

	snprintf(command, sizeof(command), fmt, a, b);
	return system(command);
}

static void bytes_of_threads(void)
{
	static const struct {
		uint32_t per_file;
		int single, stray;
	} way[] = { { 1, 0, 0 }, { 0, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 } };
	struct vt_merge_result one, many;
	size_t i;

	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		four_ranks(way[i].stray);
		CHECK(merge_to("one", way[i].per_file, way[i].single, 1, &one) == 0, "way %zu", i);
		CHECK(merge_to("many", way[i].per_file, way[i].single, 4, &many) == 0, "way %zu", i);
		CHECK(shell("diff -r %s/one %s/many >&2", dir, dir) == 0, "way %zu: other bytes", i);
		CHECK(memcmp(&one, &many, sizeof(one)) == 0, "way %zu: %llu samples, %llu", i,
			(unsigned long long)one.samples, (unsigned long long)many.samples);
		CHECK_INT(one.samples, 8 * 3000);
		shell("rm -rf %s/one %s/many", dir, dir);
	}
}

/* What the hosts do, one after the other; the last of them is broken in some way. */
enum broken { NOT, SILENT, CUT, MAD };
static int jobs;

static int in_turn(void *ctx, char *const *job, const size_t *size, char **result, size_t *result_size,
	void (*own)(void *arg), void *arg, struct tkm_err *err)
{
	enum broken how = *(enum broken *)ctx;
	size_t h, files;

	(void)err;
	own(arg);
	for (h = 1; h < 3; h++) {
		if (!job[h]) {
			continue;
		}
		jobs++;
		if (h == 2 && how == SILENT) {
			continue;
		}
		result[h] = vt_merge_for_host(
			job[h], h == 2 && how == CUT ? size[h] / 2 : size[h], NULL, 0, &result_size[h], &files);
		CHECK(result[h] != NULL, "no result");
		if (h == 2 && how == MAD) {
			result_size[h] /= 2;
		}
	}
	return 0;
}

/* A byte of the data of rank 3, which is host 2's. */
static void damage(void)
{
	int fd = open(path[3], O_RDWR);
	char c;

	CHECK(pread(fd, &c, 1, 100000) == 1, "read");
	c ^= 1;
	CHECK(pwrite(fd, &c, 1, 100000) == 1, "write");
	close(fd);
}

/* Samples of a group in one component of many/t.stf, and all others there. */
static void count_groups(const char *suffix, uint64_t *group, uint64_t *other)
{
	struct stf_reader *r;
	const struct stf_record *rec;
	struct stf_cursor *c;
	struct stf_err e;
	char name[200];

	snprintf(name, sizeof(name), "%s/many/t.stf", dir);
	r = stf_reader_open(name, 0, &e);
	c = r ? stf_cursor_open(r, suffix, &e) : NULL;
	CHECK(c, "%s", e.text);
	*group = *other = 0;
	while (c && stf_cursor_next(c, &rec, &e) > 0) {
		if (stf_willy_is_group((uint32_t)stf_value(rec, "willy")->u)) {
			++*group;
		} else {
			++*other;
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
}

/* The first set has none of node b's, the second all of them, and so many others. */
static void groups_are_with_their_node(uint64_t others)
{
	uint64_t group, other;

	count_groups(".c.0", &group, &other);
	CHECK(group == 0 && other > 0, "%llu samples of groups in the first set", (unsigned long long)group);
	count_groups(".c.1", &group, &other);
	CHECK(group == 3000 && other == others, "%llu samples of node b, %llu others", (unsigned long long)group,
		(unsigned long long)other);
}

/* Whichever way: an error, and nothing is left. */
static void hosts_fail(enum broken *how)
{
	struct vt_merge_result many;

	for (*how = SILENT; *how <= MAD; ++*how) {
		four_ranks(0);
		CHECK_INT(merge_to("many", 1, 0, 2, &many), -1);
		if (*how != MAD) {
			CHECK(shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "%d: files are left", *how);
		}
		shell("rm -rf %s/many", dir, NULL);
	}
	four_ranks(1);
	*how = NOT;
	CHECK_INT(merge_to("many", 1, 0, 2, &many), -1);
	CHECK(shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "stray: files are left");
	shell("rm -rf %s/many", dir, NULL);
}

/* nodes: ranks 1 and 2 are on one, 3 on another, and a node's counters are in the files of its lowest rank. */
static void bytes_of_hosts(void)
{
	static const struct {
		uint32_t per_file;
		int jobs, map, damaged, nodes, apart;
	} way[] = { { 1, 2, 0, 0, 0, 0 }, { 2, 0, 0, 0, 0, 0 }, { 1, 2, 1, 0, 0, 0 }, { 1, 2, 1, 1, 0, 0 },
		{ 0, 2, 1, 0, 1, 0 }, { 1, 2, 1, 1, 1, 0 }, { 0, 2, 1, 0, 1, 1 }, { 1, 2, 1, 1, 1, 1 },
		{ 1, 2, 0, 0, 1, 1 } };
	struct vt_merge_result one, many;
	enum broken how = NOT;
	struct vt_merge_hosts three = { .n = 3, .whole = &whole, .exchange = in_turn, .ctx = &how };
	struct cal_map map = { .period_s = 1e-9 };
	struct tkm_err e;
	size_t i;

	CHECK_INT(cal_map_line(&map, ltick(1000), gtick(5000), 1.0001, &e), 0);
	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		four_ranks(0);
		if (way[i].damaged) {
			damage();
		}
		if (way[i].nodes) {
			raw_on_node(path[1], "b");
			raw_on_node(path[2], "b");
			raw_on_node(path[3], "c");
		}
		by_node = way[i].nodes;
		given = way[i].map ? &map : NULL;
		hosts = NULL;
		CHECK(merge_to("one", way[i].per_file, 0, 1, &one) == 0, "way %zu", i);
		hosts = &three;
		apart = way[i].apart;
		jobs = 0;
		CHECK(merge_to("many", way[i].per_file, 0, 2, &many) == 0, "way %zu", i);
		CHECK_INT(jobs, way[i].jobs);
		CHECK(shell("diff -r %s/one %s/many >&2", dir, dir) == 0, "way %zu: other bytes", i);
		CHECK(memcmp(&one, &many, sizeof(one)) == 0, "way %zu: %llu samples, %llu; %llu blocks damaged, %llu",
			i, (unsigned long long)one.samples, (unsigned long long)many.samples,
			(unsigned long long)one.damaged, (unsigned long long)many.damaged);
		CHECK((one.damaged > 0) == way[i].damaged, "%llu blocks damaged", (unsigned long long)one.damaged);
		if (way[i].nodes) {
			groups_are_with_their_node(way[i].per_file ? 6000 : 9000);
		}
		shell("rm -rf %s/one %s/many", dir, dir);
	}
	by_node = 0;
	/* the first set has records of rank 2's node */
	four_ranks(0);
	CHECK_INT(merge_to("many", 1, 0, 2, &many), -1);
	CHECK(whole == 1 && shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "the whole was not asked for");
	apart = 0;
	hosts_fail(&how);
	hosts = NULL;
	given = NULL;
	cal_map_free(&map);
}

/* A child makes a trace of so many records. Returns its largest size in memory, KB. */
static long memory_for(uint32_t records)
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

static void memory_is_bounded(void)
{
	long small = memory_for(100000), large = memory_for(1700000);

	CHECK(large - small < 12000, "%ld KB for 2 MB of raw data, %ld KB for 34", small, large);
}

/* The disk is full in the midst of it: an error, and nothing is left. */
static void threads_that_fail(void)
{
	struct rlimit before, small;
	struct vt_merge_result res;

	four_ranks(0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 100000;
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_INT(merge_to("many", 1, 0, 4, &res), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "files are left");
	CHECK(merge_to("many", 1, 0, 4, &res) == 0, "again");
}

int main(int argc, char **argv)
{
	char command[100];
	int i;

	check_args(argc, argv);
	snprintf(dir, sizeof(dir), "/tmp/test_merge.XXXXXX");
	if (!mkdtemp(dir)) {
		return 99;
	}
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	for (i = 0; i < FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/raw%d.dat", dir, i);
	}
	RUN(two_processes);
	RUN(ranks_and_maps);
	RUN(stamps_that_go_back);
	RUN(own_clock);
	RUN(streams_and_ends);
	RUN(wrong_inputs);
	RUN(bytes_of_threads);
	RUN(bytes_of_hosts);
	RUN(threads_that_fail);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("memory_is_bounded", "the sanitizer has memory of its own");
	(void)memory_is_bounded;
#else
	RUN(memory_is_bounded);
#endif
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
