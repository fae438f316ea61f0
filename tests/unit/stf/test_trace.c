/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole traces: they are written, read and written again; invalid ones are refused; results are compared with
 * stored traces. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "stf/write/batch.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_every.h"

enum { IDENTITY_SIZE = 34 }; /* trace_identity, the first record of each component */

/* Removes the files whose names begin with prefix; counts those that contain `mark`. */
static int files(const char *in, const char *prefix, const char *mark, int remove_them)
{
	DIR *d = opendir(in);
	struct dirent *e;
	char path[1024];
	int n = 0;

	while (d && (e = readdir(d))) {
		if (*e->d_name != '.' && strncmp(e->d_name, prefix, strlen(prefix)) == 0 && strstr(e->d_name, mark)) {
			n++;
			snprintf(path, sizeof(path), "%s/%s", in, e->d_name);
			if (remove_them) {
				unlink(path);
			}
		}
	}
	if (d) {
		closedir(d);
	}
	return n;
}

static int copy_part(struct stf_reader *r, struct stf_writer *w, const char *suffix, int index)
{
	struct stf_cursor *c = stf_cursor_open(r, suffix, &err);
	const struct stf_record *rec;
	int rc = -1;

	while (c && (rc = stf_cursor_next(c, &rec, &err)) > 0) {
		if (index && rec->layout->id != STF_ID_info && rec->layout->id != STF_ID_process_declaration) {
			continue;
		}
		if (stf_write_record(w, rec) < 0) {
			err = *stf_writer_error(w);
			rc = -1;
			break;
		}
	}
	stf_cursor_close(c);
	return rc;
}

static int copy_trace(const char *from, const char *to, int big, uint32_t per_file)
{
	struct stf_writer_options o = {
		.comment = "every", .big_endian = big, .procs_per_file = per_file, .identity = { 1, 2 }
	};
	struct stf_reader *r = stf_reader_open(from, STF_READ_CHECK_REFS, &err);
	struct stf_writer *w = NULL;
	uint64_t start, end;

	if (!r || stf_reader_clock(r, &o.resolution, &o.eventbits) < 0 || stf_reader_duration(r, &start, &end) < 0) {
		return -1;
	}
	w = stf_writer_create(to, &o, &err);
	if (!w || copy_part(r, w, ".dcl", 0) || copy_part(r, w, NULL, 0) || copy_part(r, w, "", 1) ||
		(per_file != 7 && copy_part(r, w, ".sts", 0))) {
		stf_reader_close(r);
		stf_writer_abort(w);
		return -1;
	}
	stf_reader_close(r);
	return stf_writer_finish(w, start, end, &err);
}

/* Compares all files whose names begin with a.stf in one folder with b.stf in another. */
static int compare(const char *in, const char *a, const char *other, const char *b)
{
	DIR *d = opendir(in);
	struct dirent *e;
	char p[1024], q[1024], *x, *y;
	size_t n, m;
	int files_seen = 0;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, a, strlen(a)) != 0) {
			continue;
		}
		snprintf(p, sizeof(p), "%s/%s", in, e->d_name);
		snprintf(q, sizeof(q), "%s/%s%s", other, b, e->d_name + strlen(a));
		x = slurp(p, &n);
		y = slurp(q, &m);
		CHECK(x && y && n == m && memcmp(x, y, n) == 0, "%s and %s differ", p, q);
		free(x);
		free(y);
		files_seen++;
	}
	if (d) {
		closedir(d);
	}
	return files_seen;
}

static void write_read_write(void)
{
	static const int want[] = { 8, 14, 10 }; /* data files, all too short for anchors */
	int big, n;
	uint32_t per;

	for (big = 0; big < 2; big++) {
		for (per = 0; per < 3; per++) {
			clean();
			CHECK(write_every(in_dir("a.stf"), big, per) == 0, "%s: %s", err.file, err.text);
			CHECK(copy_trace(in_dir("a.stf"), in_dir("b.stf"), big, per) == 0, "%s: %s", err.file,
				err.text);
			n = compare(dir, "a.stf", dir, "b.stf");
			CHECK_INT(n, files(dir, "b.stf", "", 0));
			CHECK_INT(n, 3 + want[per]);
			CHECK_INT(files(dir, "", ".tmp", 0), 0);
		}
	}
}

__attribute__((unused)) static void store(const char *name, const char *golden)
{
	struct dirent *e;
	char path[1024], *p;
	DIR *d = opendir(dir);
	size_t n;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, name, strlen(name)) == 0) {
			p = slurp(in_dir(e->d_name), &n);
			snprintf(path, sizeof(path), "%s/%s", golden, e->d_name);
			spit(path, p, n);
			free(p);
		}
	}
	if (d) {
		closedir(d);
	}
}

/* What the bytes were stays what they are. UPDATE_EXPECT=1 stores new ones, with a new doc/stf-format.md. */
__attribute__((unused)) static void equals_golden(void)
{
	const char *src = getenv("top_srcdir");
	char golden[512];
	int big;

	snprintf(golden, sizeof(golden), "%s/tests/golden", src ? src : ".");
	for (big = 0; big < 2; big++) {
		const char *name = big ? "every-big.stf" : "every-little.stf";

		clean();
		CHECK(write_every(in_dir(name), big, 0) == 0, "%s", err.text);
		if (getenv("UPDATE_EXPECT")) {
			store(name, golden);
		}
		CHECK_INT(compare(dir, name, golden, name), files(golden, name, "", 0));
		CHECK_INT(files(golden, name, "", 0), 11);
	}
}

static void tables_are_read(void)
{
	struct stf_reader *r;
	struct stf_willy_info wi;
	const char *cls, *text;
	double res = 0;
	uint32_t bits = 0, n;
	uint64_t start = 0, end = 0;
	const uint32_t *threads;

	clean();
	CHECK(write_every(in_dir("a.stf"), 1, 2) == 0, "%s", err.text);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	CHECK(r, "%s: %s", err.file, err.text);
	if (!r) {
		return;
	}
	CHECK_INT(stf_reader_clock(r, &res, &bits), 0);
	CHECK(res == 0x1p-30 && bits == 3, "%g %u", res, bits);
	CHECK_INT(stf_reader_duration(r, &start, &end), 0);
	CHECK_INT(start, 1000 + 10 * STF_ID_all_communication);
	CHECK(end >= 1000 + 10 * STF_ID_report, "%llu", (unsigned long long)end);
	threads = stf_reader_processes(r, &n);
	CHECK(n == 4 && threads[2] == 2, "%u processes", n);
	CHECK_INT(stf_reader_willy(r, STF_WILLY(2, 1), &wi), 0);
	CHECK_STR(wi.hostname, "node7");
	CHECK_STR(wi.ip, "10.1.2.3");
	CHECK_STR(wi.name, "rank 2 \xc3\xa4");
	CHECK(wi.pid == 1234 && wi.tid == 5678 && wi.offset == -0.5 && wi.skew == 2.5e-10, "willy");
	CHECK_INT(stf_reader_willy(r, STF_WILLY(9, 9), &wi), -1);
	CHECK_INT(stf_reader_info(r, 1, &cls, &text), 0);
	CHECK_STR(cls, "clock");
	CHECK_STR(text, "simulated");
#ifdef HAVE_XXHASH
	CHECK_INT(stf_reader_info(r, 2, &cls, &text), 0);
	CHECK_STR(cls, "integrity");
	CHECK(strncmp(text, ".dcl ", 5) == 0, "%s", text);
#else
	CHECK_INT(stf_reader_info(r, 2, &cls, &text), -1);
#endif
	CHECK_INT(stf_reader_info(r, 99, &cls, &text), -1);
	CHECK(!stf_reader_string(r, 9999), "undeclared string");
	CHECK_STR(stf_reader_name(r, STF_ID_communicator_definition, 200), "ccc");
	CHECK_INT(stf_reader_is_big_endian(r), 1);
	CHECK_INT(stf_reader_skipped(r), 0);
	stf_reader_close(r);
}

/* ---- time ---- */

static void times_survive(void)
{
	static const uint64_t t[] = { 0, 1, 0xffffffffu, 0x1fffffffeu, 0x2fffffffeu, 0x4fffffffdu,
		0x4fffffffdu + 0x1fffffffeu, 0x4fffffffdu + 0x1fffffffeu + 0x1ffffffffu, 5, UINT64_MAX, 0, 7 };
	struct stf_writer_options o = { .resolution = 1 };
	struct stf_writer *w;
	struct stf_leave_function m = { 0 };
	struct stf_reader *r;
	struct stf_cursor *c;
	const struct stf_record *rec;
	uint64_t start, end;
	size_t i, n = sizeof(t) / sizeof(*t), bytes;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	for (i = 0; i < n; i++) {
		m.time = t[i];
		CHECK_INT(stf_write_leave_function(w, &m), 0);
	}
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	free(slurp(in_dir("a.stf.f.0"), &bytes));
	/* the identity, two add_time (gaps of 2^32 and twice 2^32-1), three add_time_1, two sub_time, nothing else */
	CHECK_INT(bytes, IDENTITY_SIZE + 9 * n + 2 * 5 + 3 * 9 + 2 * 9);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	c = stf_cursor_open(r, NULL, &err);
	for (i = 0; i < n; i++) {
		if (stf_cursor_next(c, &rec, &err) != 1) {
			CHECK(0, "%zu of %zu: %s", i, n, err.text);
			break;
		}
		CHECK(rec->time == t[i] && rec->values[0].u == t[i], "%zu: %llx", i, (unsigned long long)rec->time);
	}
	CHECK_INT(stf_cursor_next(c, &rec, &err), 0);
	stf_reader_duration(r, &start, &end);
	CHECK(start == 0 && end == UINT64_MAX, "duration");
	stf_cursor_close(c);
	stf_reader_close(r);
}

static void merge_is_by_time(void)
{
	struct stf_writer_options o = { .resolution = 1, .procs_per_file = 2 };
	struct stf_writer *w;
	struct stf_reader *r;
	struct stf_cursor *c;
	const struct stf_record *rec;
	uint64_t last = 0, now[9] = { 0 }, sum = 0, got = 0;
	int i, n = 0;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	for (i = 0; i < 60000; i++) {
		uint32_t p = (uint32_t)(check_random() % 9);
		struct stf_enter_function f = { .time = now[p / 2 * 2] += check_random() % 1000, .willy = p };

		sum += f.time * (p + 1);
		CHECK_INT(stf_write_enter_function(w, &f), 0);
	}
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	CHECK_INT(files(dir, "a.stf.f.", ".anc", 0), 5);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	c = stf_cursor_open(r, NULL, &err);
	while (stf_cursor_next(c, &rec, &err) > 0) {
		CHECK(rec->time >= last, "backwards");
		last = rec->time;
		got += last * (stf_value(rec, "willy")->u + 1);
		n++;
	}
	CHECK_INT(n, 60000);
	CHECK(got == sum, "sum");
	stf_cursor_close(c);
	stf_reader_close(r);
}

/* A state, or k values. */
struct event {
	uint64_t time, value[3];
	uint32_t enter, k;
};
static const uint32_t some_counters[3] = { 7, 40, 41 };

static void write_event(struct stf_writer *w, uint32_t willy, const struct event *e)
{
	struct stf_enter_function enter = { .time = e->time, .willy = willy, .function = (uint32_t)e->value[0] };
	struct stf_leave_function leave = { .time = e->time, .willy = willy };
	struct stf_counter_value v = {
		.time = e->time, .willy = willy, .size_1_2 = e->k, .values = e->value, .counters = some_counters
	};

	CHECK_INT(e->k             ? stf_write_counter_value(w, &v)
			: e->enter ? stf_write_enter_function(w, &enter)
				   : stf_write_leave_function(w, &leave),
		0);
}

/* Puts as many events as there is room for. Returns how many. */
static size_t write_batch(struct stf_writer *w, uint32_t willy, const struct event *e, size_t n)
{
	struct stf_batch b = e->k ? stf_batch_values(w, willy) : stf_batch_states(w, willy);
	struct stf_done d = { .p = b.p, .last = b.now, .first = e->time };
	size_t longest = e->k ? STX_VALUES + 12 * e->k : STX_ENTER, i;
	uint32_t open[300], j;

	d.open = open;
	for (i = 0; i < n && (size_t)(d.p - b.p) + longest <= b.room && e[i].time - d.last <= UINT32_MAX; i++) {
		for (j = 0; j < e->k; j++) {
			tkm_put64(d.p + STX_VALUES + 8 * (size_t)j, e[i].value[j], 0);
		}
		if (e->k) {
			d.p = stf_put_values(d.p, (uint32_t)(e[i].time - d.last), willy, e->k, some_counters);
		} else {
			open[d.n_open] = (uint32_t)e[i].value[0];
			d.left += !e[i].enter && d.n_open == 0;
			d.n_open = e[i].enter ? d.n_open + 1 : d.n_open - (d.n_open > 0);
			d.p = stf_put_state(
				d.p, (uint32_t)(e[i].time - d.last), willy, (uint32_t)e[i].value[0], e[i].enter);
		}
		d.enters += e[i].enter;
		d.last = e[i].time;
	}
	d.n = i;
	if (i) {
		CHECK_INT(e->k ? stf_batch_end_values(&b, &d) : stf_batch_end_states(&b, &d), 0);
	}
	return i;
}

/* The events of a few threads, in runs: in batches, or one by one. */
static void write_runs(const char *name, int big, int batches, uint64_t seed)
{
	struct stf_writer_options o = { .resolution = 1, .big_endian = big };
	struct stf_writer *w = stf_writer_create(in_dir(name), &o, &err);
	struct event e[300];
	uint64_t t = 0;
	size_t i, n;
	int run;

	check_state = seed;
	for (run = 0; run < 800; run++) {
		uint32_t willy = STF_WILLY(0, check_random() % 3), k = (uint32_t)(check_random() % 4);

		n = check_random() % (run % 3 ? 300 : 20);
		for (i = 0; i < n; i++) {
			unsigned step = (unsigned)(check_random() % 1000);

			t += step == 0 ? 1ull << 32 : step == 1 ? 0xffffffffu : step;
			t -= step == 2 ? 1000 : 0;
			e[i] = (struct event){ .time = t,
				.value = { check_random(), check_random(), check_random() },
				.enter = k ? 0 : check_random() % 2,
				.k = k };
		}
		for (i = 0; i < n; i++) {
			i += batches ? write_batch(w, willy, e + i, n - i) : 0;
			if (i < n) {
				write_event(w, willy, &e[i]);
			}
		}
	}
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
}

static void events_in_batches_are_events_one_by_one(void)
{
	static const char *const suffix[] = { ".f.0", ".c.0", ".f.0.anc", ".c.0.anc" };
	uint64_t seed = check_state;
	char name[2][20], *p[2];
	size_t n[2];
	int big, i, k;

	for (big = 0; big < 2; big++) {
		clean();
		write_runs("a.stf", big, 0, seed);
		write_runs("b.stf", big, 1, seed);
		for (i = 0; i < 4; i++) {
			for (k = 0; k < 2; k++) {
				snprintf(name[k], sizeof(name[k]), "%c.stf%s", "ab"[k], suffix[i]);
				p[k] = slurp(in_dir(name[k]), &n[k]);
			}
			CHECK(n[0] > (i < 2 ? 150000u : 300u), "%zu bytes", n[0]);
			CHECK(n[0] == n[1] && !memcmp(p[0] + IDENTITY_SIZE, p[1] + IDENTITY_SIZE, n[0] - IDENTITY_SIZE),
				"%s: %zu and %zu bytes", suffix[i], n[0], n[1]);
			free(p[0]);
			free(p[1]);
		}
	}
}

/* More than a buffer, which is written out in pieces. Files have more places reserved on the disk than they need, but only while they are
 * written. */
static void long_file(void)
{
	const struct stf_record *r;
	struct stf_reader *reader;
	struct stf_cursor *c;
	uint64_t n = 0;
	struct stf_writer_options o = { .resolution = 1, .force = 1 };
	struct stf_writer *w = stf_writer_create(in_dir("a.stf"), &o, &err);
	struct event e = { .k = 3 };
	struct stat st;

	for (e.time = 0; e.time < 100000; e.time++) {
		write_event(w, 0, &e);
	}
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	CHECK_INT(stat(in_dir("a.stf.c.0"), &st), 0);
	CHECK(st.st_size > 4 << 20 && (int64_t)st.st_blocks * 512 - (int64_t)st.st_size < 1 << 20,
		"%lld bytes in %lld blocks of 512", (long long)st.st_size, (long long)st.st_blocks);
	reader = stf_reader_open(in_dir("a.stf"), STF_READ_VERIFY, &err);
	c = stf_cursor_open(reader, ".c.0", &err);
	while (stf_cursor_next(c, &r, &err) > 0) {
		n += r->time == n;
	}
	CHECK(n == 100000, "%llu records", (unsigned long long)n);
	stf_cursor_close(c);
	stf_reader_close(reader);
}

/* ---- anchors ---- */

#define COUNTERS 5
/* last[k][c] is what counter c was at the k-th record boundary. */
enum { WRITTEN = 12000 };

static void write_random_counters(uint64_t last[][COUNTERS])
{
	struct stf_writer_options o = { .resolution = 1, .procs_per_file = 0 };
	struct stf_writer *w;
	uint64_t v[COUNTERS] = { 0 }, t = 0;
	uint32_t ids[COUNTERS] = { 40, 7, 99, 3, 50 };
	int i, k;

	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	for (i = 0; i < WRITTEN; i++) {
		struct stf_counter_value x = { .time = t += check_random() % 3 ? 10 : 1ull << 33,
			.size_1_2 = COUNTERS,
			.values = v,
			.counters = ids };

		for (k = 0; k < COUNTERS; k++) {
			v[k] = check_random();
		}
		CHECK_INT(stf_write_counter_value(w, &x), 0);
		memcpy(last[i], v, sizeof(v));
	}
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
}

static void anchors_tell_the_state(void)
{
	static uint64_t at[WRITTEN], prev[WRITTEN], last[WRITTEN][COUNTERS];
	struct stf_reader *r;
	struct stf_cursor *c;
	const struct stf_record *rec;
	uint64_t shown = 0, before = 0;
	struct stf_counter_history h;
	int anchors = 0, found = 0, n = 0;

	clean();
	write_random_counters(last);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	c = stf_cursor_open(r, ".c.0", &err);
	while (stf_cursor_next(c, &rec, &err) > 0 && n < WRITTEN) {
		at[n] = rec->offset;
		prev[n++] = rec->time;
	}
	CHECK_INT(n, WRITTEN);
	stf_cursor_close(c);
	c = stf_cursor_open(r, ".c.0.anc", &err);
	while (stf_cursor_next(c, &rec, &err) > 0) {
		if (rec->layout->id == STF_ID_anchor) {
			uint64_t offset = stf_value(rec, "offset")->u;

			CHECK(offset - before <= 65536, "gap of %llu", (unsigned long long)(offset - before));
			before = offset;
			/* the anchor lies ahead of the time records of record n */
			for (n = 0; n < WRITTEN && at[n] < offset; n++) {
			}
			shown = n;
			CHECK(n == WRITTEN || at[n] - offset <= 9 || (offset == 0 && at[n] - IDENTITY_SIZE <= 9),
				"no boundary");
			CHECK(stf_value(rec, "time_prev")->u == (n ? prev[n - 1] : 0), "time_prev");
			anchors++;
		} else if (stf_get_counter_history(rec, &h) == 0) {
			CHECK_INT(h.size_1_2, COUNTERS);
			CHECK(h.counters[0] == 3 && h.counters[4] == 99, "ordered");
			CHECK(h.values[0] == last[shown - 1][3] && h.values[4] == last[shown - 1][2], "values");
			found++;
		}
	}
	CHECK(anchors >= 12 && found == anchors - 1, "%d anchors, %d histories", anchors, found);
	CHECK(at[WRITTEN - 1] - before <= 65536, "end");
	stf_cursor_close(c);
	stf_reader_close(r);
}

static void histories_of_stacks_and_messages(void)
{
	struct stf_writer_options o = { .resolution = 1 };
	struct stf_writer *w;
	struct stf_reader *r;
	struct stf_cursor *c;
	const struct stf_record *rec;
	struct stf_function_history fh;
	struct stf_history h;
	int i, stacks = 0, opens = 0;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	for (i = 0; i < 8000; i++) {
		struct stf_enter_function f = { .time = (uint64_t)i, .function = i < 2 ? 11 + (uint32_t)i : 5 };
		struct stf_leave_function l = { .time = (uint64_t)i };
		struct stf_one_to_one_communication m = { .time = (uint64_t)i,
			.receive_time = i == 3 ? 100000
				: i == 4       ? -2
					       : 1 };

		CHECK_INT(stf_write_enter_function(w, &f), 0);
		CHECK(i < 2 || stf_write_leave_function(w, &l) == 0, "leave");
		CHECK_INT(stf_write_one_to_one_communication(w, &m), 0);
	}
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	c = stf_cursor_open(r, ".f.0.anc", &err);
	while (stf_cursor_next(c, &rec, &err) > 0) {
		if (stf_get_function_history(rec, &fh) == 0) {
			CHECK(fh.size_1_1 >= 2 && fh.function_stack[0] == 11 && fh.function_stack[1] == 12, "stack");
			stacks++;
		}
	}
	stf_cursor_close(c);
	c = stf_cursor_open(r, ".msg.anc", &err);
	while (stf_cursor_next(c, &rec, &err) > 0) {
		if (stf_get_history(rec, &h) == 0) {
			CHECK(h.size_1_3 == 2 && h.offset[0] == IDENTITY_SIZE + 3 * 41 && h.prevtime[0] == 2,
				"%u pending", h.size_1_3);
			opens++;
		}
	}
	CHECK(stacks >= 2 && opens >= 4, "%d %d", stacks, opens);
	stf_cursor_close(c);
	stf_reader_close(r);
}

/* ---- files ---- */

static void existing_files_are_kept(void)
{
	struct stf_writer_options o = { .resolution = 1 };
	struct stf_writer *w;
	struct stf_leave_function m = { 0 };
	char *p;
	size_t n;

	clean();
	spit(in_dir("a.stf"), "mine", 4);
	CHECK(!stf_writer_create(in_dir("a.stf"), &o, &err), "base");
	CHECK_INT(err.code, STF_ERR_EXISTS);
	CHECK_INT(files(dir, "", "", 0), 1);
	clean();
	spit(in_dir("a.stf.f.0.anc"), "mine", 4);
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK_INT(stf_write_leave_function(w, &m), -1);
	CHECK_INT(stf_writer_error(w)->code, STF_ERR_EXISTS);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), -1);
	CHECK_INT(files(dir, "", "", 0), 1);
	/* came to be there while we wrote */
	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK_INT(stf_write_leave_function(w, &m), 0);
	spit(in_dir("a.stf"), "mine", 4);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), -1);
	CHECK_INT(err.code, STF_ERR_EXISTS);
	p = slurp(in_dir("a.stf"), &n);
	CHECK(n == 4 && memcmp(p, "mine", 4) == 0, "overwritten");
	free(p);
	CHECK_INT(files(dir, "", "", 0), 1);
	/* force replaces, at the end only */
	o.force = 1;
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	free(slurp(in_dir("a.stf"), &n));
	CHECK_INT(n, 4);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), 0);
	free(slurp(in_dir("a.stf"), &n));
	CHECK(n > 100, "%zu", n);
	/* and giving up leaves nothing of ours */
	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	stf_write_leave_function(w, &m);
	stf_writer_abort(w);
	CHECK_INT(files(dir, "", "", 0), 0);
}

/* Writes more than fits; what is left must be nothing. 0: as it should be. */
static int fill_up(const char *where, int want)
{
	struct stf_writer_options o = { .resolution = 1 };
	struct stf_opaque_data m = { .size_1_1 = 100000 };
	uint8_t *zero = calloc(1, m.size_1_1);
	char path[256];
	struct stf_writer *w;
	int i, rc = 0;

	m.data = zero;
	snprintf(path, sizeof(path), "%s/full.stf", where);
	w = stf_writer_create(path, &o, &err);
	for (i = 0; w && i < 100 && rc == 0; i++) {
		m.time++;
		rc = stf_write_opaque_data(w, &m);
	}
	free(zero);
	if (!w || rc != -1 || stf_write_opaque_data(w, &m) != -1 || stf_writer_finish(w, 0, 0, &err) != -1) {
		return 1;
	}
	if (err.code != STF_ERR_IO || !strstr(err.file, "full.stf.x.0") || !strstr(err.text, strerror(want))) {
		return 2;
	}
	return files(where, "full", "", 0) ? 3 : 0;
}

static void file_size_limit(void)
{
	struct rlimit lim = { 3 << 20, 3 << 20 };
	int status = -1;
	pid_t pid = fork();

	clean();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &lim);
		_exit(fill_up(dir, EFBIG));
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
}

static void disk_full(void)
{
	clean();
	CHECK_INT(mkdir(in_dir("mnt"), 0700), 0);
	CHECK_INT(mount("none", in_dir("mnt"), "tmpfs", 0, "size=3m"), 0);
	CHECK_INT(fill_up(in_dir("mnt"), ENOSPC), 0);
	umount(in_dir("mnt"));
	rmdir(in_dir("mnt"));
}

static int can_mount(void)
{
	int ok = mkdir(in_dir("mnt"), 0700) == 0 && mount("none", in_dir("mnt"), "tmpfs", 0, "size=1m") == 0;

	umount(in_dir("mnt"));
	rmdir(in_dir("mnt"));
	return ok;
}

/* ---- what the writer and reader refuse ---- */

static void wrong_calls(void)
{
	struct stf_writer_options o = { .resolution = 0 };
	struct stf_writer *w;
	struct stf_stf_string s = { .id = 4 };
	struct stf_anchor a = { 0 };
	struct stf_willy_id t = { 0 };

	clean();
	CHECK(!stf_writer_create(in_dir("a.stf"), &o, &err) && err.code == STF_ERR_ARG, "resolution 0");
	o.resolution = 1;
	o.comment = "two\nlines";
	CHECK(!stf_writer_create(in_dir("a.stf"), &o, &err) && err.code == STF_ERR_ARG, "comment");
	o.comment = NULL;
	CHECK(!stf_writer_create(in_dir("no/a.stf"), &o, &err) && err.code == STF_ERR_IO, "%s", err.text);
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK_INT(stf_write_stf_string(w, &s), 0);
	CHECK_INT(stf_write_stf_string(w, &s), -1);
	CHECK_INT(stf_writer_error(w)->code, STF_ERR_ARG);
	CHECK_INT(stf_write_anchor(w, &a), -1);
	CHECK_INT(stf_writer_error(w)->code, STF_ERR_STATE);
	CHECK_INT(stf_write_willy_id(w, &t), -1);
	CHECK_INT(stf_writer_string(w, "x"), 5);
	CHECK_INT(stf_writer_string(w, "x"), 5);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), 0);
	CHECK(!stf_reader_open(in_dir("b.stf"), 0, &err) && err.code == STF_ERR_IO, "%s", err.text);
	CHECK(!stf_reader_open(dir, 0, &err) && err.code == STF_ERR_IO, "%s", err.text);
}

static void wrong_references(void)
{
	struct stf_writer_options o = { .resolution = 1 };
	struct stf_writer *w;
	struct stf_function_definition f = { .id = 1, .name = 77 };
	struct stf_enter_function e = { .function = 8 };
	struct stf_reader *r;
	struct stf_cursor *c;
	const struct stf_record *rec;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK(stf_write_function_definition(w, &f) == -1 && stf_writer_error(w)->code == STF_ERR_ARG &&
			strstr(stf_writer_error(w)->text, "name refers to what was not declared (77)"),
		"%s", stf_writer_error(w)->text);
	CHECK(stf_write_class_definition(w, &(struct stf_class_definition){ .id = 1, .parent = UINT32_MAX }) == -1,
		"a parent");
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), 0);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	CHECK(r && stf_reader_count(r, STF_ID_function_definition) == 0, "%s", err.text);
	stf_reader_close(r);
	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	stf_write_enter_function(w, &e);
	CHECK_INT(stf_writer_finish(w, 0, 0, &err), 0);
	r = stf_reader_open(in_dir("a.stf"), STF_READ_CHECK_REFS, &err);
	c = stf_cursor_open(r, NULL, &err);
	CHECK_INT(stf_cursor_next(c, &rec, &err), -1);
	CHECK_INT(err.code, STF_ERR_REFERENCE);
	stf_cursor_close(c);
	stf_reader_close(r);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(write_read_write);
#ifdef HAVE_XXHASH
	RUN(equals_golden);
#else
	SKIP("equals_golden", "without xxhash the index has no checksums");
#endif
	RUN(tables_are_read);
	RUN(times_survive);
	RUN(merge_is_by_time);
	RUN(events_in_batches_are_events_one_by_one);
	RUN(long_file);
	RUN(anchors_tell_the_state);
	RUN(histories_of_stacks_and_messages);
	RUN(existing_files_are_kept);
	RUN(file_size_limit);
	clean();
	if (can_mount()) {
		RUN(disk_full);
	} else {
		SKIP("disk_full", "may not mount a small tmpfs here");
	}
	RUN(wrong_calls);
	RUN(wrong_references);
	clean();
	rmdir(dir);
	return check_end();
}
