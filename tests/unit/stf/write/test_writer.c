/* SPDX-License-Identifier: BSD-3-Clause */
/* What a writer is told; calls that are wrong. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

#include <sys/stat.h>

enum { IDENTITY_SIZE = 34 }; /* trace_identity, the first record of each component */

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(times_survive);
	RUN(long_file);
	clean();
	RUN(wrong_calls);
	clean();
	rmdir(dir);
	return check_end();
}
