/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that anchors keep, and the history of stacks and messages. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/lib/stf_every.h"
#include "tests/unit/stf/golden.h"

#include <sys/wait.h>

enum { IDENTITY_SIZE = 34 }; /* trace_identity, the first record of each component */

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(anchors_tell_the_state);
	RUN(histories_of_stacks_and_messages);
	clean();
	rmdir(dir);
	return check_end();
}
