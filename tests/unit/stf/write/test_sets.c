/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes share files: so many, those of a node, so many threads of the only process; and that the index says
 * so. And several writers of one trace. */
#include "config.h"
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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(processes_share_files);
	RUN(wrong_nodes);
	RUN(a_component_that_is_gone_is_reported_after_the_others);
	clean();
	rmdir(dir);
	return check_end();
}
