/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices with a file each go and come, under names of any length. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

static void devices_go_and_come(void)
{
	long long before;

	unpack("two-sockets");
	put("/sys/block/sda/diskseq", "3\n");
	put("/sys/block/sdb/diskseq", "4\n");
	OPEN(SMP_NODE, 0, "disk_io", "disk_io:sdb", "net_io");
	before = got("disk_io");
	shell("rm -r %s/sys/block/%s", "sdb");
	read_again();
	HAS("disk_io", before);
	CHECK_INT(state[place("disk_io")], SMP_VALID | SMP_RESTARTED);
	CHECK_INT(state[place("disk_io:sdb")] & SMP_VALID, 0);
	read_again();
	CHECK_INT(state[place("disk_io")], SMP_VALID);
	/* another disk comes, a new one: all that it has moved, it has moved since */
	make_folder("/sys/block/sdc/device");
	put("/sys/block/sdc/diskseq", "5\n");
	put("/sys/block/sdc/stat", "1 0 100 0 1 0 50 0 0 0 0");
	read_again();
	HAS("disk_io", before + 150 * 512);
	/* one that may have been elsewhere counts from its first reading on */
	make_folder("/sys/block/sdd/device");
	put("/sys/block/sdd/stat", "1 0 1000 0 1 0 500 0 0 0 0");
	read_again();
	HAS("disk_io", before + 150 * 512);
	CHECK_INT(state[place("disk_io")], SMP_VALID | SMP_RESTARTED);
	/* another one has the first one's name, and counts from 0 */
	make_folder("/sys/block/sdb/device");
	put("/sys/block/sdb/diskseq", "6\n");
	put("/sys/block/sdb/stat", "1 0 7 0 1 0 0 0 0 0 0");
	read_again();
	HAS("disk_io", before + 157 * 512);
	HAS("disk_io:sdb", (30 + 7) * 512);
	drop();
}

static void names_of_devices_are_long(void)
{
	char path[400], name[260];

	unpack("two-sockets");
	memset(name, 'x', 250);
	name[250] = '\0';
	snprintf(path, sizeof(path), "/sys/block/%s/device", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/block/%s/stat", name);
	put(path, "1 0 100 0 1 0 50 0 0 0 0");
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/rx_packets", name);
	put(path, "77");
	OPEN(SMP_NODE, 0, "disk_io:* on", "disk_io", "net_rx_packets");
	snprintf(path, sizeof(path), "disk_io:%s", name);
	HAS(path, 150 * 512);
	HAS("disk_io", (1000 + 2000 + 10 + 20 + 12000000000LL + 150) * 512);
	HAS("net_rx_packets", 77);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(devices_go_and_come);
	RUN(names_of_devices_are_long);
	return check_end();
}
