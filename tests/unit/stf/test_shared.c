/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads that share their counters in one file: the state at any time, and what a cursor says when somebody shortens the file. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

static struct stf_err err;
static int compress; /* level of the traces that are written */

enum { THREADS = 300, SHARED = 4, SAMPLES = 60000 };

static uint64_t shared_value[SAMPLES][SHARED];
static uint32_t shared_by[SAMPLES];

static void write_shared(int big)
{
	static const uint32_t id[SHARED] = { 9, 4, 7, 1 };
	struct stf_writer_options o = { .resolution = 1e-9, .compress = compress, .big_endian = big };
	struct stf_writer *w;
	unsigned i, j;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	for (i = 0; i < SAMPLES; i++) {
		struct stf_counter_value v = { .time = 10 * ((uint64_t)i + 1),
			.counters = id,
			.values = shared_value[i],
			.size_1_2 = 1 + (uint32_t)(check_random() % SHARED) };

		/* few at first, so that anchors begin to leave them out; some threads stop for good */
		shared_by[i] = STF_WILLY(0,
			check_random() %
				(i < SAMPLES / 8                  ? 2
						: i < SAMPLES / 2 ? THREADS
								  : THREADS / 2));
		v.willy = shared_by[i];
		for (j = 0; j < SHARED; j++) {
			shared_value[i][j] = j < v.size_1_2 ? check_random() | 1 : 0;
		}
		CHECK_INT(stf_write_counter_value(w, &v), 0);
	}
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s", err.text);
}

/* The state at `from` = 10 x n + 5 is that of the first n samples; only of even threads if `even`. */
static void check_shared(struct stf_reader *r, unsigned n, int even)
{
	static uint64_t want[THREADS][SHARED], told[THREADS][SHARED];
	static const unsigned place[10] = { [9] = 0, [4] = 1, [7] = 2, [1] = 3 };
	struct stf_triplet t = { 0, STF_WILLY(0, THREADS), STF_WILLY(0, 2) };
	struct stf_cursor_options o = { .window = 1,
		.from = 10 * (uint64_t)n + 5,
		.to = 10 * (uint64_t)n + 5,
		.state = 1,
		.willies = &t,
		.n_willies = even != 0 };
	struct stf_cursor *c = stf_cursor_open_with(r, &o, &err);
	const struct stf_record *rec;
	struct stf_counter_value v;
	unsigned i, j;
	int rc;

	memset(want, 0, sizeof(want));
	memset(told, 0, sizeof(told));
	for (i = 0; i < n; i++) {
		for (j = 0; j < SHARED && !(even && stf_willy_thread(shared_by[i]) % 2); j++) {
			if (shared_value[i][j]) {
				want[stf_willy_thread(shared_by[i])][j] = shared_value[i][j];
			}
		}
	}
	while ((rc = stf_cursor_next(c, &rec, &err)) > 0) {
		CHECK(rec->layout->id != STF_ID_counter_history, "values of nobody");
		for (i = 0; stf_get_counter_value(rec, &v) == 0 && i < v.size_1_2; i++) {
			CHECK(told[stf_willy_thread(v.willy)][place[v.counters[i] % 10]] == 0, "told twice");
			told[stf_willy_thread(v.willy)][place[v.counters[i] % 10]] = v.values[i];
		}
	}
	CHECK(rc == 0, "%s", err.text);
	CHECK(memcmp(want, told, sizeof(want)) == 0, "state after %u samples", n);
	stf_cursor_close(c);
}

static void threads_share_counters(void)
{
	const struct stf_record *rec;
	struct stf_reader *r;
	struct stf_cursor *c;
	uint64_t data = 0, told = 0;
	int i, k, anchors = 0, by_thread = 0;

	for (i = 0; i < 3; i++) {
		compress = zstd && i == 1;
		write_shared(i == 2);
		r = stf_reader_open(in_dir("a.stf"), 0, &err);
		for (k = 0; k < 40; k++) {
			check_shared(r, (unsigned)(check_random() % SAMPLES), k % 4 == 0);
		}
		c = stf_cursor_open(r, ".c.0.anc", &err);
		while (stf_cursor_next(c, &rec, &err) > 0) {
			int own = rec->layout->id == STF_ID_counter_value;

			anchors += rec->layout->id == STF_ID_anchor;
			by_thread += own && stf_value(rec, "willy")->u == shared_by[0];
			told += own ? 10 + 12 * stf_value(rec, "values")->count : 0;
			data = rec->layout->id == STF_ID_anchor ? stf_value(rec, "offset")->u : data;
		}
		stf_cursor_close(c);
		stf_reader_close(r);
		CHECK(by_thread > 2 * (i + 1) && by_thread < anchors, "%d of %d anchors", by_thread, anchors);
		CHECK(told < data * (uint64_t)(i + 1) / 11, "%llu bytes for %llu", (unsigned long long)told,
			(unsigned long long)data);
	}
	compress = 0;
}

/* ---- a file that somebody shortens ---- */

static void cut_while_read(void)
{
	struct stf_counter_value v;
	struct stf_counter_batch b;
	const struct stf_record *rec;
	struct stf_reader *r;
	struct stf_cursor *c;
	size_t n, before;
	int i, rc;

	for (i = 0; i < 4; i++) {
		compress = zstd && i == 3;
		write_shared(0);
		r = stf_reader_open(in_dir("a.stf"), 0, &err);
		c = stf_cursor_open(r, ".c.0", &err);
		for (n = 0; n < 1000 && stf_cursor_next(c, &rec, &err) == 1; n++) {
		}
		before = n;
		/* at once, after what is here already, and in the middle of what is not */
		CHECK_INT(truncate(in_dir(compress ? "a.stf.c.0.zst" : "a.stf.c.0"), i == 0 ? 0 : 1000001), 0);
		while ((rc = i == 2 ? stf_cursor_counters(c, &b, &err) : stf_cursor_next(c, &rec, &err)) > 0) {
			CHECK(i == 2 || (stf_get_counter_value(rec, &v) == 0 && v.values[0] == shared_value[n][0]),
				"record %zu", n);
			n += i == 2 ? b.n : 1;
		}
		CHECK(rc == -1 && err.code == STF_ERR_TRUNCATED && *err.file, "%d: %d, %d: %s", i, rc, err.code,
			err.text);
		CHECK(n >= before && n < SAMPLES && (i == 0 || n > 10 * before), "%d: %zu records", i, n);
		stf_cursor_close(c);
		stf_reader_close(r);
	}
	compress = 0;
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(threads_share_counters);
	RUN(cut_while_read);
	clean();
	rmdir(dir);
	return check_end();
}
