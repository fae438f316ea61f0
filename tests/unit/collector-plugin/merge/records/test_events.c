/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of raw/events.h through the merge: what is written into a raw file comes back from the trace, in the order of time,
 * with its names, and what is wrong is counted. */
#include "config.h"
#include "base/ticks.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"
#include "tests/unit/collector-plugin/merge/records/events.h"

#include <stdlib.h>

static void end(struct vt_raw *r, int64_t last)
{
	vt_raw_clock(r, ltick(0), 1000000000, 0, 0);
	vt_raw_close(r, ltick(last));
}

static void enter(struct vt_raw_stream *s, int64_t t, int thread, uint32_t function)
{
	vt_raw_event(s, ltick(t), (uint16_t)thread, VT_RAW_ENTER, 0, (const uint32_t[]){ function, 0 }, 8);
}

static void leave(struct vt_raw_stream *s, int64_t t, int thread, uint8_t how)
{
	vt_raw_event(s, ltick(t), (uint16_t)thread, VT_RAW_LEAVE, how, (const uint32_t[]){ 0, 0 }, 8);
}

static void states_and_scopes(void)
{
	struct vt_raw *r = begin("a");
	struct vt_raw_stream *s = vt_raw_stream(r), *other = vt_raw_stream(r);
	struct vt_raw_scope scope = { 0x10001, 7, 0x10001 };
	struct vt_merge_result res;
	char *text;

	vt_raw_thread(r, 1, 5, "other");
	enter(s, 100, 0, 0x10001);
	vt_raw_enter(s, ltick(110), 0, (struct vt_raw_state_change){ 0x10002, 0x10001 });
	vt_raw_event(s, ltick(120), 0, VT_RAW_SCOPE_BEGIN, 0, &scope, sizeof(scope));
	enter(other, 115, 1, 0x10002);
	leave(other, 125, 1, VT_RAW_LEFT);
	vt_raw_leave(s, ltick(130), 0, 0x10001);
	scope.scl = 0;
	vt_raw_event(s, ltick(140), 0, VT_RAW_SCOPE_END, 0, &scope, sizeof(scope));
	leave(s, 150, 0, VT_RAW_LEFT);
	end(r, 1000);
	text = events("a", &res);
	CHECK_STR(text,
		"100 0 enter_function f\n110 0 enter_function g at\n115 1 enter_function g\n"
		"120 0 enter_scope at 7\n125 1 leave_function\n130 0 leave_function at\n140 0 leave_scope 7\n"
		"150 0 leave_function\n");
	CHECK_INT(res.changes, 8);
	free(text);
}

/* What the sampler process found before its first call is one thread with what has the same thread id and a number, unless several threads
 * had the place. */
static void found_before_the_first_call(void)
{
	struct vt_raw *r = begin("p");
	struct vt_merge_result res;

	vt_raw_thread(r, VT_RAW_PLACE, 50, "found");
	vt_raw_thread(r, 1, 50, "");
	vt_raw_thread(r, 2, 61, "");
	vt_raw_thread(r, VT_RAW_PLACE + 1, 60, "");
	vt_raw_thread(r, VT_RAW_PLACE + 1, 61, "");
	vt_raw_thread(r, VT_RAW_PLACE + 2, 70, "never called");
	end(r, 1000);
	free(events("p", &res));
	CHECK_INT(res.threads, 5);
}

/* Left without being entered; open at the thread's end, at the end of the run; one stream used by two threads. */
static void wrong_nesting(void)
{
	struct vt_raw *r = begin("b");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_merge_result res;
	char *text;

	vt_raw_thread(r, 1, 5, "");
	vt_raw_thread(r, 2, 6, "");
	leave(s, 90, 1, VT_RAW_LEFT);
	enter(s, 100, 1, 0x10001);
	enter(s, 110, 1, 0x10002);
	leave(s, 120, 1, VT_RAW_CLOSED_BY_END);
	enter(s, 130, 2, 0x10002);
	enter(s, 140, 2, 0x10001);
	leave(s, 150, 2, VT_RAW_LEFT);
	end(r, 1000);
	text = events("b", &res);
	CHECK_STR(text,
		"100 1 enter_function f\n110 1 enter_function g\n120 1 leave_function\n130 1 leave_function\n"
		"130 2 enter_function g\n140 2 enter_function f\n150 2 leave_function\n1000 2 leave_function\n");
	CHECK_INT(res.changes, 8);
	free(text);
}

/* Every event of many: more than a stack's first room, and over several blocks. */
static void deep(void)
{
	struct vt_raw *r = begin("c");
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vt_merge_result res;
	char *text;
	int i;

	for (i = 0; i < 3000; i++) {
		enter(s, 100 + i, 0, 0x10001);
	}
	for (i = 0; i < 3000; i++) {
		leave(s, 4000 + i, 0, VT_RAW_LEFT);
	}
	end(r, 10000);
	text = events("c", &res);
	CHECK_INT(res.changes, 6000);
	CHECK_INT(res.lost, 0);
	CHECK(strstr(text, "3099 0 enter_function f\n4000 0 leave_function\n"), "no turn");
	free(text);
}

/* A report by a thread inside a state, and one by the process about itself: names, lines and the state itself. */
static void reports(void)
{
	struct vt_raw *r = begin("r");
	struct vt_raw_stream *s = vt_raw_stream(r), *own = vt_raw_stream(r);
	struct vt_raw_report body = { vt_raw_text(r, "LOCAL:X"), vt_raw_text(r, "error"), vt_raw_text(r, "two\nlines"),
		{ { 0 } } };
	struct vt_merge_result res;
	struct stf_reader *reader;
	const struct stf_record *rec;
	struct stf_cursor *c;
	struct stf_report d;
	struct stf_err se;
	char trace[200];
	int n = 0;

	vt_raw_thread(r, 1, 5, "");
	enter(s, 100, 1, 0x10002);
	body.call[0] = (struct vt_raw_report_call){ 0, vt_raw_text(r, "g(1)"), 0, 0x10001, -1 };
	body.call[1] = (struct vt_raw_report_call){ vt_raw_text(r, "made by"), 0, 0x10001, 0, 7000 };
	vt_raw_event(s, ltick(120), 1, VT_RAW_REPORT, 2, &body, sizeof(body));
	vt_raw_plain_report(r, own, ltick(130), "LOCAL:Y", "fatal error", "");
	leave(s, 150, 1, VT_RAW_LEFT);
	end(r, 1000);
	free(events("r", &res));
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	reader = stf_reader_open(trace, STF_READ_CHECK_REFS, &se);
	c = stf_cursor_open(reader, NULL, &se);
	while (stf_cursor_next(c, &rec, &se) > 0) {
		if (stf_get_report(rec, &d) < 0) {
			continue;
		}
		CHECK_INT(d.time, n ? 130 : 120);
		CHECK_INT(d.willy, STF_WILLY(0, n ? 0 : 1));
		CHECK_STR(stf_reader_string(reader, d.type), n ? "LOCAL:Y" : "LOCAL:X");
		CHECK_STR(stf_reader_string(reader, d.level), n ? "fatal error" : "error");
		CHECK_INT(d.size_1_6, n ? 0 : 2);
		if (n++) {
			CHECK(d.description == 0, "%u", d.description);
			continue;
		}
		CHECK_STR(stf_reader_string(reader, d.description), "two\nlines");
		CHECK_STR(stf_reader_name(reader, STF_ID_function_definition, d.functions[0]), "g");
		CHECK_STR(stf_reader_string(reader, d.calls[0]), "g(1)");
		CHECK(d.headers[0] == 0 && d.scls[0] && !d.scls[1] && !d.calls[1], "%u", d.headers[0]);
		CHECK_STR(stf_reader_string(reader, d.headers[1]), "made by");
		CHECK_STR(stf_reader_name(reader, STF_ID_function_definition, d.functions[1]), "f");
		/* there is no rank 7000 */
		CHECK(d.willys[0] == d.willy && d.willys[1] == d.willy && d.times[1] == 120, "%u", d.willys[1]);
	}
	CHECK_INT(n, 2);
	stf_cursor_close(c);
	stf_reader_close(reader);
}

/* What a thread records, event by event: the program and the expected trace make the same. */
struct thread {
	uint64_t random;
	int64_t t;
	uint32_t n, kind, function, depth;
	uint64_t v[2];
};

int main(int argc, char **argv)
{
	char command[100];

	check_args(argc, argv);
	if (!mkdtemp(dir)) {
		return 99;
	}
	RUN(states_and_scopes);
	RUN(found_before_the_first_call);
	RUN(wrong_nesting);
	RUN(deep);
	RUN(reports);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
