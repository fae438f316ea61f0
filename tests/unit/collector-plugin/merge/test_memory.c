/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation of a merge fails once: the merge reports it and leaves no file, or it makes the same trace. Whatever
 * happens, all memory is given back. */
#include "config.h"
#include "collector-plugin/merge/merge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"
#include "tests/lib/raw_head.h"

/* In place of the C library's: the same identity for every trace, so that their bytes can be compared. */
ssize_t getrandom(void *p, size_t n, unsigned flags);
ssize_t getrandom(void *p, size_t n, unsigned flags)
{
	(void)flags;
	memset(p, 1, n);
	return (ssize_t)n;
}

enum { FILES = 3 };

static char dir[64], path[FILES][100];

static int shell(const char *fmt)
{
	char command[300];

	snprintf(command, sizeof(command), fmt, dir, dir, dir);
	return system(command);
}

static void record(int k)
{
	struct vt_raw_options o = { .path = path[k],
		.block_size = 4096,
		.max_blocks = 64,
		.autoflush = 1,
		.timer = "CPU",
		.program = "prog",
		.job = "job",
		.hz = 1e9,
		.start = ltick(1000),
		.rank = k,
		.ranks = FILES };
	struct vt_raw_counter_def c = { .id = 16,
		.classid = 1,
		.type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE,
		.upper = UINT64_MAX,
		.factor = 0.5,
		.name = "bytes",
		.unit = "B",
		.shown_unit = "half",
		.description = "what" };
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw *raw = vt_raw_create(&o, &e);
	struct vt_raw_stream *s;
	uint32_t id = 16;
	uint64_t v;

	CHECK(raw != NULL, "%s", e.text);
	vt_raw_class(raw, 1, 0, "class");
	vt_raw_counter(raw, &c);
	s = vt_raw_stream(raw);
	for (v = 1; v <= 40; v++) {
		vt_raw_counters(s, ltick(1000 + 10 * (int64_t)v), (uint16_t)(v % 2), 1, &id, &v);
	}
	vt_raw_enter(s, ltick(1500), 0, (struct vt_raw_state_change){ 0, 0 });
	vt_raw_comment(s, ltick(1500), 0, "here");
	vt_raw_stream_end(s);
	vt_raw_close(raw, ltick(2000));
}

static int merge(struct tkm_err *e)
{
	char name[100];
	struct vt_merge_options o = { .trace = name, .procs_per_file = 1, .threads = 1 };
	struct vt_merge_input in[FILES];
	struct vt_merge_result res;
	int i;

	snprintf(name, sizeof(name), "%s/out/t.stf", dir);
	for (i = 0; i < FILES; i++) {
		in[i] = (struct vt_merge_input){ .path = path[i] };
	}
	e->text[0] = '\0';
	return vt_merge(in, FILES, &o, &res, e);
}

static void each_allocation_fails_once(void)
{
	long all, n, before, failed = 0;
	char out[100];
	struct tkm_err e;
	int rc;

	snprintf(out, sizeof(out), "%s/out", dir);
	CHECK(merge(&e) == 0, "%s", e.text);
	CHECK(shell("mv %s/out %s/good && mkdir %s/out") == 0, "no folder");
	all = heap_asked;
	CHECK(merge(&e) == 0, "%s", e.text);
	all = heap_asked - all;
	shell("rm %s/out/*");
	for (n = 1; n <= all && check_bad == 0; n++) {
		before = heap_pieces;
		heap_fails = heap_asked + n;
		rc = merge(&e);
		heap_fails = 0;
		CHECK(heap_pieces == before, "%ld of %ld: %ld pieces of memory are kept", n, all, heap_pieces - before);
		if (rc == 0) {
			CHECK(shell("diff -r %s/out %s/good >&2") == 0, "%ld of %ld: another trace", n, all);
			shell("rm %s/out/*");
			continue;
		}
		failed++;
		CHECK(e.text[0], "%ld of %ld: no reason", n, all);
		/* where the names of the host's files cannot be read, the next merge removes them */
		CHECK((rmdir(out) == 0 && mkdir(out, 0700) == 0) || strstr(e.text, "its result cannot be read"),
			"%ld of %ld: files are left: %s", n, all, e.text);
		if (strstr(e.text, "its result cannot be read")) {
			shell("rm -f %s/out/*");
		}
	}
	printf("# %ld allocations, %ld of them fail the merge\n", all, failed);
	CHECK(failed > all / 2, "%ld of %ld", failed, all);
}

int main(int argc, char **argv)
{
	int i;

	check_args(argc, argv);
	if (!HEAP_IS_COUNTED) {
		SKIP("each_allocation_fails_once", HEAP_WHY);
		return check_end();
	}
	strcpy(dir, "/tmp/test_merge_memory.XXXXXX");
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary directory\n");
		return 99;
	}
	shell("mkdir %s/out");
	for (i = 0; i < FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d.raw", dir, i);
		record(i);
		raw_on_node(path[i], i ? "b" : "a");
	}
	RUN(each_allocation_fails_once);
	shell("rm -rf %s");
	return check_end();
}
