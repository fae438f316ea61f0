/* SPDX-License-Identifier: BSD-3-Clause */
/* A job is found by its names; what it recorded is shown. */
#include "config.h"
#include "base/err.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "live/live.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/lib/raw_file.h"

#include <limits.h>

/* Of this process alone: other tests record jobs at the same time. */
static char own_job[40], own_program[40], own_trace[40];

static uint64_t real(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

static void counter(struct vt_raw *r, uint32_t id, uint8_t type, int total, const char *name, const char *unit,
	double factor, const char *shown)
{
	struct vt_raw_counter_def c = { .id = id,
		.classid = 1,
		.type = type,
		.do_diff = (uint8_t)total,
		.upper = UINT64_MAX,
		.name = name,
		.unit = unit,
		.factor = factor,
		.shown_unit = shown };

	CHECK_INT(vt_raw_counter(r, &c), 0);
}

/* Samples at 0.1 s and 0.2 s (and one 1 ms later), of a thread, a second one and the node. */
static struct vt_raw *write_job(int rank)
{
	struct vt_raw *r = create((struct vt_raw_options){
		.rank = rank, .ranks = rank + 1, .job = own_job, .program = own_program, .trace = own_trace });
	struct vt_raw_stream *s, *other;
	const uint32_t id[] = { 40, 2, 3 };

	if (!r) {
		return NULL;
	}
	vt_raw_class(r, 1, 0, "OS");
	counter(r, 2, STF_COUNTER_U8, 1, "written", "bytes", 0.001, "KB/s");
	counter(r, 3, STF_COUNTER_F8, 1, "joule", "J", 0, "");
	counter(r, 40, STF_COUNTER_I8, 0, "level", "m", 3, "");
	s = vt_raw_stream(r);
	other = vt_raw_stream(r);
	vt_raw_counters(s, ltick(100001000), 0, 3, id, (uint64_t[]){ 7, 1000, real(1) });
	vt_raw_counters(s, ltick(200001000), 0, 3, id, (uint64_t[]){ (uint64_t)-8, 6000, real(1.5) });
	vt_raw_counters(s, ltick(201001000), 0, 1, id, (uint64_t[]){ (uint64_t)-9 });
	vt_raw_counters(s, ltick(150001000), 2, 1, id, (uint64_t[]){ 4 });
	/* an older one of the first thread, in a stream that is read later */
	vt_raw_counters(other, ltick(50001000), 0, 1, id, (uint64_t[]){ 1 });
	/* and one of the same time as that of the second thread */
	vt_raw_counters(other, ltick(150001000), 2, 1, id, (uint64_t[]){ 100 });
	vt_raw_counters(other, ltick(160001000), VT_RAW_GROUP + VT_RAW_NODE, 1, id, (uint64_t[]){ 2 });
	return r;
}

static char *printed(struct vtr_live_job *j, const char *only)
{
	static char text[4000];
	struct tkm_err e;
	FILE *f = fmemopen(memset(text, 0, 1), sizeof(text), "w");
	char *host, *end;

	CHECK_INT(vtr_live_read(j, only, &e), 0);
	vtr_live_print(f, j);
	fclose(f);
	for (host = text; (host = strstr(host, "\tnode ")); host++) { /* of any name */
		end = strchr(host + 1, '\t');
		memmove(host + 5, end, strlen(end) + 1);
	}
	return text;
}

static struct vtr_live_job one_job(void)
{
	struct vtr_live_job j = { .files = 1 };

	j.path = calloc(1, sizeof(*j.path));
	j.path[0] = strdup(path);
	return j;
}

static void what_was_recorded_is_printed(void)
{
	struct vt_raw *r = write_job(3);
	struct vtr_live_job j = one_job();

	CHECK_STR(printed(&j, NULL),
		"0.201\trank 3\twritten\t50\tKB/s\n"
		"0.201\trank 3\tjoule\t5\tJ/s\n"
		"0.201\trank 3\tlevel\t-27\tm\n"
		"0.201\trank 3.2\tlevel\t12\tm\n"
		"0.201\tnode\tlevel\t6\tm\n");
	CHECK_INT(j.running, 1);
	CHECK_INT(j.lost, 0);
	CHECK_INT(j.rows, 3);
	CHECK_INT(j.columns, 3);
	CHECK_INT(j.cells, 7 - 2);
	/* the same once more: nothing is added up */
	printed(&j, NULL);
	CHECK_INT(j.running, 1);
	CHECK_INT(j.cells, 5);
	CHECK_INT(j.columns, 3);
	vtr_live_free(&j);
	CHECK(!j.path && !j.cell && !j.files, "all is given back");
	j = one_job();
	CHECK_STR(printed(&j, "rit"), "0.200\trank 3\twritten\t50\tKB/s\n");
	vtr_live_free(&j);
	vt_raw_close(r, ltick(300001000));
	j = one_job();
	printed(&j, NULL);
	CHECK_INT(j.running, 0);
	vtr_live_free(&j);
	unlink(path);
	j = one_job();
	CHECK_STR(printed(&j, NULL), "");
	vtr_live_free(&j);
}

/* Two samples in quick succession: the rate is that of the last and the one before them, not 1000 times as much. */
static void quick_samples_make_no_rate_of_their_own(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .rank = -1 });
	struct vtr_live_job j;
	struct vt_raw_stream *s = vt_raw_stream(r);
	const uint32_t id = 1;
	char want[200];
	uint64_t v;

	counter(r, 1, STF_COUNTER_U8, 1, "n", "", 0, "");
	for (v = 0; v < 3; v++) {
		vt_raw_counters(s, ltick(1000 + 100000000 * (int64_t)v), 0, 1, &id, &v);
	}
	v = 5;
	vt_raw_counters(s, ltick(1000 + 200000000 + 4999999), 0, 1, &id, &v);
	j = one_job();
	snprintf(want, sizeof(want), "0.205\tpid %d\tn\t%.9g\t/s\n", (int)getpid(), 4 / 0.104999999);
	CHECK_STR(printed(&j, NULL), want);
	vtr_live_free(&j);
	v = 6; /* exactly the shortest time after that one */
	vt_raw_counters(s, ltick(1000 + 200000000 + 4999999 + 5000000), 0, 1, &id, &v);
	j = one_job();
	snprintf(want, sizeof(want), "0.210\tpid %d\tn\t200\t/s\n", (int)getpid());
	CHECK_STR(printed(&j, NULL), want);
	vtr_live_free(&j);
	vt_raw_close(r, ltick(300001000));
}

/* Numbers of counters come from the file: beyond 2^20 they are no index into memory. */
static void the_largest_number_of_a_counter_is_shown(void)
{
	struct vt_raw *r = create((struct vt_raw_options){ .rank = 0 });
	struct vt_raw_stream *s = vt_raw_stream(r);
	struct vtr_live_job j;

	counter(r, 1 << 20, STF_COUNTER_U8, 0, "largest", "m", 0, "");
	counter(r, (1 << 20) + 1, STF_COUNTER_U8, 0, "beyond", "m", 0, "");
	vt_raw_counters(s, ltick(100001000), 0, 2, (uint32_t[]){ 1 << 20, (1 << 20) + 1 }, (uint64_t[]){ 7, 8 });
	j = one_job();
	CHECK_STR(printed(&j, NULL), "0.100\trank 0\tlargest\t7\tm\n");
	vtr_live_free(&j);
	vt_raw_close(r, ltick(300001000));
}

static int found(const char *what, struct tkm_err *e)
{
	struct vtr_live_job j;
	int rc = vtr_live_find(&j, what, e);

	if (rc == 0) {
		CHECK_STR(j.job, own_job);
		CHECK_STR(j.program, own_program);
		CHECK_STR(j.trace, own_trace);
		CHECK_INT(j.files, 1);
		CHECK(j.files == 1 && !strcmp(j.path[0], path), "its file");
	}
	vtr_live_free(&j);
	return rc;
}

static void find_and_free(void)
{
	struct tkm_err e;

	CHECK_INT(found(own_trace, &e), 0);
	CHECK_INT(found("/nosuch/raw.dat", &e), -1);
}

/* This process has a raw file mapped, and no sampler process. */
static void a_job_is_found_by_all_its_names(void)
{
	struct vt_raw *r = write_job(0);
	struct tkm_err e;
	char pid[20], here[PATH_MAX], name[200];
	int files = open_files();

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	CHECK_INT(found(pid, &e), 0);
	CHECK_INT(found(own_trace, &e), 0);
	CHECK_INT(found(own_program, &e), 0);
	CHECK_INT(found(path, &e), 0);
	snprintf(name, sizeof(name), "%s/../%s/raw.dat", dir, strrchr(dir, '/') + 1);
	CHECK_INT(found(name, &e), 0);
	snprintf(name, sizeof(name), "/tmp/..%s", own_trace);
	CHECK_INT(found(name, &e), 0);
	CHECK(getcwd(here, sizeof(here)) && chdir("/") == 0, "to /");
	CHECK_INT(found(own_trace + 1, &e), 0);
	CHECK_INT(chdir(dir), 0);
	CHECK_INT(found("raw.dat", &e), 0);
	CHECK_INT(found(own_trace + 1, &e), -1);
	snprintf(name, sizeof(name), "%s: no such program is recorded here at this moment, or it is another user's",
		own_trace + 1);
	CHECK_STR(e.text, name);
	CHECK_INT(chdir(here), 0);
	CHECK_INT(found("/nosuch/raw.dat", &e), -1);
	CHECK_INT(open_files(), files);
	CHECK_HEAP(find_and_free, 20);
	CHECK_INT(found("1", &e), -1);
	vt_raw_close(r, ltick(300001000));
	CHECK_INT(found(pid, &e), -1);
	CHECK_INT(e.code, TKM_ERR_UNAVAIL);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	snprintf(own_job, sizeof(own_job), "job%d", (int)getpid());
	snprintf(own_program, sizeof(own_program), "prog%d", (int)getpid());
	snprintf(own_trace, sizeof(own_trace), "/t%d.stf", (int)getpid());
	RUN(what_was_recorded_is_printed);
	RUN(quick_samples_make_no_rate_of_their_own);
	RUN(the_largest_number_of_a_counter_is_shown);
	RUN(a_job_is_found_by_all_its_names);
	remove_dir();
	return check_end();
}
