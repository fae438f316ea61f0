/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes share files: so many, those of a node, so many threads of the only process; and that the index says
 * so. And several writers of one trace. */
#include "config.h"

#include <sys/wait.h>

#include "stf/format/identity.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

enum { PROCS = 12, N = 3000 };

static struct stf_err err;

/* Who goes where, from the words of the option alone: *set is counted in the order of the processes. */
static uint32_t model(const struct stf_writer_options *o, uint32_t n_procs, uint32_t willy)
{
	uint32_t p, set = 0, sets = 0, of[PROCS], node[PROCS], room[PROCS], k;

	if (stf_willy_is_group(willy)) {
		k = willy & 0x7fffffff;
		return k < o->n_group_home && o->group_home[k] != UINT32_MAX
			? model(o, n_procs, STF_WILLY(o->group_home[k], 0))
			: 0;
	}
	if (!o->node) {
		p = n_procs == 1 ? stf_willy_thread(willy) : stf_willy_process(willy);
		return o->procs_per_file ? p / o->procs_per_file : 0;
	}
	for (p = 0; p < o->n_node; p++) {
		for (k = sets; k-- > 0 && (node[k] != o->node[p] || room[k] == 0);) {
		}
		if (k == UINT32_MAX) {
			k = sets++;
			node[k] = o->node[p];
			room[k] = o->procs_per_file ? o->procs_per_file : UINT32_MAX;
		}
		room[k]--;
		of[p] = k;
	}
	set = stf_willy_process(willy) < o->n_node ? of[stf_willy_process(willy)] : sets;
	return set;
}

static int in_list(const struct stf_willy_list *l, uint32_t willy)
{
	uint32_t i;

	for (i = 0; i < l->size_1_3; i++) {
		if (willy >= l->first_id[i] && willy <= l->last_id[i] &&
			(willy - l->first_id[i]) % (uint32_t)l->stride[i] == 0) {
			return 1;
		}
	}
	return 0;
}

/* The willies that the index says of a file. */
static int list_of(struct stf_reader *r, uint32_t file, struct stf_willy_list *l)
{
	struct stf_anchor_file_declaration a;
	const struct stf_record *rec;
	size_t i;

	for (i = 0; (rec = stf_reader_record(r, STF_ID_anchor_file_declaration, i)); i++) {
		stf_get_anchor_file_declaration(rec, &a);
		rec = stf_reader_find(r, STF_ID_willy_list, a.willies);
		if (a.data_file == file && rec) {
			return stf_get_willy_list(rec, l);
		}
	}
	return -1;
}

static void check_files(const struct stf_writer_options *o, const uint32_t *threads, uint32_t n, const char *what)
{
	struct stf_reader *r = stf_reader_open(in_dir("a.stf"), 0, &err);
	struct stf_cursor *c = r ? stf_cursor_open(r, NULL, &err) : NULL;
	struct stf_file_declaration d;
	const struct stf_record *rec;
	struct stf_willy_list l;
	uint32_t willy, p, t, set;
	int seen = 0;

	CHECK(c, "%s", err.text);
	while (c && stf_cursor_next(c, &rec, &err) > 0) {
		willy = (uint32_t)stf_value(rec, "willy")->u;
		CHECK(stf_get_file_declaration(stf_reader_find(r, STF_ID_file_declaration, rec->file), &d) == 0 &&
				strncmp(d.suffix, ".f.", 3) == 0,
			"file");
		set = (uint32_t)atoi(d.suffix + 3);
		CHECK(set == model(o, n, willy), "%s: willy %x is in set %u, want %u", what, willy, set,
			model(o, n, willy));
		CHECK(list_of(r, rec->file, &l) == 0 && (stf_willy_is_group(willy) || in_list(&l, willy)),
			"%s: willy %x is not listed", what, willy);
		for (p = 0; p < n && seen % 100 == 0; p++) {
			for (t = 0; t < threads[p]; t++) {
				CHECK(in_list(&l, STF_WILLY(p, t)) == (model(o, n, STF_WILLY(p, t)) == set),
					"%s: list of set %u, %u:%u", what, set, p, t);
			}
		}
		seen++;
	}
	CHECK_INT(seen, N);
	stf_cursor_close(c);
	stf_reader_close(r);
}

static void write_and_check(struct stf_writer_options o, const uint32_t *threads, uint32_t n, const char *what)
{
	struct stf_writer *w;
	struct stf_enter_function f = { 0 };
	uint32_t p;
	int i;

	clean();
	o.resolution = 1e-9;
	w = stf_writer_create(in_dir("a.stf"), &o, &err);
	CHECK(w, "%s: %s", what, err.text);
	stf_writer_processes(w, threads, n);
	for (i = 0; i < N; i++) {
		p = (uint32_t)(check_random() % n);
		f.time = (uint64_t)i;
		f.willy = check_random() % 50 ? STF_WILLY(p, check_random() % threads[p]) : STF_GROUP(i % 5 + 1);
		CHECK_INT(stf_write_enter_function(w, &f), 0);
	}
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s: %s", what, err.text);
	check_files(&o, threads, n, what);
}

static void processes_share_files(void)
{
	static const uint32_t threads[PROCS] = { 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 1, 40 }, many = 40;
	static const uint32_t block[PROCS] = { 7, 7, 7, 7, 7, 1, 1, 1, 900, 900, 900, 900 };
	static const uint32_t round_robin[PROCS] = { 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1 };
	static const uint32_t home[5] = { UINT32_MAX, 3, UINT32_MAX, 11, 5 };
	static const uint32_t own[PROCS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, UINT32_MAX };

	write_and_check((struct stf_writer_options){ 0 }, threads, PROCS, "all in one");
	write_and_check((struct stf_writer_options){ .procs_per_file = 5 }, threads, PROCS, "five");
	write_and_check((struct stf_writer_options){ .procs_per_file = 1 }, threads, PROCS, "one");
	write_and_check((struct stf_writer_options){ .procs_per_file = 16 }, &many, 1, "threads");
	write_and_check((struct stf_writer_options){ .procs_per_file = 40 }, &many, 1, "all threads");
	write_and_check((struct stf_writer_options){ .node = block, .n_node = PROCS }, threads, PROCS, "nodes");
	write_and_check((struct stf_writer_options){ .node = round_robin, .n_node = PROCS }, threads, PROCS, "in turn");
	write_and_check((struct stf_writer_options){ .node = round_robin, .n_node = PROCS, .procs_per_file = 3 },
		threads, PROCS, "three of a node");
	write_and_check((struct stf_writer_options){ .node = own, .n_node = PROCS, .procs_per_file = 3 }, threads,
		PROCS, "own nodes");
	write_and_check(
		(struct stf_writer_options){ .node = block, .n_node = 6 }, threads, PROCS, "half of them known");
	write_and_check((struct stf_writer_options){ .procs_per_file = 5, .group_home = home, .n_group_home = 5 },
		threads, PROCS, "groups at home");
	write_and_check(
		(struct stf_writer_options){
			.node = round_robin, .n_node = PROCS, .group_home = home, .n_group_home = 5 },
		threads, PROCS, "groups at home on nodes");
	write_and_check((struct stf_writer_options){ .group_home = home, .n_group_home = 5 }, threads, PROCS,
		"groups, all in one");
}

static void wrong_nodes(void)
{
	struct stf_writer_options o = { .resolution = 1, .n_node = 3 };
	uint32_t node = 0;

	clean();
	CHECK(!stf_writer_create(in_dir("a.stf"), &o, &err) && err.code == STF_ERR_ARG, "%s", err.text);
	o.node = &node;
	o.n_node = 65537;
	CHECK(!stf_writer_create(in_dir("a.stf"), &o, &err) && err.code == STF_ERR_ARG, "%s", err.text);
}

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

/* Of two processes with a component each; one component is gone. */
static void a_component_that_is_gone_is_reported_after_the_others(void)
{
	static const uint32_t threads[2] = { 1, 1 };
	struct stf_writer *w;
	struct stf_reader *r;
	struct stf_cursor *c;
	const struct stf_record *rec;
	int n = 0, rc, i;

	clean();
	w = stf_writer_create(
		in_dir("a.stf"), &(struct stf_writer_options){ .resolution = 1e-9, .procs_per_file = 1 }, &err);
	stf_writer_processes(w, threads, 2);
	for (i = 0; i < 10; i++) {
		stf_write_enter_function(w, &(struct stf_enter_function){ .time = 10 * (uint64_t)i, .willy = i % 2 });
	}
	CHECK(stf_writer_finish(w, 1, 0, &err) == 0, "%s: %s", err.file, err.text);
	CHECK(unlink(in_dir("a.stf.f.1")) == 0, "no component of the second process");
	r = stf_reader_open(in_dir("a.stf"), 0, &err);
	CHECK(r != NULL, "%s", err.text);
	c = stf_cursor_open(r, NULL, &err);
	CHECK(c != NULL, "%s", err.text);
	while ((rc = stf_cursor_next(c, &rec, &err)) > 0) {
		n += rec->layout->id == STF_ID_enter_function;
	}
	CHECK_INT(n, 5);
	CHECK(rc < 0 && strstr(err.file, "a.stf.f.1"), "%d, %s: %s", rc, err.file, err.text);
	stf_cursor_close(c);
	stf_reader_close(r);
}

static void identities_of_another_byte_order_are_none(void)
{
	const struct stf_trace_identity one = { 1, 2, 1e-9, 3, 1 };
	uint8_t p[STX_IDENTITY_SIZE];
	struct stf_trace_identity i;
	int big;

	for (big = 0; big < 2; big++) {
		stf_identity_put(p, &one, big);
		CHECK(stf_identity_get(&i, p, big) == 0 && stf_identity_same(&i, &one) && i.resolution == 1e-9 &&
				i.eventbits == 3 && i.checksums == 1,
			"another identity came back");
		CHECK_INT(stf_identity_get(&i, p, !big), -1);
		p[0]++;
		CHECK_INT(stf_identity_get(&i, p, big), -1);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(processes_share_files);
	RUN(wrong_nodes);
	RUN(writers_in_parallel);
	RUN(parts_that_fail);
	RUN(a_part_is_no_trace);
	RUN(a_component_that_is_gone_is_reported_after_the_others);
	RUN(identities_of_another_byte_order_are_none);
	clean();
	rmdir(dir);
	return check_end();
}
