/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of several threads come by time. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(merge_is_by_time);
	clean();
	rmdir(dir);
	return check_end();
}
