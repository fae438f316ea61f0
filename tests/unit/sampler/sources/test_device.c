/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices with a file each go and come; their names have a limit. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

static void devices_go_and_come(void)
{
	long long before;

	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "disk_io", "disk_io:sdb", "net_io");
	before = got("disk_io");
	shell("rm -r %s/sys/block/%s", "sdb");
	read_again();
	HAS("disk_io", before);
	CHECK_INT(state[place("disk_io")], SMP_VALID | SMP_RESTARTED);
	CHECK_INT(state[place("disk_io:sdb")] & SMP_VALID, 0);
	read_again();
	CHECK_INT(state[place("disk_io")], SMP_VALID);
	/* another disk comes: all that it has moved, it has moved since */
	make_folder("/sys/block/sdc/device");
	put("/sys/block/sdc/stat", "1 0 100 0 1 0 50 0 0 0 0");
	read_again();
	HAS("disk_io", before + 150 * 512);
	/* the first one is back, counting from 0 */
	make_folder("/sys/block/sdb/device");
	put("/sys/block/sdb/stat", "1 0 7 0 1 0 0 0 0 0 0");
	read_again();
	HAS("disk_io", before + 157 * 512);
	HAS("disk_io:sdb", (30 + 7) * 512);
	drop();
}

/* A device whose name is too long is left out of the list, and of the sum. */
static void names_of_devices_have_a_limit(void)
{
	char fits[] = "/sys/block/1234567890123456789012345678901234567890123456789012345678901fs",
	     longer[] = "/sys/block/1234567890123456789012345678901234567890123456789012345678901fst", path[128],
	     name[100];

	unpack("two-sockets");
	snprintf(path, sizeof(path), "%s/device", fits);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/stat", fits);
	put(path, "1 0 100 0 1 0 50 0 0 0 0");
	snprintf(path, sizeof(path), "%s/device", longer);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/stat", longer);
	put(path, "1 0 1000 0 1 0 500 0 0 0 0");
	OPEN(SMP_NODE, 0, "disk_io:* on", "disk_io");
	snprintf(name, sizeof(name), "disk_io:%s", fits + strlen("/sys/block/"));
	HAS(name, 150 * 512);
	snprintf(name, sizeof(name), "disk_io:%s", longer + strlen("/sys/block/"));
	CHECK(!planned(name), "%s", name);
	HAS("disk_io", (1000 + 2000 + 10 + 20 + 12000000000LL + 150) * 512);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(devices_go_and_come);
	RUN(names_of_devices_have_a_limit);
	return check_end();
}
