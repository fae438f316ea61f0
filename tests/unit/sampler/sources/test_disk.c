/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths of a disk count once. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

/* Linux 6.1, 16 MiB written and 1 MiB and a bit read through one of two paths: nothing is at their head. */
static void paths_of_an_nvme_disk_count_once(void)
{
	long long others = 512LL * (14122 + 8);

	unpack("nvme-paths");
	OPEN(SMP_NODE, 0, "disk_read", "disk_write", "disk_write:nvme* on");
	HAS("disk_write", 16777216 + 512 * 144);
	HAS("disk_read", 512 * 2056 + others);
	HAS("disk_write:nvme0c0n1", 16777216);
	CHECK(planned("disk_write:nvme0n1")->missing && strstr(planned("disk_write:nvme0n1")->missing, "2 paths"),
		"a head that counts nothing");
	/* a later kernel, which counts at the head too */
	smp_set_close(set);
	smp_plan_close(plan);
	put("/sys/block/nvme0n1/stat", "17 0 2056 69 256 0 32768 629 0 660 699 0 0 0 0 0 0");
	OPEN(SMP_NODE, 0, "disk_write", "disk_write:nvme* on");
	HAS("disk_write", 16777216 + 512 * 144);
	HAS("disk_write:nvme0n1", 16777216);
	drop();
}

/* The requests under way are a level: fewer than before are nothing to be noted. Some kernels show -1. */
static void requests_under_way_may_fall(void)
{
	static const char *const shown[] = { "9", "0", "7", "3", "2", "1", "4294967295", "18446744073709551615", "5" };
	static const long long want[] = { 9, 0, 7, 3, 2, 1, -1, -1, 5 };
	char stat[100];
	size_t i;

	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "disk_inflight:sda");
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		snprintf(stat, sizeof(stat), "1 0 100 5 2 0 200 6 %s 7 8\n", shown[i]);
		put("/sys/block/sda/stat", stat);
		read_again();
		CHECK_INT(state[0], want[i] < 0 ? 0 : SMP_VALID);
		CHECK(want[i] < 0 || value[0].i == want[i], "%s: %lld", shown[i], (long long)value[0].i);
	}
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(paths_of_an_nvme_disk_count_once);
	RUN(requests_under_way_may_fall);
	return check_end();
}
