/* SPDX-License-Identifier: BSD-3-Clause */
/* References to what is not in a trace are found when it is opened. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

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
	RUN(wrong_references);
	clean();
	rmdir(dir);
	return check_end();
}
