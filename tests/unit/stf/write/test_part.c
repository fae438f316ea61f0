/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a trace that several processes write. */
#include "config.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

#include <sys/wait.h>

enum { PROCS = 12, N = 3000 };

static struct stf_err err;

/* ---- several writers of one trace ---- */

enum { SETS = 4, PER = 3 };

/* Records of the processes of one set, or of all with -1; they come from seeds of their own. */
static int write_data(struct stf_writer *w, int only)
{
	static const uint32_t id[2] = { 1, 2 };
	struct stf_enter_function f = { 0 };
	uint64_t value[2] = { 0, 7 };
	int set, i, rc = 0;

	for (set = 0; set < SETS; set++) {
		check_srandom((uint64_t)set + 77);
		for (i = 0; i < 4000; i++) {
			struct stf_counter_value v = {
				.time = 100 * (uint64_t)i, .values = value, .counters = id, .size_1_2 = 2
			};

			v.willy = (uint32_t)(set * PER) + (uint32_t)(check_random() % PER);
			value[0] += check_random() % 1000;
			f.time = v.time - (i == 500 && set == 2 ? 77 : 0);
			f.willy = v.willy;
			if (only < 0 || only == set) {
				rc |= stf_write_counter_value(w, &v);
				rc |= i % 10 == 0 ? stf_write_enter_function(w, &f) : 0;
			}
		}
	}
	return rc;
}

static struct stf_writer *begin(struct stf_writer_options o, const char *name)
{
	static const uint32_t threads[PROCS] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct stf_writer *w;

	o.resolution = 1e-9;
	o.procs_per_file = PER;
	o.identity[0] = 1;
	w = stf_writer_create(in_dir(name), &o, &err);
	CHECK(w, "%s: %s", err.file, err.text);
	CHECK_INT(stf_writer_processes(w, threads, PROCS), 0);
	return w;
}

/* What belongs to the whole. */
static void write_common(struct stf_writer *w)
{
	struct stf_counter_definition d = { .type = STF_COUNTER_U8 };
	struct stf_one_to_one_communication m = { .receiver = 11, .receive_time = 50 };

	for (d.id = 1; d.id <= 2; d.id++) {
		d.name = stf_writer_string(w, d.id == 1 ? "one" : "two");
		CHECK_INT(stf_write_counter_definition(w, &d), 0);
	}
	for (m.time = 0; m.time < 5000; m.time += 7) {
		CHECK_INT(stf_write_one_to_one_communication(w, &m), 0);
	}
	stf_writer_info(w, "program", "test_stf_sets");
}

static char *write_part(struct stf_writer_options o, int set)
{
	struct stf_writer *w;
	char *text;

	o.part = 1;
	w = begin(o, "a.stf");
	CHECK_INT(write_data(w, set), 0);
	text = stf_writer_finish_part(w, &err);
	CHECK(text, "%s", err.text);
	return text;
}

/* By a process of its own, which tells us the text through a pipe. */
static char *write_elsewhere(const struct stf_writer_options *o, int set)
{
	static char text[20000];
	int fd[2];
	ssize_t n, at = 0;
	pid_t pid;

	if (pipe(fd) < 0 || (pid = fork()) < 0) {
		printf("Bail out! no process\n");
		exit(99);
	}
	if (pid == 0) {
		char *t = write_part(*o, set);

		_exit(check_bad || !t || write(fd[1], t, strlen(t) + 1) < 0);
	}
	close(fd[1]);
	while ((n = read(fd[0], text + at, sizeof(text) - 1 - (size_t)at)) > 0) {
		at += n;
	}
	close(fd[0]);
	CHECK(waitpid(pid, &fd[0], 0) == pid && fd[0] == 0, "the other process: %x", fd[0]);
	text[at] = 0;
	return text;
}

static int files_like(const char *part)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		n += e->d_name[0] != '.' && strstr(e->d_name, part) != NULL;
	}
	if (d) {
		closedir(d);
	}
	return n;
}

/* a.stf has the files of b.stf. */
static void same_traces(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char other[300], *p, *q;
	size_t n, m;
	int files = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == 'b') {
			snprintf(other, sizeof(other), "a%.250s", e->d_name + 1);
			p = slurp(in_dir(e->d_name), &n);
			q = slurp(in_dir(other), &m);
			CHECK(p && q && n == m && memcmp(p, q, n) == 0, "%s differs", other);
			free(p);
			free(q);
			files++;
		}
	}
	if (d) {
		closedir(d);
	}
	CHECK(files == files_like("a.stf") && files > 0, "%d files, %d", files, files_like("a.stf"));
}

static void writers_in_parallel(void)
{
	struct stf_writer_options o = { 0 };
	struct stf_writer *w;
	char *text;
	int i, k;

	for (k = 0; k < 4; k++) {
		clean();
		o.single = k == 2 ? STF_SINGLE_FILE : 0;
		o.force = k == 3;
#ifdef HAVE_ZSTD
		o.compress = k == 1;
#endif
		w = begin(o, "b.stf");
		write_common(w);
		CHECK_INT(write_data(w, -1), 0);
		CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s", err.text);
		if (k == 3) {
			/* over an older one */
			w = begin(o, "a.stf");
			CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s", err.text);
		}
		w = begin(o, "a.stf");
		write_common(w);
		for (i = SETS - 1; i > 0; i--) {
			CHECK(stf_writer_adopt(w, write_elsewhere(&o, i)) == 0, "%s", stf_writer_error(w)->text);
		}
		text = write_part(o, 0);
		CHECK(files_like("a.stf") == files_like("tmp") + (k == 3 ? 2 : 0), "files have their names too early");
		CHECK(stf_writer_adopt(w, text) == 0, "%s", stf_writer_error(w)->text);
		free(text);
		CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s: %s", err.file, err.text);
		if (o.single) {
			CHECK(files_like("tmp") == 0, "left");
		}
		same_traces();
	}
}

/* No file is left, and the error names what happened. */
static void parts_that_fail(void)
{
	static const char *const wrong[] = { "", "STFPART 1", "STFPART 2\nIDENTITY 1 2\nUSED 3\n",
		"STFPART 2\nIDENTITY 1 2\nUSED\nDATA 9 0 0 0 0 0\nFILES\n",
		"STFPART 2\nIDENTITY 1 2\nUSED\nDATA 3 0 0 0 0 0\nFILES\n1 1 1 500 x\n" };
	struct stf_writer_options o = { 0 };
	struct stf_stf_string s = { .id = 1, .string = "x", .size_1_1 = 1 };
	struct stf_writer *w;
	char *text, *again;
	size_t i;

	clean();
	w = begin(o, "a.stf");
	text = write_part(o, 1);
	again = write_part(o, 1);
	CHECK_INT(stf_writer_adopt(w, text), 0);
	CHECK(stf_writer_adopt(w, again) == -1 && stf_writer_error(w)->code == STF_ERR_EXISTS, "%s",
		stf_writer_error(w)->text);
	CHECK(stf_writer_finish(w, 1, 0, &err) == -1 && err.code == STF_ERR_EXISTS, "%s", err.text);
	CHECK_INT(files_like("a.stf"), 0);
	/* files that went in the meantime */
	w = begin(o, "a.stf");
	CHECK(stf_writer_adopt(w, text) == -1 && stf_writer_error(w)->code == STF_ERR_IO, "%s",
		stf_writer_error(w)->text);
	stf_writer_abort(w);
	free(text);
	free(again);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		w = begin(o, "a.stf");
		CHECK(stf_writer_adopt(w, wrong[i]) == -1 && stf_writer_error(w)->code == STF_ERR_FORMAT, "%zu", i);
		stf_writer_abort(w);
	}
	text = write_part(o, 2);
	/* .c.2 with its anchors, and .f.2, which is too short for anchors */
	CHECK_INT(files_like("a.stf"), 3);
	stf_part_discard(text);
	free(text);
	o.part = 1;
	w = begin(o, "a.stf");
	CHECK(stf_write_stf_string(w, &s) == -1 && stf_writer_error(w)->code == STF_ERR_STATE, "a part declares");
	CHECK(stf_writer_finish(w, 1, 0, &err) == -1 && err.code == STF_ERR_STATE, "%s", err.text);
	CHECK_INT(files_like("a.stf"), 0);
}

static void a_part_is_no_trace(void)
{
	struct stf_writer_options o = { .resolution = 1e-9, .part = 1 };
	struct stf_writer *w;

	clean();
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK(w != NULL, "%s", err.text);
	CHECK(stf_writer_finish(w, 0, 1, &err) < 0 && err.code == STF_ERR_STATE &&
			strstr(err.text, "stf_writer_finish_part()"),
		"%d: '%s'", err.code, err.text);
	CHECK(access(in_dir("a.stf"), F_OK) != 0, "a trace was made");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(writers_in_parallel);
	RUN(parts_that_fail);
	RUN(a_part_is_no_trace);
	clean();
	rmdir(dir);
	return check_end();
}
