/* SPDX-License-Identifier: BSD-3-Clause */
/* What was read and is written again is the trace. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(write_read_write);
	clean();
	rmdir(dir);
	return check_end();
}
