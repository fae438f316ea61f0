/* SPDX-License-Identifier: BSD-3-Clause */
/* Any number of threads writes one trace; one that fails ends it. */
#include "config.h"
#include "collector-plugin/merge/common/options.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_head.h"
#include "tests/unit/collector-plugin/merge/job.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

static void bytes_of_threads(void)
{
	static const struct {
		uint32_t per_file;
		int single, stray;
	} way[] = { { 1, 0, 0 }, { 0, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 } };
	struct vt_merge_result one, many;
	size_t i;

	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		four_ranks(way[i].stray);
		CHECK(merge_to("one", way[i].per_file, way[i].single, 1, &one) == 0, "way %zu", i);
		CHECK(merge_to("many", way[i].per_file, way[i].single, 4, &many) == 0, "way %zu", i);
		CHECK(shell("diff -r %s/one %s/many >&2", dir, dir) == 0, "way %zu: other bytes", i);
		CHECK(memcmp(&one, &many, sizeof(one)) == 0, "way %zu: %llu samples, %llu", i,
			(unsigned long long)one.samples, (unsigned long long)many.samples);
		CHECK_INT(one.samples, 8 * 3000);
		shell("rm -rf %s/one %s/many", dir, dir);
	}
}

/* The disk is full in the midst of it: an error, and nothing is left. */
static void threads_that_fail(void)
{
	struct rlimit before, small;
	struct vt_merge_result res;

	four_ranks(0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 100000;
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_INT(merge_to("many", 1, 0, 4, &res), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "files are left");
	CHECK(merge_to("many", 1, 0, 4, &res) == 0, "again");
}

int main(int argc, char **argv)
{
	char command[100];
	int i;

	check_args(argc, argv);
	snprintf(dir, sizeof(dir), "/tmp/test_merge.XXXXXX");
	if (!mkdtemp(dir)) {
		return 99;
	}
	snprintf(trace, sizeof(trace), "%s/t.stf", dir);
	for (i = 0; i < FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/raw%d.dat", dir, i);
	}
	RUN(bytes_of_threads);
	RUN(threads_that_fail);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
