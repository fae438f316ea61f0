/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a job are merged to the bytes of one merge. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "calib/map/map.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/merge/hosts.h"
#include "collector-plugin/raw/reader.h"
#include "include/stf.h"
#include "tests/lib/check.h"
#include "tests/lib/raw_head.h"
#include "tests/unit/collector-plugin/merge/job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* What the hosts do, one after the other; the last of them is broken in some way. */
enum broken { NOT, SILENT, CUT, MAD };

static int jobs;

static int in_turn(void *ctx, char *const *job, const size_t *size, char **result, size_t *result_size,
	void (*own)(void *arg), void *arg, struct tkm_err *err)
{
	enum broken how = *(enum broken *)ctx;
	size_t h, files;

	(void)err;
	own(arg);
	for (h = 1; h < 3; h++) {
		if (!job[h]) {
			continue;
		}
		jobs++;
		if (h == 2 && how == SILENT) {
			continue;
		}
		result[h] = vt_merge_for_host(
			job[h], h == 2 && how == CUT ? size[h] / 2 : size[h], NULL, &result_size[h], &files);
		CHECK(result[h] != NULL, "no result");
		if (h == 2 && how == MAD) {
			result_size[h] /= 2;
		}
	}
	return 0;
}

/* A byte of the data of rank 3, which is host 2's. */
static void damage(void)
{
	int fd = open(path[3], O_RDWR);
	char c;

	CHECK(pread(fd, &c, 1, 100000) == 1, "read");
	c ^= 1;
	CHECK(pwrite(fd, &c, 1, 100000) == 1, "write");
	close(fd);
}

/* Samples of a group in one component of many/t.stf, and all others there. */
static void count_groups(const char *suffix, uint64_t *group, uint64_t *other)
{
	struct stf_reader *r;
	const struct stf_record *rec;
	struct stf_cursor *c;
	struct stf_err e;
	char name[200];

	snprintf(name, sizeof(name), "%s/many/t.stf", dir);
	r = stf_reader_open(name, 0, &e);
	c = r ? stf_cursor_open(r, suffix, &e) : NULL;
	CHECK(c, "%s", e.text);
	*group = *other = 0;
	while (c && stf_cursor_next(c, &rec, &e) > 0) {
		if (stf_willy_is_group((uint32_t)stf_value(rec, "willy")->u)) {
			++*group;
		} else {
			++*other;
		}
	}
	stf_cursor_close(c);
	stf_reader_close(r);
}

/* The first set has none of node b's, the second all of them, and so many others. */
static void groups_are_with_their_node(uint64_t others)
{
	uint64_t group, other;

	count_groups(".c.0", &group, &other);
	CHECK(group == 0 && other > 0, "%llu samples of groups in the first set", (unsigned long long)group);
	count_groups(".c.1", &group, &other);
	CHECK(group == 3000 && other == others, "%llu samples of node b, %llu others", (unsigned long long)group,
		(unsigned long long)other);
}

/* Whichever way: an error, and nothing is left. */
static void hosts_fail(enum broken *how)
{
	struct vt_merge_result many;

	for (*how = SILENT; *how <= MAD; ++*how) {
		four_ranks(0);
		CHECK_INT(merge_to("many", 1, 0, 2, &many), -1);
		if (*how != MAD) {
			CHECK(shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "%d: files are left", *how);
		}
		shell("rm -rf %s/many", dir, NULL);
	}
	four_ranks(1);
	*how = NOT;
	CHECK_INT(merge_to("many", 1, 0, 2, &many), -1);
	CHECK(shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "stray: files are left");
	shell("rm -rf %s/many", dir, NULL);
}

/* nodes: ranks 1 and 2 are on one, 3 on another, and a node's counters are in the files of its lowest rank. */
static void bytes_of_hosts(void)
{
	static const struct {
		uint32_t per_file;
		int jobs, map, damaged, nodes, apart;
	} way[] = { { 1, 2, 0, 0, 0, 0 }, { 2, 0, 0, 0, 0, 0 }, { 1, 2, 1, 0, 0, 0 }, { 1, 2, 1, 1, 0, 0 },
		{ 0, 2, 1, 0, 1, 0 }, { 1, 2, 1, 1, 1, 0 }, { 0, 2, 1, 0, 1, 1 }, { 1, 2, 1, 1, 1, 1 },
		{ 1, 2, 0, 0, 1, 1 } };
	struct vt_merge_result one, many;
	enum broken how = NOT;
	struct vt_merge_hosts three = { .n = 3, .whole = &whole, .exchange = in_turn, .ctx = &how };
	struct cal_map map = { .period_s = 1e-9 };
	struct tkm_err e;
	size_t i;

	CHECK_INT(cal_map_line(&map, ltick(1000), gtick(5000), 1.0001, &e), 0);
	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		four_ranks(0);
		if (way[i].damaged) {
			damage();
		}
		if (way[i].nodes) {
			raw_on_node(path[1], "b");
			raw_on_node(path[2], "b");
			raw_on_node(path[3], "c");
		}
		by_node = way[i].nodes;
		given = way[i].map ? &map : NULL;
		hosts = NULL;
		CHECK(merge_to("one", way[i].per_file, 0, 1, &one) == 0, "way %zu", i);
		hosts = &three;
		apart = way[i].apart;
		jobs = 0;
		CHECK(merge_to("many", way[i].per_file, 0, 2, &many) == 0, "way %zu", i);
		CHECK_INT(jobs, way[i].jobs);
		CHECK(shell("diff -r %s/one %s/many >&2", dir, dir) == 0, "way %zu: other bytes", i);
		CHECK(memcmp(&one, &many, sizeof(one)) == 0, "way %zu: %llu samples, %llu; %llu blocks damaged, %llu",
			i, (unsigned long long)one.samples, (unsigned long long)many.samples,
			(unsigned long long)one.damaged, (unsigned long long)many.damaged);
		CHECK((one.damaged > 0) == way[i].damaged, "%llu blocks damaged", (unsigned long long)one.damaged);
		if (way[i].nodes) {
			groups_are_with_their_node(way[i].per_file ? 6000 : 9000);
		}
		shell("rm -rf %s/one %s/many", dir, dir);
	}
	by_node = 0;
	/* the first set has records of rank 2's node */
	four_ranks(0);
	CHECK_INT(merge_to("many", 1, 0, 2, &many), -1);
	CHECK(whole == 1 && shell("test -z \"$(ls -A %s/many)\"", dir, NULL) == 0, "the whole was not asked for");
	apart = 0;
	hosts_fail(&how);
	hosts = NULL;
	given = NULL;
	cal_map_free(&map);
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
	RUN(bytes_of_hosts);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return check_end() | (system(command) != 0);
}
