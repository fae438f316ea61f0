/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rule that matches a counter decides. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

/* ---- choosing ------------------------------------------------------------------------------------ */

static void last_rule_that_matches_decides(void)
{
	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "cpu_* on", "cpu_steal off", "disk_io", "no_such_counter on");
	CHECK(planned("cpu_idle") && !planned("cpu_steal") && !planned("cpu_idle:cpu0") && planned("disk_io"),
		"wrong choice");
	CHECK(planned("no_such_counter") && planned("no_such_counter")->missing, "an unknown name is dropped silently");
	drop();
}

static void another_word_is_not_suggested(void)
{
	char text[100];

	CHECK(smp_nearest_name("cpu_idel", text, sizeof(text)), "nothing near");
	CHECK_STR(text, "cpu_idle");
	CHECK(smp_nearest_name("fork", text, sizeof(text)), "nothing near");
	CHECK_STR(text, "forks");
	smp_nearest_name("fks", text, sizeof(text));
	CHECK(strcmp(text, "forks") != 0, "two errors in three letters");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(last_rule_that_matches_decides);
	RUN(another_word_is_not_suggested);
	return check_end();
}
