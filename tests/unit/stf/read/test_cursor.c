/* SPDX-License-Identifier: BSD-3-Clause */
/* Cursors with options, batches and states, compared with the result of the plain cursor and with what was
 * written. */
#include "config.h"
#include "include/stf.h"
#include "stf/format/hash.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/kinds.h"

#include <sys/resource.h>

/* ---- many files ---- */

/* More files than a process may have open, written and read. */
static void few_files_are_open(void)
{
	struct stf_writer_options o = { .resolution = 1, .procs_per_file = 1 };
	struct rlimit few = { 100, 100 }, was;
	struct stf_leave_function l = { 0 };
	const struct stf_record *rec;
	struct stf_writer *w;
	struct stf_reader *r;
	struct stf_cursor *c;
	uint64_t last, n;
	int i, k;

	getrlimit(RLIMIT_NOFILE, &was);
	few.rlim_max = was.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	for (k = 0; k < 3; k++) {
		clean();
		o.single = k == 1 ? STF_SINGLE_FILE : 0;
		o.compress = zstd && k == 2;
		w = stf_writer_create(in_dir("a.stf"), &o, &err);
		for (i = 0; i < 60000; i++) {
			l.time = (uint64_t)i;
			l.willy = (uint32_t)(i % 3 ? 7 : i / 3 % 300);
			CHECK_INT(stf_write_leave_function(w, &l), 0);
		}
		CHECK(stf_writer_finish(w, 0, 0, &err) == 0, "%s: %s", err.file, err.text);
		r = stf_reader_open(in_dir("a.stf"), (k == 2 ? STF_READ_MAP : 0) | (k ? STF_READ_VERIFY : 0), &err);
		c = r ? stf_cursor_open(r, NULL, &err) : NULL;
		CHECK(c, "%s: %s", err.file, err.text);
		for (last = n = 0; c && stf_cursor_next(c, &rec, &err) > 0; n++) {
			CHECK(rec->time == last, "order");
			last++;
		}
		CHECK_INT(n, 60000);
		stf_cursor_close(c);
		stf_reader_close(r);
	}
	setrlimit(RLIMIT_NOFILE, &was);
}

/* Samples one after the other in a file come many at a time, whatever their number of counters. */
static void samples_in_a_row_come_in_batches(void)
{
	enum { SAMPLES = 3000 };
	struct stf_writer *w;
	struct stf_reader *r;
	struct stf_cursor *c;
	struct stf_counter_batch b;
	uint64_t value[2], n = 0, batches = 0, i;
	static const uint32_t id[2] = { 7, 9 };

	clean();
	w = stf_writer_create(in_dir("a.stf"), &(struct stf_writer_options){ .resolution = 1e-9 }, &err);
	for (i = 0; i < SAMPLES; i++) {
		struct stf_counter_value v = {
			.time = 10 * i, .values = value, .counters = id, .size_1_2 = i < SAMPLES / 2 ? 1 : 2
		};

		value[0] = i;
		value[1] = 3 * i;
		CHECK_INT(stf_write_counter_value(w, &v), 0);
	}
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s: %s", err.file, err.text);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	c = r ? stf_cursor_open(r, NULL, &err) : NULL;
	while (c && stf_cursor_counters(c, &b, &err) > 0) {
		batches++;
		for (i = 0; i < b.n; i++, n++) {
			CHECK(b.k == (n < SAMPLES / 2 ? 1 : 2) && b.times[i] == 10 * n &&
					stf_batch_value(&b, i, b.k - 1) == (b.k == 1 ? n : 3 * n) &&
					stf_batch_counter(&b, i, b.k - 1) == id[b.k - 1],
				"sample %llu", (unsigned long long)n);
		}
	}
	CHECK_INT(n, SAMPLES);
	CHECK(batches < SAMPLES / 50, "%llu batches", (unsigned long long)batches);
	stf_cursor_close(c);
	stf_reader_close(r);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(samples_in_a_row_come_in_batches);
	RUN(few_files_are_open);
	clean();
	rmdir(dir);
	return check_end();
}
