/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace with records of every kind, plain or compressed, and the steps of a cursor through it. */
#ifndef TESTS_UNIT_STF_KINDS_H
#define TESTS_UNIT_STF_KINDS_H

#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

#include <dirent.h>

/* ---- a trace of everything that a window must know about, and its oracle ---- */

enum { PROCS = 6, N = 30000, KINDS = 8 };

static inline int write_some(struct stf_writer *w, uint64_t t, uint32_t willy)
{
	static uint64_t value[9];
	static const uint32_t id[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	uint64_t r = check_random();

	if (r % 8 < 4) {
		struct stf_counter_value v = { .time = t,
			.willy = willy,
			.values = value,
			.counters = id,
			.size_1_2 = r / 16 % 40 ? 3 : (uint32_t)(r / 1024 % 10) };
		unsigned j;

		for (j = 0; j < 9; j++) {
			value[j] += check_random() % 1000;
		}
		return stf_write_counter_value(w, &v);
	}
	if (r % 8 == 4) {
		struct stf_one_to_one_communication m = { .time = t,
			.sender = willy,
			.receiver = (uint32_t)(r / 64 % PROCS),
			.receive_time = (int64_t)(r / 1024 % 3000) };

		return stf_write_one_to_one_communication(w, &m);
	}
	if (r % 8 == 5) {
		struct stf_comment c = { .time = t, .size_1_1 = (uint32_t)(r / 64 % 9), .text = "abcdefghi" };

		return stf_write_comment(w, &c);
	}
	if (r / 64 % 2) {
		struct stf_enter_function e = { .time = t, .willy = willy };

		return stf_write_enter_function(w, &e);
	} else {
		struct stf_leave_function l = { .time = t, .willy = willy };

		return stf_write_leave_function(w, &l);
	}
}

static struct stf_err err;

static int compress; /* level of the traces that are written */

/* Steps of all sizes, now and then back if `late`. */
static inline uint64_t step(uint64_t t, int late)
{
	uint64_t r = check_random();

	if (late && r % 50 == 0 && t > 5000) {
		return t - r / 64 % 5000;
	}
	return t + (r % 1000 == 1 ? (uint64_t)3 << 32 : r % 7 == 0 ? 0 : r / 64 % 100);
}

static inline void write_trace(int big, uint32_t per_file, int late)
{
	struct stf_writer_options o = {
		.resolution = 1e-9, .procs_per_file = per_file, .big_endian = big, .compress = compress
	};
	static const uint32_t threads[PROCS] = { 1, 1, 1, 1, 1, 1 };
	struct stf_writer *w;
	uint64_t t = 0;
	int i, rc = 0;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	stf_writer_processes(w, threads, PROCS);
	for (i = 0; i < N; i++) {
		t = step(t, late);
		rc |= write_some(w, t, (uint32_t)(check_random() % PROCS));
	}
	CHECK_INT(rc, 0);
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s: %s", err.file, err.text);
}

static inline void remove_anchors(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strstr(e->d_name, ".anc")) {
			unlink(in_dir(e->d_name));
		}
	}
	if (d) {
		closedir(d);
	}
}

struct seen {
	uint64_t time;
	uint32_t willy, willy2, what, file;
	unsigned kind;
	uint64_t sum;
};

static inline struct seen see(const struct stf_record *r)
{
	struct seen s = { .time = r->time,
		.willy = UINT32_MAX,
		.willy2 = UINT32_MAX,
		.what = r->layout->id,
		.kind = r->layout->kind,
		.file = r->file };
	struct stf_counter_value v;
	struct stf_one_to_one_communication m;
	uint32_t j;

	if (stf_value(r, "willy")) {
		s.willy = (uint32_t)stf_value(r, "willy")->u;
	}
	if (stf_get_counter_value(r, &v) == 0) {
		for (s.sum = v.size_1_2, j = 0; j < v.size_1_2; j++) {
			s.sum = s.sum * 31 + v.values[j] * v.counters[j];
		}
	}
	if (stf_get_one_to_one_communication(r, &m) == 0) {
		s.willy = m.sender;
		s.willy2 = m.receiver;
		s.sum = (uint64_t)m.receive_time;
	}
	return s;
}

static inline size_t collect(struct stf_cursor *c, struct seen *to)
{
	const struct stf_record *r;
	size_t n = 0;
	int rc;

	while ((rc = stf_cursor_next(c, &r, &err)) > 0 && n < 2 * N) {
		to[n++] = see(r);
	}
	CHECK(rc == 0, "%s: %s at %llu", err.file, err.text, (unsigned long long)err.offset);
	return n;
}

#endif
