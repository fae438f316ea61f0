/* SPDX-License-Identifier: BSD-3-Clause */
/* The state at the begin of a window. */
#include "config.h"
#include "include/stf.h"
#include "stf/format/hash.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/kinds.h"

static struct seen all[2 * N];

static size_t n_all;

/* ---- the state at a window's start ---- */

struct state {
	uint64_t counter[PROCS][10];
	uint32_t depth[PROCS];
	size_t pending;
	uint64_t pending_sum, last;
};

/* By hand, from all records before `from`. */
static struct state true_state(uint64_t from)
{
	struct stf_reader *r = stf_reader_open(in_dir("a.stf"), 0, &err);
	struct stf_cursor *c = stf_cursor_open(r, NULL, &err);
	struct stf_one_to_one_communication m;
	const struct stf_record *rec;
	struct stf_counter_value v;
	struct state s = { { { 0 } }, { 0 }, 0, 0, 0 };
	uint32_t j;

	while (stf_cursor_next(c, &rec, &err) > 0 && rec->time < from) {
		if (stf_get_counter_value(rec, &v) == 0) {
			for (j = 0; j < v.size_1_2; j++) {
				s.counter[v.willy][v.counters[j]] = v.values[j];
			}
		} else if (stf_get_one_to_one_communication(rec, &m) == 0 && m.receive_time > 0 &&
			m.time + (uint64_t)m.receive_time >= from) {
			s.pending++;
			s.pending_sum += m.time * 7 + (uint64_t)m.receive_time;
		} else if (rec->layout->id == STF_ID_enter_function) {
			s.depth[stf_value(rec, "willy")->u]++;
		} else if (rec->layout->id == STF_ID_leave_function && s.depth[stf_value(rec, "willy")->u]) {
			s.depth[stf_value(rec, "willy")->u]--;
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return s;
}

static struct state told_state(struct stf_reader *r, uint64_t from)
{
	struct stf_cursor_options o = { .window = 1, .from = from, .to = from + 1000, .state = 1 };
	struct stf_cursor *c = stf_cursor_open_with(r, &o, &err);
	struct state s = { { { 0 } }, { 0 }, 0, 0, 0 };
	struct stf_one_to_one_communication m;
	const struct stf_record *rec;
	struct stf_function_history f;
	struct stf_counter_value v;
	uint32_t j;
	int rc;

	CHECK(stf_cursor_next(c, &rec, &err) == 1 && rec->layout->id == STF_ID_begin_of_history, "begins");
	while ((rc = stf_cursor_next(c, &rec, &err)) > 0 && rec->layout->id != STF_ID_end_of_history) {
		if (stf_get_counter_value(rec, &v) == 0) {
			CHECK(rec->time == from - 1 && v.time == from - 1 && v.willy < PROCS, "time, thread");
			for (j = 0; j < v.size_1_2; j++) {
				s.counter[v.willy % PROCS][v.counters[j] % 10] = v.values[j];
			}
		} else if (stf_get_function_history(rec, &f) == 0) {
			s.depth[f.willy % PROCS] = f.size_1_1;
		} else if (stf_get_one_to_one_communication(rec, &m) == 0) {
			CHECK(m.time >= s.last && m.time < from && rec->time == m.time, "pending in order");
			s.last = m.time;
			s.pending++;
			s.pending_sum += m.time * 7 + (uint64_t)m.receive_time;
		} else {
			CHECK(0, "%s in a state", rec->layout->name);
		}
	}
	CHECK_INT(rc, 1);
	while ((rc = stf_cursor_next(c, &rec, &err)) > 0) {
		CHECK(rec->time >= from && rec->time <= from + 1000, "in the window");
	}
	CHECK(rc == 0, "%s", err.text);
	s.last = 0;
	stf_cursor_close(c);
	return s;
}

static void state_is_told(void)
{
	struct stf_reader *r;
	struct state a, b;
	struct stf_cursor *c;
	uint64_t from;
	int i, k, pending = 0;

	for (i = 0; i < 6; i++) {
		compress = zstd && i >= 4;
		write_trace(i == 1, 0, i == 2);
		if (i == 3) {
			remove_anchors();
		}
		r = stf_reader_open(in_dir("a.stf"), 0, &err);
		c = stf_cursor_open(r, NULL, &err);
		n_all = collect(c, all);
		stf_cursor_close(c);
		for (k = 0; k < 5; k++) {
			from = all[1 + check_random() % (n_all - 1)].time + check_random() % 50;
			/* where the merge itself is out of order there is no one answer */
			if (i == 2) {
				told_state(r, from);
				continue;
			}
			a = true_state(from);
			b = told_state(r, from);
			pending += a.pending > 0;
			CHECK(memcmp(&a, &b, sizeof(a)) == 0, "at %llu: %zu pending, want %zu",
				(unsigned long long)from, b.pending, a.pending);
		}
		stf_reader_close(r);
	}
	CHECK(pending > 3, "only %d tries had messages under way", pending);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(state_is_told);
	clean();
	rmdir(dir);
	return check_end();
}
