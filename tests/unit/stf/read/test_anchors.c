/* SPDX-License-Identifier: BSD-3-Clause */
/* Anchors must stay small, in short and in compressed traces and even if many records are open. A state found through anchors must equal the state found
 * by reading from the start. */
#include "config.h"

#include <sys/stat.h>

#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

enum { THREADS = 4096, COUNTERS = 20000, CALLS = 60000, SAMPLES = 120000 };

/* Are checksums in this build? */
#ifdef HAVE_XXHASH
static const int has_hashes = 1;
#else
static const int has_hashes;
#endif

static struct stf_err err;

static double size_of(const char *name)
{
	struct stat st;

	return stat(in_dir(name), &st) == 0 ? (double)st.st_size : -1;
}

/* Every thread is deep in functions, and goes on calling one. */
static void write_functions(struct stf_writer *w)
{
	uint64_t t = 0;
	uint32_t i, k, who;

	for (i = 0; i < THREADS; i++) {
		for (k = 0; k < 4; k++) {
			stf_write_enter_function(w, &(struct stf_enter_function){ ++t, STF_WILLY(0, i), k });
		}
	}
	for (i = 0; i < CALLS; i++) {
		who = STF_WILLY(0, (i * 7919) % THREADS);
		stf_write_enter_function(w, &(struct stf_enter_function){ ++t, who, 9 });
		if (i % 3) {
			stf_write_leave_function(w, &(struct stf_leave_function){ ++t, who });
		}
	}
}

/* Each counter now and then, and scopes that stay open. */
static void write_counters(struct stf_writer *w)
{
	uint64_t value, t = 0;
	uint32_t i, id;

	for (i = 0; i < SAMPLES; i++) {
		id = 1 + (i * 7919) % COUNTERS;
		value = i;
		stf_write_counter_value(w, &(struct stf_counter_value){ ++t, id % 3, 1, &value, &id });
		if (i % 20 == 0) {
			stf_write_enter_scope(
				w, &(struct stf_enter_scope){ .time = ++t, .willy = id % 3, .scope = 1, .seqnr = i });
		}
	}
}

static void write_trace(const char *name, void (*content)(struct stf_writer *w))
{
	struct stf_writer_options o = stf_writer_options();
	struct stf_writer *w;

	clean();
	o.resolution = 1e-9;
	w = stf_writer_create(in_dir(name), &o, &err);
	CHECK(w != NULL, "%s", err.text);
	content(w);
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s", err.text);
}

/* A number that depends on all records of the state, and on their order. */
static uint64_t state_at(const char *name, uint64_t from, size_t *n)
{
	struct stf_cursor_options o = stf_cursor_options();
	struct stf_reader *r = stf_reader_open(in_dir(name), STF_READ_VERIFY, &err);
	const struct stf_record *rec;
	struct stf_cursor *c;
	uint64_t h = 0;
	unsigned i;
	uint32_t k;

	o.window = o.state = 1;
	o.from = o.to = from;
	c = r ? stf_cursor_open_with(r, &o, &err) : NULL;
	CHECK(c != NULL, "%s", err.text);
	for (*n = 0; c && stf_cursor_next(c, &rec, &err) > 0; ++*n) {
		h = h * 31 + rec->layout->id;
		for (i = 0; i < rec->layout->n_fields; i++) {
			if (!rec->layout->fields[i].is_array) {
				h = h * 31 + rec->values[i].u;
			}
			for (k = 0; rec->layout->fields[i].is_array && k < rec->values[i].count; k++) {
				h = h * 31 + ((const unsigned char *)rec->values[i].array)[k];
			}
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return h;
}

static void compare(const char *name, const char *const *anchors, uint64_t last, size_t least)
{
	uint64_t with[8];
	size_t n, m[8], i;

	for (i = 0; i < 8; i++) {
		with[i] = state_at(name, 1 + last * i / 8, &m[i]);
	}
	CHECK(m[7] >= least, "%zu records", m[7]);
	for (i = 0; anchors[i]; i++) {
		CHECK_INT(unlink(in_dir(anchors[i])), 0);
	}
	for (i = 0; i < 8; i++) {
		CHECK(state_at(name, 1 + last * i / 8, &n) == with[i] && n == m[i], "state %zu: %zu and %zu records", i,
			n, m[i]);
	}
}

/* Some threads call and return, each for a while; what is open at some moments is kept, to be compared with the trace's states. */
enum { RUNS_OF_CALLS = 3000, DEPTH = 40, MOMENTS = 30, FEW = 3 };

struct stacks {
	uint64_t time;
	uint32_t n[FEW], function[FEW][DEPTH];
};

static struct stacks now_open, moment[MOMENTS];

static void write_calls(struct stf_writer *w)
{
	uint64_t t = 0;
	int i, k;

	for (i = 0; i < RUNS_OF_CALLS; i++) {
		uint32_t who = (uint32_t)(check_random() % FEW), *n = &now_open.n[who];

		for (k = (int)(check_random() % 50); k >= 0; k--) {
			t += 10;
			if (*n && (*n == DEPTH || check_random() % 2)) {
				stf_write_leave_function(w, &(struct stf_leave_function){ t, STF_WILLY(0, who) });
				--*n;
			} else {
				uint32_t f = (uint32_t)(check_random() % 1000);

				stf_write_enter_function(w, &(struct stf_enter_function){ t, STF_WILLY(0, who), f });
				now_open.function[who][(*n)++] = f;
			}
		}
		if (i % (RUNS_OF_CALLS / MOMENTS) == 0) {
			moment[i / (RUNS_OF_CALLS / MOMENTS)] = now_open;
			moment[i / (RUNS_OF_CALLS / MOMENTS)].time = t + 5;
		}
	}
}

static void stacks_are_what_was_called(void)
{
	struct stf_cursor_options o = stf_cursor_options();
	struct stf_function_history e;
	const struct stf_record *rec;
	struct stf_reader *r;
	struct stf_cursor *c;
	int i, bad = 0;

	write_trace("c.stf", write_calls);
	r = stf_reader_open(in_dir("c.stf"), STF_READ_VERIFY, &err);
	CHECK(r != NULL, "%s", err.text);
	o.window = o.state = 1;
	for (i = 0; r && i < MOMENTS; i++) {
		uint32_t n[FEW] = { 0 }, who;

		o.from = o.to = moment[i].time;
		c = stf_cursor_open_with(r, &o, &err);
		while (c && stf_cursor_next(c, &rec, &err) > 0) {
			if (stf_get_function_history(rec, &e) == 0) {
				who = stf_willy_thread(e.willy);
				bad += who >= FEW || n[who] != 0;
				n[who < FEW ? who : 0] = e.size_1_1;
				bad += who >= FEW || e.size_1_1 != moment[i].n[who] ||
					memcmp(e.function_stack, moment[i].function[who],
						e.size_1_1 * sizeof(uint32_t)) != 0;
			}
		}
		bad += !c || memcmp(n, moment[i].n, sizeof(n)) != 0;
		stf_cursor_close(c);
	}
	CHECK_INT(bad, 0);
	stf_reader_close(r);
}

static void stacks_of_many_threads(void)
{
	static const char *const anchors[] = { "a.stf.f.0.anc", NULL };

	write_trace("a.stf", write_functions);
	CHECK(size_of("a.stf.f.0.anc") > 0 && size_of("a.stf.f.0.anc") <= 0.1 * size_of("a.stf.f.0"), "%g of %g bytes",
		size_of("a.stf.f.0.anc"), size_of("a.stf.f.0"));
	compare("a.stf", anchors, 4 * THREADS + CALLS, THREADS);
}

static void many_counters(void)
{
	static const char *const anchors[] = { "b.stf.c.0.anc", "b.stf.s.0.anc", NULL };

	write_trace("b.stf", write_counters);
	CHECK(size_of("b.stf.c.0.anc") > 0 && size_of("b.stf.c.0.anc") <= 0.1 * size_of("b.stf.c.0"), "%g of %g bytes",
		size_of("b.stf.c.0.anc"), size_of("b.stf.c.0"));
	CHECK(size_of("b.stf.s.0.anc") > 0 && size_of("b.stf.s.0.anc") <= 0.1 * size_of("b.stf.s.0"), "%g of %g bytes",
		size_of("b.stf.s.0.anc"), size_of("b.stf.s.0"));
	compare("b.stf", anchors, SAMPLES, COUNTERS / 255);
}

/* ---- any size ---- */

enum { KINDS = 6, OPEN = 400, SHARED = 1000, LARGEST = 1 << 20 };

/* One record of a kind of trace: regular and random values, calls of one thread below a deep stack, counters of seven threads, messages
 * under way. Returns its size. */
static int write_of_kind(struct stf_writer *w, int kind, uint64_t i)
{
	uint64_t t = 1000 * (i + 1), value = kind == 1 ? check_random() : i;
	uint32_t id = kind == 4 ? 1 + (uint32_t)(i % SHARED) : 1;

	switch (kind) {
	case 2:
	case 3:
		if ((kind == 2 || i >= OPEN) && i % 2) {
			stf_write_leave_function(w, &(struct stf_leave_function){ .time = t });
			return 9;
		}
		stf_write_enter_function(w, &(struct stf_enter_function){ .time = t, .function = 5 });
		return 13;
	case 5:
		stf_write_one_to_one_communication(w,
			&(struct stf_one_to_one_communication){
				.time = t, .receive_time = 50000 + (int64_t)(check_random() % 7), .receiver = 1 });
		return 41;
	default:
		stf_write_counter_value(
			w, &(struct stf_counter_value){ t, kind == 4 ? (uint32_t)(i % 7) : 0, 1, &value, &id });
		return 22;
	}
}

/* Every file but the base file has a checksum, which is right. */
static void all_are_checked(const char *what)
{
	struct stf_reader *r = stf_reader_open(in_dir("d.stf"), STF_READ_VERIFY, &err);
	struct stf_check c;
	size_t i;
	int rc = 0, files = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	for (i = 0; r && (rc = stf_reader_check(r, i, &c, &err)) > 0; i++) {
		CHECK(c.result == STF_CHECK_GOOD || !has_hashes, "%s: %s", what, c.suffix);
	}
	while (d && (e = readdir(d))) {
		files += strncmp(e->d_name, "d.stf.", 6) == 0;
	}
	CHECK(r && rc == 0 && (!has_hashes || i == (size_t)files), "%s: %zu of %d files, %s", what, i, files, err.text);
	if (d) {
		closedir(d);
	}
	stf_reader_close(r);
}

static void a_tenth_at_most(int kind, int level, uint64_t size)
{
	static const char *const suffix[KINDS] = { "c.0", "c.0", "f.0", "f.0", "c.0", "msg" };
	struct stf_writer_options o = stf_writer_options();
	const char *zst = level ? ".zst" : "";
	char name[40], anc[40], what[80];
	struct stf_writer *w;
	uint64_t i, n;
	double a, b;
	size_t m;

	clean();
	o.resolution = 1e-9;
	o.compress = level;
	w = stf_writer_create(in_dir("d.stf"), &o, &err);
	for (i = n = 0; n < size; i++) {
		n += (uint64_t)write_of_kind(w, kind, i);
	}
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s", err.text);
	snprintf(name, sizeof(name), "d.stf.%s%s", suffix[kind], zst);
	snprintf(anc, sizeof(anc), "d.stf.%s.anc%s", suffix[kind], zst);
	snprintf(what, sizeof(what), "kind %d, %llu bytes, level %d", kind, (unsigned long long)n, level);
	a = size_of(anc);
	b = size_of(name);
	CHECK(b > 0 && a <= 0.1 * b, "%s: %g of %g bytes", what, a, b);
	/* only short ones and those that are compressed to nearly nothing have none */
	CHECK(a > 0 || n < 66000 || (level && (b < 1100 || b < (double)n / 300)), "%s: %g bytes without anchors", what,
		b);
	all_are_checked(what);
	if (kind == 3 && n > 20000) {
		CHECK(state_at("d.stf", 1000 * i - 1500, &m) && m == 3, "%s: a state of %zu records", what, m);
	}
}

static void any_size_has_a_tenth_at_most(void)
{
	uint64_t size;
	int kind, level;

	for (level = 0; level <= (zstd ? 3 : 0); level += 3) {
		for (kind = 0; kind < KINDS; kind++) {
			for (size = 1; size <= LARGEST; size = size * 2 + 21) {
				a_tenth_at_most(kind, level, size);
			}
			a_tenth_at_most(kind, level, 65536);
			a_tenth_at_most(kind, level, 65536 + 100);
			a_tenth_at_most(kind, level, LARGEST);
		}
	}
	clean();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(stacks_are_what_was_called);
	RUN(stacks_of_many_threads);
	RUN(many_counters);
	RUN(any_size_has_a_tenth_at_most);
	clean();
	rmdir(dir);
	return check_end();
}
