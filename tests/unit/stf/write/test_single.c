/* SPDX-License-Identifier: BSD-3-Clause */
/* Single-file traces, checksums, and what a trace says about late records. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/pipe.h"

#include <fcntl.h>
#include <sys/wait.h>

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
	RUN(options_have_a_size);
	RUN(late_records_are_told);
	clean();
	rmdir(dir);
	return check_end();
}
