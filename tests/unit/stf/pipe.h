/* SPDX-License-Identifier: BSD-3-Clause */
/* A small trace, written and read back whole. */
#ifndef TESTS_UNIT_STF_PIPE_H
#define TESTS_UNIT_STF_PIPE_H

#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

enum { N = 20000 };

static struct stf_err err;

/* Samples of three threads and a function now and then; the 1000th function is 1077 earlier if `late`. */
static inline int write_trace(const char *path, struct stf_writer_options o, int late)
{
	struct stf_writer *w;
	uint64_t v[2] = { 0, 0 };
	static const uint32_t id[2] = { 1, 2 };
	int i;

	o.resolution = 1e-9;
	o.identity[0] = 1;
	w = stf_writer_create(path, &o, &err);
	if (!w) {
		return -1;
	}
	stf_writer_info(w, "program", "test");
	for (i = 1; i <= N; i++) {
		struct stf_counter_value c = {
			.time = 100 * (uint64_t)i, .willy = (uint32_t)i % 3, .size_1_2 = 2, .values = v, .counters = id
		};
		struct stf_enter_function f = { .time = c.time };

		v[0] += 1000 + (uint64_t)i % 7;
		v[1] += (uint64_t)i % 5;
		stf_write_counter_value(w, &c);
		if (i % 10 == 0) {
			f.time -= late && i == 10000 ? 1077 : 0;
			stf_write_enter_function(w, &f);
		}
	}
	return stf_writer_finish(w, 1, 0, &err);
}

/* Records and a sum over all of them; -1 on a fault. */
static inline int64_t read_trace(const char *path, const struct stf_cursor_options *o, uint64_t *sum)
{
	struct stf_reader *r = stf_reader_open(path, STF_READ_VERIFY, &err);
	struct stf_cursor *c = r ? stf_cursor_open_with(r, o, &err) : NULL;
	const struct stf_record *rec;
	struct stf_counter_value v;
	int64_t n = 0;
	int rc = -1;

	*sum = 0;
	while (c && (rc = stf_cursor_next(c, &rec, &err)) > 0) {
		n++;
		*sum = *sum * 31 + rec->time + rec->layout->id;
		if (stf_get_counter_value(rec, &v) == 0) {
			*sum += v.values[0] * 7 + v.values[1];
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return rc < 0 ? -1 : n;
}

static inline size_t count_files(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		n += e->d_name[0] != '.';
	}
	closedir(d);
	return n;
}

#endif
