/* SPDX-License-Identifier: BSD-3-Clause */
/* Disk transfers: disk_io of the Intel Trace Collector guide, over whole physical disks, and their requests. To read the
 * sysfs file of one disk costs a fifth of reading /proc/diskstats, which also lists partitions, loop devices and stacked
 * devices. */
#include "config.h"
#include "sampler/sources/device.h"

#include <stdlib.h>

#include "base/rootfs.h"

/* Sectors that were read and written; a sector is 512 bytes whatever the disk has. */
static uint64_t sectors_moved(int root, const char *stat)
{
	char text[256];
	union smp_value read, written;
	struct smp_text_counter at = { .where = SMP_WORD, .nth = 3 }, then = { .where = SMP_WORD, .nth = 7 };

	return tkm_root_read(root, stat, text, sizeof(text)) > 0 && smp_text_find(&at, text, &read) == 0 &&
			smp_text_find(&then, text, &written) == 0
		? read.u + written.u
		: 0;
}

/* Those of disk nvme<subsystem>n<space>: nvme<subsystem>c...n<space>. */
struct paths {
	char subsystem[32], space[32];
	int root;
	uint64_t moved; /* sectors, through all paths */
	int n;
};

static int count_path(const char *name, void *ctx)
{
	struct paths *p = ctx;
	char subsystem[32], space[32], end[2], at[160];

	if (sscanf(name, "nvme%31[0-9]c%*[0-9]n%31[0-9]%1s", subsystem, space, end) == 2 &&
		!strcmp(subsystem, p->subsystem) && !strcmp(space, p->space)) {
		p->n++;
		snprintf(at, sizeof(at), "/sys/block/%s/stat", name);
		p->moved += sectors_moved(p->root, at);
	}
	return 0;
}

/* Counts the paths of this disk. If there are any, the disk itself only stands for them. */
static int paths_of(int root, const char *name, struct paths *p)
{
	char end[2];

	*p = (struct paths){ .root = root };
	if (sscanf(name, "nvme%31[0-9]n%31[0-9]%1s", p->subsystem, p->space, end) == 2) {
		smp_dir_each(root, "/sys/block", count_path, p);
	}
	return p->n;
}

/* A physical disk is on a bus, so it has a device. dm, md, loop, zram and nbd are built on others or on nothing. Of
 * an NVMe disk with several paths (hidden disks), the paths count: all kernels count I/O there, and kernels before
 * 6.4 do not count it at the disk. */
int smp_disk_own(int root, const char *name)
{
	struct tkm_printed at = { 0 };
	struct paths p;
	const char *device = tkm_printed(&at, "/sys/block/%s/device", name);
	int own = device && smp_exists(root, device) && paths_of(root, name, &p) == 0;

	free(at.text);
	return own;
}

static int elsewhere(int root, const char *name, char why[SMP_TEXT])
{
	struct paths p;
	char at[160];

	if (paths_of(root, name, &p) == 0 || p.moved == 0) {
		return 0;
	}
	snprintf(at, sizeof(at), "/sys/block/%s/stat", name);
	if (sectors_moved(root, at) > 0) {
		return 0;
	}
	smp_why(why, "this kernel counts what disk %s moves at its %d paths only: disk_io:nvme%sc*n%s", name, p.n,
		p.subsystem, p.space);
	return 1;
}

enum { READS = 1, READ_SECTORS, READ_MS, WRITES, WRITTEN_SECTORS, WRITE_MS, IN_FLIGHT, BUSY_MS, QUEUE_MS, N_VALUES };

/* Up to 100 GB and 100 million requests per second. */
#define SECTORS(n) \
	{ \
		"stat", .at = { .where = SMP_WORD, .nth = n, .can = { .fastest = 200000000 } }, .scale = 512 \
	}
#define COUNT(n, most) \
	{ \
		"stat", .at = {.where = SMP_WORD, .nth = n, .can = { .fastest = most } } \
	}
static const struct smp_device_value value[N_VALUES] = {
	[READS] = COUNT(1, 100000000),
	[READ_SECTORS] = SECTORS(3),
	[READ_MS] = COUNT(4, 1000000000),
	[WRITES] = COUNT(5, 100000000),
	[WRITTEN_SECTORS] = SECTORS(7),
	[WRITE_MS] = COUNT(8, 1000000000),
	/* some kernels show -1, as a number without sign */
	[IN_FLIGHT] = { "stat", .at = { .where = SMP_WORD, .nth = 9, .most = INT32_MAX } },
	[BUSY_MS] = COUNT(10, 1100),
	[QUEUE_MS] = COUNT(11, 1000000000),
};

static const struct smp_device_kind disks = {
	.folder = { "/sys/block", NULL },
	.begins = "",
	.noun = "disk",
	.nouns = "whole physical disks",
	.none = "/sys/block cannot be read: is /sys mounted?",
	.always = 1,
	.value = value,
	.n_values = N_VALUES,
	.own = smp_disk_own,
	.elsewhere = elsewhere,
	.identity = "dev",
	.birth = "diskseq", /* since Linux 5.15 */
};

#define TOTAL SMP_TOTAL
#define LEVEL SMP_LEVEL
/* clang-format off */
static const struct smp_device_counter counters[] = {
	{ &disks, "disk_io", "bytes", "read from and written to %s", TOTAL, 1.0 / 1024, "KB/s", { READ_SECTORS, WRITTEN_SECTORS } },
	{ &disks, "disk_read", "bytes", "read from %s", TOTAL, 1.0 / 1024, "KB/s", { READ_SECTORS, 0 } },
	{ &disks, "disk_write", "bytes", "written to %s", TOTAL, 1.0 / 1024, "KB/s", { WRITTEN_SECTORS, 0 } },
	{ &disks, "disk_ops", "requests", "read and write requests that disks completed", TOTAL, 0, "requests/s", { READS, WRITES } },
	{ &disks, "disk_ops_read", "requests", "read requests that disks completed", TOTAL, 0, "requests/s", { READS, 0 } },
	{ &disks, "disk_ops_write", "requests", "write requests that disks completed", TOTAL, 0, "requests/s", { WRITES, 0 } },
	{ &disks, "disk_wait", "ms", "time that completed requests took, summed up: divided by disk_ops it is the mean latency", TOTAL, 0, NULL, { READ_MS, WRITE_MS } },
	{ &disks, "disk_busy", "ms", "time in which disks had requests to serve, summed over disks", TOTAL, 0.1, "percent", { BUSY_MS, 0 } },
	{ &disks, "disk_queue", "ms", "time that requests spent in queue and disk: its rate is the mean length of the queue", TOTAL, 1e-3, "requests", { QUEUE_MS, 0 } },
	{ &disks, "disk_inflight", "requests", "requests that disks are serving or have in their queues", LEVEL, 0, NULL, { IN_FLIGHT, 0 } },
};
/* clang-format on */
static const struct smp_device_source source = { counters, sizeof(counters) / sizeof(counters[0]) };

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	(void)why;
	return smp_device_list(&source, env, hint, each, ctx);
}

static uint64_t mark(const struct smp_env *env)
{
	return smp_device_mark(&disks, env);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *wanted, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	(void)target;
	return smp_device_open(&source, env, wanted, n, why_each, why);
}

const struct smp_source smp_disk = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "disk",
	.what = "bytes and requests of disks, of the node",
	.list = list,
	.open = open_set,
	.read = smp_device_read,
	.close = smp_device_close,
	.mark = mark,
};
