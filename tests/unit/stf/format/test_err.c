/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of the trace library: what they keep of a long path, and which of two errors stays. */
#include "config.h"
#include "stf/format/private.h"
#include "tests/lib/check.h"

#include <errno.h>

static void the_end_of_a_long_path_is_kept(void)
{
	struct stf_err e = { 0 };
	char path[sizeof(e.file) + 20];

	memset(path, 'x', sizeof(path));
	memcpy(path + sizeof(path) - 7, "/t.stf", 7);
	CHECK_INT(stf_fail(&e, STF_ERR_FORMAT, path, 12, 3, "%d is too many", 4), -1);
	CHECK(strlen(e.file) == sizeof(e.file) - 1 && !strcmp(e.file + strlen(e.file) - 6, "/t.stf"), "%s", e.file);
	CHECK(e.code == STF_ERR_FORMAT && e.offset == 12 && e.record == 3, "code %d", e.code);
	CHECK_STR(e.text, "4 is too many");
}

static void the_reason_of_the_system_is_a_code(void)
{
	static const struct {
		int errnum;
		enum stf_code want;
	} all[] = { { EEXIST, STF_ERR_EXISTS }, { ENOMEM, STF_ERR_NOMEM }, { ENOSPC, STF_ERR_IO } };
	struct stf_err e = { 0 };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK_INT(stf_fail_errno(&e, all[i].errnum, "t.stf", "open"), -1);
		CHECK_INT(e.code, all[i].want);
	}
	CHECK_STR(e.text, "open: No space left on device");
}

static void a_refused_record_does_not_hide_what_stopped_the_writer(void)
{
	struct stf_err e = { 0 };

	CHECK_INT(stf_refuse_count(&e, "message", 70000), -1);
	CHECK(e.code == STF_ERR_ARG && strstr(e.text, "message: more elements") && strstr(e.text, "(70000)"), "%s",
		e.text);
	stf_refuse_count(&e, "message", 0);
	CHECK(strstr(e.text, "an array is NULL"), "%s", e.text);
	stf_fail_errno(&e, ENOSPC, "t.stf", "write");
	CHECK_INT(stf_refuse_count(&e, "message", 70000), -1);
	CHECK(e.code == STF_ERR_IO && strstr(e.text, "No space"), "%s", e.text);
}

static void a_map_keeps_the_first_value_of_a_key(void)
{
	struct stf_map m = { 0 };
	uint64_t i;

	for (i = 1; i <= 1000; i++) {
		CHECK_INT(stf_map_add(&m, i * i, i), 1);
	}
	CHECK_INT(stf_map_add(&m, 49, 8), 0);
	CHECK(stf_map_find(&m, 49) && *stf_map_find(&m, 49) == 7, "7 times 7");
	CHECK(stf_map_find(&m, 1000000) && *stf_map_find(&m, 1000000) == 1000, "1000 times 1000");
	CHECK(!stf_map_find(&m, 50), "50 is no square");
	stf_map_free(&m);
}

static void a_text_that_is_too_long_is_not_cut(void)
{
	struct stf_buf b = { 0 };
	char many[2000];

	memset(many, 'y', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	stf_buf_printf(&b, "%d %s", 7, "ranks");
	CHECK(b.n == 7 && memcmp(b.p, "7 ranks", 7) == 0 && !b.failed, "%zu bytes", b.n);
	stf_buf_printf(&b, "%s", many);
	CHECK(b.failed && b.n == 7, "%zu bytes", b.n);
	free(b.p);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_end_of_a_long_path_is_kept);
	RUN(the_reason_of_the_system_is_a_code);
	RUN(a_refused_record_does_not_hide_what_stopped_the_writer);
	RUN(a_map_keeps_the_first_value_of_a_key);
	RUN(a_text_that_is_too_long_is_not_cut);
	return check_end();
}
