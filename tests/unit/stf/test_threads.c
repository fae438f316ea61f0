/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers and writers share nothing: threads that write traces of their own while others read one trace, each with
 * a reader of its own. tests/ci/builds/threads.sh builds it with ThreadSanitizer, which sees what a sum cannot. */
#include <pthread.h>

#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

enum { WRITERS = 3, READERS = 3, SAMPLES = 20000, ROUNDS = 3 };

struct job {
	pthread_t thread;
	char path[200];
	int compress, batches, rc;
	uint64_t sum;
	struct stf_err err;
};

static uint64_t want; /* of the values of one trace */

static int write_trace(const char *path, int compress, struct stf_err *err)
{
	static const uint32_t threads[4] = { 1, 1, 1, 1 }, id[2] = { 1, 2 };
	struct stf_writer_options o = { .resolution = 1e-9, .procs_per_file = 2, .force = 1, .compress = compress };
	struct stf_counter_definition d = { .type = STF_COUNTER_U8 };
	struct stf_writer *w = stf_writer_create(path, &o, err);
	uint64_t value[2], i;

	if (!w) {
		return -1;
	}
	stf_writer_processes(w, threads, 4);
	for (d.id = 1; d.id <= 2; d.id++) {
		d.name = stf_writer_string(w, d.id == 1 ? "one" : "two");
		stf_write_counter_definition(w, &d);
	}
	for (i = 0; i < SAMPLES; i++) {
		struct stf_counter_value v = {
			.time = 10 * i, .willy = (uint32_t)(i % 4), .values = value, .counters = id, .size_1_2 = 2
		};
		struct stf_enter_function f = { .time = 10 * i, .willy = (uint32_t)(i % 4) };

		value[0] = i;
		value[1] = i * i;
		if (stf_write_counter_value(w, &v) < 0 || (i % 16 == 0 && stf_write_enter_function(w, &f) < 0)) {
			break;
		}
	}
	return stf_writer_finish(w, 1, 0, err);
}

static int read_trace(struct job *j)
{
	struct stf_cursor_options o = { .window = j->batches, .to = 10 * SAMPLES, .from = 1, .state = 1 };
	struct stf_reader *r = stf_reader_open(j->path, 0, &j->err);
	struct stf_cursor *c = r ? stf_cursor_open_with(r, &o, &j->err) : NULL;
	const struct stf_record *rec;
	struct stf_counter_batch b;
	struct stf_counter_value v;
	int rc = c ? 1 : -1;
	size_t i;

	while (rc > 0 && (rc = stf_cursor_next_batch(c, &rec, &b, &j->err)) > 0) {
		for (i = 0; rc == 2 && i < b.n; i++) {
			j->sum += stf_batch_value(&b, i, 0) + stf_batch_value(&b, i, 1);
		}
		if (rc == 1 && stf_get_counter_value(rec, &v) == 0) {
			j->sum += v.values[0] + v.values[1];
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return rc;
}

static void *write_some(void *arg)
{
	struct job *j = arg;
	int i;

	for (i = 0; i < ROUNDS && j->rc == 0; i++) {
		j->rc = write_trace(j->path, j->compress, &j->err);
	}
	j->rc = j->rc < 0 ? -1 : read_trace(j);
	return NULL;
}

static void *read_some(void *arg)
{
	struct job *j = arg;
	int i;

	for (i = 0; i < ROUNDS && j->rc == 0; i++) {
		j->rc = read_trace(j);
	}
	return NULL;
}

static void at_once(void)
{
	struct job w[WRITERS] = { 0 }, r[READERS] = { 0 };
	struct stf_err err;
	uint64_t i;

	for (want = 0, i = 0; i < SAMPLES; i++) {
		want += i + i * i;
	}
	CHECK(write_trace(in_dir("common.stf"), 0, &err) == 0, "%s: %s", err.file, err.text);
	for (i = 0; i < WRITERS; i++) {
		snprintf(w[i].path, sizeof(w[i].path), "%.150s/own%d.stf", dir, (int)i);
#ifdef HAVE_ZSTD
		w[i].compress = i % 2;
#endif
		CHECK_INT(pthread_create(&w[i].thread, NULL, write_some, &w[i]), 0);
	}
	for (i = 0; i < READERS; i++) {
		snprintf(r[i].path, sizeof(r[i].path), "%.150s/common.stf", dir);
		r[i].batches = i % 2;
		CHECK_INT(pthread_create(&r[i].thread, NULL, read_some, &r[i]), 0);
	}
	for (i = 0; i < WRITERS; i++) {
		pthread_join(w[i].thread, NULL);
		CHECK(w[i].rc == 0 && w[i].sum == want, "writer %d: %s: %s", (int)i, w[i].err.file, w[i].err.text);
	}
	for (i = 0; i < READERS; i++) {
		pthread_join(r[i].thread, NULL);
		CHECK(r[i].rc == 0 && r[i].sum == ROUNDS * want, "reader %d: %d %s: %s", (int)i, r[i].rc, r[i].err.file,
			r[i].err.text);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(at_once);
	clean();
	rmdir(dir);
	return check_end();
}
