/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files to a trace: what was recorded, and only that, comes back through the trace's reader. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/merge/common/types.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_head.h"
#include "tests/unit/collector-plugin/merge/job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Three programs of one process. How the second ended is not known, or it has told its end itself: then the third is taken for
 * another process. */
static void programs_of_one_process(void)
{
	static const struct made f[3] = { { 0, -1, "clock_monotonic", "first", 1e9, 1000, 1 },
		{ 1, -1, "clock_monotonic", "second", 1e9, 50000, 1 },
		{ 2, -1, "clock_monotonic", "third", 1e9, 90000, 1 } };
	static const uint32_t ended[2] = { 0, VT_RAW_ENDED_EXIT };
	struct vt_merge_result res;
	struct vt_raw *raw;
	size_t i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < 3; k++) {
			raw = create(&f[k]);
			define(raw, 16, "OS");
			vt_raw_head(raw)->ending = k == 1 ? ended[i] : k == 0 ? VT_RAW_ENDED_EXEC : 0;
			vt_raw_close(raw, ltick(f[k].start + 10000));
		}
		stf_reader_close(merged(3, NULL, 0, &res));
		CHECK_INT(res.processes, 1 + i);
	}
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

static void memory_is_bounded(void)
{
	long small = memory_for(100000), large = memory_for(1700000);

	CHECK(large - small < 12000, "%ld KB for 2 MB of raw data, %ld KB for 34", small, large);
}

/* The sampler process's ids begin at 0x8000, the program's at 0x10000: no file of a large job may take room for the ids before them. */
static void ids_of_a_range_begin_at_0(void)
{
	const uint32_t id[][3] = { { 1, 0, 1 }, { 0x8010, 1, 0x10 }, { 0xffff, 1, 0x7fff }, { 0x10001, 2, 1 },
		{ 0x18001, 2, 0x8001 } };
	uint32_t within;
	size_t i;

	for (i = 0; i < sizeof(id) / sizeof(id[0]); i++) {
		within = id[i][0];
		CHECK_INT(vt_merge_range(&within), id[i][1]);
		CHECK_INT(within, id[i][2]);
	}
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
	RUN(ids_of_a_range_begin_at_0);
	RUN(two_processes);
	RUN(ranks_and_maps);
	RUN(stamps_that_go_back);
	RUN(own_clock);
	RUN(streams_and_ends);
	RUN(programs_of_one_process);
	RUN(wrong_inputs);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("memory_is_bounded", "the sanitizer has memory of its own");
	(void)memory_is_bounded;
#else
	RUN(memory_is_bounded);
#endif
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
