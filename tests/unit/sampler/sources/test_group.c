/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of several devices of a kind, and what those lack. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

#include <fcntl.h>

/* ---- descriptors --------------------------------------------------------------------------------- */

/* A program may close all descriptors and open its own under the numbers. */
static int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++) {
		n += fcntl(fd, F_GETFD) >= 0;
	}
	return n;
}

static void counters_of_several_devices(void)
{
	int before = open_descriptors();
	long long ops;

	unpack("batch-node");
	OPEN(SMP_NODE, 0, "disk_ops", "disk_ops:sdb", "disk_inflight", "net_rx_drops", "numa_*", "edac_*");
	HAS("disk_ops", 306);
	HAS("disk_ops:sdb", 6);
	HAS("disk_inflight", 2 + 9);
	HAS("net_rx_drops", 7007);
	HAS("numa_miss", 30);
	put("/sys/block/sda/stat", "110 0 0 0 205 0 0 0 1 0 0\n");
	put("/sys/block/dm-0/stat", "999 0 0 0 999 0 0 0 1 0 0\n");
	read_again();
	HAS("disk_ops", 110 + 205 + 6);
	HAS("disk_ops:sdb", 6);
	HAS("disk_inflight", 1 + 9);
	/* a level falls, a total goes on from where it was */
	ops = got("disk_ops");
	put("/sys/block/sda/stat", "1 0 0 0 1 0 0 0 0 0 0\n");
	read_again();
	HAS("disk_inflight", 0 + 9);
	CHECK(got("disk_ops") >= ops, "the total fell from %lld to %lld", ops, got("disk_ops"));
	CHECK(state[place("disk_ops")] & SMP_LEFT_OUT, "a reading that contradicts without a mark");
	put("/sys/block/sda/stat", "3 0 0 0 1 0 0 0 0 0 0\n");
	read_again();
	put("/sys/block/sda/stat", "8 0 0 0 1 0 0 0 0 0 0\n");
	read_again();
	HAS("disk_ops", ops + 7);
	CHECK(state[place("disk_ops")] & SMP_RESTARTED, "the total began anew without a mark");
	/* files without a number, or with no text at all */
	put("/sys/devices/system/node/node0/numastat", "other 1\n");
	put("/sys/devices/system/node/node1/numastat", "");
	read_again();
	CHECK_INT(state[place("numa_miss")], 0);
	drop();
	CHECK_INT(open_descriptors(), before);
	/* some devices have the file of one counter and not that of another */
	unpack("batch-node");
	shell("rm %s/sys/devices/system/edac/mc/mc*/ue_count%s", "");
	put("/sys/devices/system/node/node0/numastat", "numa_hit 5\n");
	put("/sys/devices/system/node/node1/numastat", "numa_hit 6\n");
	OPEN(SMP_NODE, 0, "edac_*", "numa_hit", "numa_miss", "disk_ops:sdq", "lustre_*");
	HAS("edac_corrected", 7);
	HAS("numa_hit", 11);
	CHECK(planned("edac_uncorrected") && planned("edac_uncorrected")->missing,
		"a file that is not there is readable");
	CHECK(planned("numa_miss") && planned("numa_miss")->missing &&
			strstr(planned("numa_miss")->missing, "no such number"),
		"%s",
		planned("numa_miss") && planned("numa_miss")->missing ? planned("numa_miss")->missing : "not missing");
	CHECK(planned("disk_ops:sdq") && planned("disk_ops:sdq")->missing, "a disk that is not there");
	HAS("lustre_ops_open", 9);
	drop();
	CHECK_INT(open_descriptors(), before);
}

/* Lustre makes a line when it is first needed. */
static void lines_of_lustre_come_later(void)
{
	static const char begun[] = "snapshot_time             1700000000.123456789 secs.nsecs\n";

	unpack("batch-node");
	shell("rm -rf %s/proc/fs/lustre %s", "");
	make_folder("/proc/fs/lustre/llite/scratch-1");
	put("/proc/fs/lustre/llite/scratch-1/stats", begun);
	OPEN(SMP_NODE, 0, "lustre_*", "lustre_write:scratch-1");
	HAS("lustre_write", 0);
	HAS("lustre_ops_getattr", 0);
	put("/proc/fs/lustre/llite/scratch-1/stats",
		"snapshot_time 1700000001.1 secs.nsecs\nwrite_bytes 2 samples [bytes] 1 5000 6000\n");
	read_again();
	HAS("lustre_write", 6000);
	HAS("lustre_write:scratch-1", 6000);
	HAS("lustre_ops_write", 2);
	HAS("lustre_read", 0);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(counters_of_several_devices);
	RUN(lines_of_lustre_come_later);
	return check_end();
}
