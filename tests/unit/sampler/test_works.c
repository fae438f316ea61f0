/* SPDX-License-Identifier: BSD-3-Clause */
/* The work that vtcounters validates counters with. */
#define _GNU_SOURCE
#include "config.h"
#include "sampler/works.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

/* Pages of the address space of this process. */
static long mapped_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long n = 0;

	CHECK(f && fscanf(f, "%ld", &n) == 1, "no /proc/self/statm");
	fclose(f);
	return n;
}

static void work_leaves_nothing_behind(void)
{
	long before;
	int i;

	CHECK_INT(smp_work_faults(2000), 0);
	before = mapped_pages();
	for (i = 0; i < 10; i++) {
		CHECK_INT(smp_work_faults(2000), 0);
	}
	CHECK(mapped_pages() < before + 2000, "%ld pages more", mapped_pages() - before);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(work_leaves_nothing_behind);
	return check_end();
}
