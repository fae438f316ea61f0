/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace in one file: read from a pipe, and damaged. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"
#include "tests/unit/stf/pipe.h"

#include <sys/wait.h>

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(read_from_a_pipe);
	RUN(damaged_single);
	clean();
	rmdir(dir);
	return check_end();
}
