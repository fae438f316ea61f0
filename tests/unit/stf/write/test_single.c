/* SPDX-License-Identifier: BSD-3-Clause */
/* Single-file traces, checksums, and what a trace says about late records. */
#include "config.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

enum { N = 20000 };

static struct stf_err err;

/* Samples of three threads and a function now and then; the 1000th function is 1077 earlier if `late`. */
static int write_trace(const char *path, struct stf_writer_options o, int late)
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
static int64_t read_trace(const char *path, const struct stf_cursor_options *o, uint64_t *sum)
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

static size_t count_files(void)
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

static void one_file_reads_like_many(void)
{
	struct stf_cursor_options all = { 0 }, part = { .window = 1, .from = 900000, .to = 1000000, .state = 1 };
	struct stf_writer_options o = { 0 };
	uint64_t a, b, c, d, first = 0;
	int64_t n;
	int i;

	for (i = 0; i < 4; i++) {
		clean();
		o = (struct stf_writer_options){ .compress = zstd && i >= 2, .big_endian = i % 2 };
		CHECK_INT(write_trace(in_dir("a.stf"), o, 0), 0);
		n = read_trace(in_dir("a.stf"), &all, &a);
		CHECK_INT(n, N + N / 10);
		/* byte order and compression change nothing */
		first = i ? first : a;
		CHECK(a == first, "another sum, %d", i);
		n = read_trace(in_dir("a.stf"), &part, &b);
		clean();
		o.single = STF_SINGLE_FILE;
		CHECK(write_trace(in_dir("b.single.stf"), o, 0) == 0, "%s: %s", err.file, err.text);
		CHECK_INT(count_files(), 1);
		CHECK_INT(read_trace(in_dir("b.single.stf"), &all, &c), N + N / 10);
		CHECK(read_trace(in_dir("b.single.stf"), &part, &d) == n && n > 1000, "%lld", (long long)n);
		CHECK(a == c && b == d, "sums");
		CHECK(write_trace(in_dir("b.single.stf"), o, 0) == -1 && err.code == STF_ERR_EXISTS, "%s", err.text);
		CHECK_INT(count_files(), 1);
	}
}

/* Through a pipe, which cannot seek; the reader of the pipe stores what comes. */
static void written_to_a_pipe(void)
{
	struct stf_writer_options o = { .single = STF_SINGLE_FD };
	struct stf_cursor_options all = { 0 };
	char buf[5000], *x, *y;
	size_t n, m;
	ssize_t got;
	uint64_t sum;
	int p[2], fd, status = -1;
	pid_t pid;

	clean();
	CHECK_INT(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		close(p[1]);
		fd = open(in_dir("got.stf"), O_WRONLY | O_CREAT, 0600);
		while ((got = read(p[0], buf, sizeof(buf))) > 0) {
			if (write(fd, buf, (size_t)got) != got) {
				_exit(1);
			}
		}
		_exit(0);
	}
	close(p[0]);
	o.fd = p[1];
	CHECK(write_trace(in_dir("tmp"), o, 0) == 0, "%s: %s", err.file, err.text);
	CHECK(fcntl(p[1], F_GETFD) >= 0, "stays open");
	close(p[1]);
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
	CHECK_INT(count_files(), 1);
	CHECK_INT(read_trace(in_dir("got.stf"), &all, &sum), N + N / 10);
	o.single = STF_SINGLE_FILE;
	CHECK_INT(write_trace(in_dir("b.stf"), o, 0), 0);
	x = slurp(in_dir("got.stf"), &n);
	y = slurp(in_dir("b.stf"), &m);
	CHECK(n == m && memcmp(x, y, n) == 0, "differs from the file");
	free(x);
	free(y);
}

/* A child that writes the file `path` into the pipe, piece by piece. */
static int through_pipe(const char *path, pid_t *pid)
{
	char *x;
	size_t n, at;
	int p[2];

	CHECK_INT(pipe(p), 0);
	*pid = fork();
	if (*pid == 0) {
		close(p[0]);
		x = slurp(path, &n);
		for (at = 0; at < n; at += 777) {
			if (write(p[1], x + at, n - at < 777 ? n - at : 777) < 0) {
				_exit(1);
			}
		}
		_exit(0);
	}
	close(p[1]);
	return p[0];
}

static void read_from_a_pipe(void)
{
	struct stf_writer_options o = { .single = STF_SINGLE_FILE };
	struct stf_counter_batch b;
	struct stf_reader *r;
	struct stf_cursor *c;
	uint64_t n = 0, sum = 0;
	size_t i;
	int fd, status = -1;
	pid_t pid;

	clean();
	CHECK_INT(write_trace(in_dir("s.stf"), o, 0), 0);
	fd = through_pipe(in_dir("s.stf"), &pid);
	r = stf_reader_open_fd(fd, "the pipe", STF_READ_VERIFY, &err);
	CHECK(r != NULL, "%s: %s", err.file, err.text);
	close(fd);
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
	c = r ? stf_cursor_open(r, NULL, &err) : NULL;
	while (c && stf_cursor_counters(c, &b, &err) > 0) {
		for (i = 0; i < b.n; i++, n++) {
			sum += b.times[i];
		}
	}
	CHECK_INT(n, N);
	CHECK_INT(sum, 100 * (uint64_t)N * (N + 1) / 2);
	stf_cursor_close(c);
	stf_reader_close(r);
	CHECK_INT(count_files(), 1);
	/* the base file of several is not enough, and says so */
	clean();
	CHECK_INT(write_trace(in_dir("m.stf"), (struct stf_writer_options){ 0 }, 0), 0);
	fd = through_pipe(in_dir("m.stf"), &pid);
	CHECK(!stf_reader_open_fd(fd, "the pipe", 0, &err) && strstr(err.text, "single file") &&
			strcmp(err.file, "the pipe") == 0,
		"%s: %s", err.file, err.text);
	close(fd);
	waitpid(pid, &status, 0);
	CHECK(!stf_reader_open_fd(-1, "nothing", 0, &err) && err.code == STF_ERR_IO, "%s", err.text);
}

static void options_have_a_size(void)
{
	struct {
		struct stf_writer_options o;
		uint64_t newer;
	} more = { .o = { .size = sizeof(more), .resolution = 1e-9 } };
	struct stf_writer_options o = stf_writer_options();
	struct stf_cursor_options c = stf_cursor_options();
	struct stf_counter_value v = { .size_1_2 = 1 };
	struct stf_writer *w;
	struct stf_reader *r;

	clean();
	CHECK_INT(stf_version(), STF_VERSION);
	CHECK_INT(o.size, sizeof(o));
	CHECK_INT(c.size, sizeof(c));
	more.newer = 1;
	CHECK(!stf_writer_create(in_dir("v.stf"), &more.o, &err) && err.code == STF_ERR_ARG, "%s", err.text);
	more.newer = 0;
	w = stf_writer_create(in_dir("v.stf"), &more.o, &err);
	CHECK(w != NULL, "%s", err.text);
	CHECK(stf_write_counter_value(w, &v) < 0 && stf_writer_error(w)->code == STF_ERR_ARG &&
			strstr(stf_writer_error(w)->text, "NULL"),
		"%s", stf_writer_error(w)->text);
	CHECK_INT(stf_writer_finish(w, 1, 0, &err), 0);
	o.size = 8;
	o.resolution = 1;
	CHECK(!stf_writer_create(in_dir("w.stf"), &o, &err) && err.code == STF_ERR_ARG, "%s", err.text);
	CHECK(!stf_writer_create(NULL, &o, &err) && !stf_writer_create("x", NULL, &err), "no arguments");
	r = stf_reader_open(in_dir("v.stf"), 0, &err);
	c.size = 4;
	CHECK(r && !stf_cursor_open_with(r, &c, &err) && err.code == STF_ERR_ARG, "%s", err.text);
	stf_reader_close(r);
}

/* Cut at many places and with a damaged directory: an error or all that is before it, never more. */
static void damaged_single(void)
{
	/* clang-format off */
	static const char *const bad[] = {
		"STFSINGLE 1.0\n", "STFSINGLE 1.0\nFILE base 99999 5\nEND\n", "STFSINGLE 1.0\nFILE base x 5\nEND\n",
		"STFSINGLE 1.0\nFILE base 18446744073709551615 18446744073709551615\nEND\n",
		"STFSINGLE 1.0\nFILE base 10\nEND\n", "STFSINGLE 1.0\nFILE base 1 1\nFILE base 1 1\nEND\n",
		"STFSINGLE 1.0\nFILE ../x 1 1\nEND\n", "STFSINGLE 1.0\nEND\n", "STFSINGLE 1.0\nFILE base 0 40\nEND\n",
		"STFSINGLE 1.0\nFILE base -1 4\nEND\n",
	};
	/* clang-format on */
	struct stf_writer_options o = { .single = STF_SINGLE_FILE };
	struct stf_cursor_options all = { 0 };
	uint64_t sum;
	size_t n, i;
	char *p;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		clean();
		spit(in_dir("a.stf"), bad[i], strlen(bad[i]));
		CHECK(read_trace(in_dir("a.stf"), &all, &sum) == -1 && err.code != STF_OK && strstr(err.file, "a.stf"),
			"%zu: %s", i, err.text);
	}
	clean();
	CHECK_INT(write_trace(in_dir("a.stf"), o, 0), 0);
	p = slurp(in_dir("a.stf"), &n);
	for (i = 0; i < 60; i++) {
		spit(in_dir("a.stf"), p, i < 30 ? i * 37 : n - (i - 29) * n / 40);
		CHECK(read_trace(in_dir("a.stf"), &all, &sum) == -1, "cut %zu was not seen", i);
	}
	free(p);
}

#ifdef HAVE_XXHASH
enum { COMPONENTS = 4 }; /* .dcl, .c.0 and its anchors, .f.0 */

/* All components have checksums. */
static int check_all(const char *path, const char *suffix, size_t components)
{
	struct stf_reader *r = stf_reader_open(path, STF_READ_DAMAGED, &err);
	struct stf_check c;
	size_t i;
	int rc, found = -1;

	for (i = 0; r && (rc = stf_reader_check(r, i, &c, &err)) > 0; i++) {
		if (!suffix && c.result != STF_CHECK_GOOD) {
			found = (int)i;
		} else if (suffix && strcmp(suffix, c.suffix) == 0) {
			found = c.result;
		}
	}
	CHECK(r && rc == 0 && i == components, "%zu of %zu components", i, components);
	stf_reader_close(r);
	return found;
}

static void checksums_tell(void)
{
	struct stf_writer_options o = { 0 };
	char *p;
	size_t n;
	int i;

	for (i = 0; i < 4; i++) {
		clean();
		o.single = i & 1 ? STF_SINGLE_FILE : 0;
		o.compress = zstd && i & 2;
		CHECK_INT(write_trace(in_dir("a.stf"), o, 0), 0);
		/* if compressed, the frames are so small that a place and a time for each is more than a tenth of them */
		CHECK(check_all(in_dir("a.stf"), NULL, COMPONENTS - (o.compress ? 1 : 0)) == -1, "good");
	}
	clean();
	o = (struct stf_writer_options){ 0 };
	CHECK_INT(write_trace(in_dir("a.stf"), o, 0), 0);
	p = slurp(in_dir("a.stf.c.0"), &n);
	p[n / 2] ^= 1;
	spit(in_dir("a.stf.c.0"), p, n);
	CHECK_INT(check_all(in_dir("a.stf"), ".c.0", COMPONENTS), STF_CHECK_HASH);
	spit(in_dir("a.stf.c.0"), p, n - 1);
	CHECK_INT(check_all(in_dir("a.stf"), ".c.0", COMPONENTS), STF_CHECK_SIZE);
	unlink(in_dir("a.stf.c.0"));
	CHECK_INT(check_all(in_dir("a.stf"), ".c.0", COMPONENTS), STF_CHECK_MISSING);
	CHECK_INT(check_all(in_dir("a.stf"), ".f.0", COMPONENTS), STF_CHECK_GOOD);
	free(p);
}
#endif

static void late_records_are_told(void)
{
	struct stf_writer_options o = { 0 };
	struct stf_reader *r;
	const char *cls, *text;
	size_t i;
	int seen = 0, in_order = 0;

	clean();
	CHECK_INT(write_trace(in_dir("a.stf"), o, 1), 0);
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	for (i = 0; stf_reader_info(r, i, &cls, &text) == 0; i++) {
		if (strcmp(cls, "late") == 0 && strncmp(text, ".f.0 ", 5) == 0) {
			seen++;
			/* the function before it came 1000 earlier than it should have */
			CHECK_STR(text, ".f.0 1 77");
		} else if (strcmp(cls, "late") == 0) {
			in_order++;
			/* a file without such a record would be read to its end otherwise */
			CHECK(strlen(text) > 4 && strcmp(text + strlen(text) - 4, " 0 0") == 0, "%s", text);
		}
	}
	CHECK_INT(seen, 1);
	CHECK_INT(in_order, 1);
	stf_reader_close(r);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(one_file_reads_like_many);
	RUN(written_to_a_pipe);
	RUN(read_from_a_pipe);
	RUN(options_have_a_size);
	RUN(damaged_single);
#ifdef HAVE_XXHASH
	RUN(checksums_tell);
#else
	SKIP("checksums_tell", "no xxhash in this build");
#endif
	RUN(late_records_are_told);
	clean();
	rmdir(dir);
	return check_end();
}
