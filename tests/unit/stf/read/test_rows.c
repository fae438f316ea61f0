/* SPDX-License-Identifier: BSD-3-Clause */
/* All messages and all calls of a trace whose records are known. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

static struct stf_err err;

static void call(struct stf_writer *w, uint32_t willy, uint64_t time, uint32_t function)
{
	const struct stf_enter_function enter = { .time = time, .willy = willy, .function = function };
	const struct stf_leave_function leave = { .time = time, .willy = willy };

	CHECK_INT(function ? stf_write_enter_function(w, &enter) : stf_write_leave_function(w, &leave), 0);
}

static void message(struct stf_writer *w, uint64_t time, int64_t takes, uint32_t tag)
{
	const struct stf_one_to_one_communication_4 m = { .time = time,
		.receive_time = takes,
		.sender = STF_WILLY(0, 0),
		.receiver = STF_WILLY(1, 0),
		.size = 8 * tag,
		.tag = tag,
		.receiver_function = 2 };

	CHECK_INT(stf_write_one_to_one_communication_4(w, &m), 0);
}

/* Process 0: 1 from 10 to 90, in it 2 from 20 to 30; process 1: 2 from 40 on. */
static struct stf_reader *make_rows(void)
{
	struct stf_writer_options o = stf_writer_options();
	struct stf_writer *w;
	const uint32_t threads[] = { 1, 1 };
	struct stf_function_definition f = { 0 };

	o.resolution = 1e-9;
	w = stf_writer_create(in_dir("rows.stf"), &o, &err);
	CHECK(w != NULL, "%s", err.text);
	if (!w) {
		exit(1);
	}
	stf_writer_processes(w, threads, 2);
	for (f.id = 1; f.id < 3; f.id++) {
		f.name = stf_writer_string(w, f.id == 1 ? "outer" : "inner");
		stf_write_function_definition(w, &f);
	}
	call(w, STF_WILLY(0, 0), 10, 1);
	call(w, STF_WILLY(0, 0), 20, 2);
	message(w, 22, 30, 1);
	message(w, 24, STF_RECEIVE_UNKNOWN, 2);
	message(w, 26, STF_SEND_UNKNOWN, 3);
	message(w, 28, -5, 4); /* by a clock that is wrong */
	call(w, STF_WILLY(0, 0), 30, 0);
	call(w, STF_WILLY(1, 0), 40, 2);
	call(w, STF_WILLY(0, 0), 90, 0);
	CHECK_INT(stf_writer_finish(w, 0, 100, &err), 0);
	return stf_reader_open(in_dir("rows.stf"), 0, &err);
}

static void messages(void)
{
	struct stf_reader *r = make_rows();
	struct stf_message *m;
	uint64_t halves;
	size_t n;

	CHECK_INT(stf_read_messages(r, NULL, &m, &n, &halves, &err), 0);
	CHECK_INT(n, 2);
	CHECK_INT(halves, 2);
	if (n == 2) {
		CHECK(m[0].sent == 22 && m[0].received == 52 && m[0].bytes == 8 && m[0].tag == 1, "another message");
		CHECK(m[1].sent == 28 && m[1].received == 23 && m[1].receiver_function == 2, "another message");
	}
	stf_rows_free(m);
	CHECK_INT(stf_read_messages(r, NULL, &m, &n, NULL, &err), 0);
	stf_rows_free(m);
	stf_reader_close(r);
	clean();
}

static void calls(void)
{
	struct stf_cursor_options o = stf_cursor_options();
	struct stf_reader *r = make_rows();
	struct stf_call *c;
	size_t n;

	CHECK_INT(stf_read_calls(r, NULL, &c, &n, &err), 0);
	CHECK_INT(n, 3);
	if (n == 3) {
		CHECK(c[0].enter == 10 && c[0].leave == 90 && c[0].depth == 0 && c[0].cut == 0, "another call");
		CHECK(c[1].enter == 20 && c[1].leave == 30 && c[1].depth == 1 && c[1].function == 2, "another call");
		CHECK(c[2].enter == 40 && c[2].leave == 100 && c[2].cut == STF_CALL_OPEN, "another call");
	}
	stf_rows_free(c);
	o.window = 1;
	o.from = 25;
	o.to = 60;
	CHECK_INT(stf_read_calls(r, &o, &c, &n, &err), 0);
	CHECK_INT(n, 3);
	if (n == 3) {
		CHECK(c[0].enter == 25 && c[0].leave == 60 && c[0].cut == (STF_CALL_OPEN | STF_CALL_BEGAN_BEFORE) &&
				c[0].function == 1,
			"another call");
		CHECK(c[1].enter == 25 && c[1].leave == 30 && c[1].cut == STF_CALL_BEGAN_BEFORE, "another call");
		CHECK(c[2].enter == 40 && c[2].leave == 60 && c[2].cut == STF_CALL_OPEN, "another call");
	}
	stf_rows_free(c);
	stf_reader_close(r);
	clean();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(messages);
	RUN(calls);
	rmdir(dir);
	return check_end();
}
