/* SPDX-License-Identifier: BSD-3-Clause */
/* Disk transfers: disk_io of the Intel Trace Collector guide, over whole physical disks. To read the sysfs file of
 * one disk costs a fifth of reading /proc/diskstats, which also lists partitions, loop devices and stacked devices. */
#include "config.h"
#include "sampler/sources/device.h"

#include "base/rootfs.h"

static int names(int root, int (*each)(const char *name, void *ctx), void *ctx)
{
	return smp_dir_each(root, "/sys/block", each, ctx);
}

static void path(int root, const char *name, int i, char *buf, size_t size)
{
	(void)root;
	(void)i;
	snprintf(buf, size, "/sys/block/%s/stat", name);
}

/* reads, merged, sectors, ms, writes, merged, sectors, ...; a sector is 512 bytes whatever the disk has. */
static int parse(int i, const char *text, uint64_t raw[2])
{
	uint64_t v[7];
	int k;

	(void)i;
	for (k = 0; k < 7; k++) {
		if (smp_number(&text, &v[k]) < 0) {
			return -1;
		}
	}
	raw[0] = v[2];
	raw[1] = v[6];
	return 0;
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
	char subsystem[32], space[32], end[2], at[160], text[256];
	uint64_t raw[2] = { 0, 0 };

	if (sscanf(name, "nvme%31[0-9]c%*[0-9]n%31[0-9]%1s", subsystem, space, end) == 2 &&
		!strcmp(subsystem, p->subsystem) && !strcmp(space, p->space)) {
		p->n++;
		snprintf(at, sizeof(at), "/sys/block/%s/stat", name);
		if (tkm_root_read(p->root, at, text, sizeof(text)) > 0 && parse(0, text, raw) == 0) {
			p->moved += raw[0] + raw[1];
		}
	}
	return 0;
}

/* Counts the paths of this disk. If there are any, the disk itself only stands for them. */
static int paths_of(int root, const char *name, struct paths *p)
{
	char end[2];

	*p = (struct paths){ .root = root };
	if (sscanf(name, "nvme%31[0-9]n%31[0-9]%1s", p->subsystem, p->space, end) == 2) {
		names(root, count_path, p);
	}
	return p->n;
}

/* A physical disk is on a bus, so it has a device. dm, md, loop, zram and nbd are built on others or on nothing. Of
 * an NVMe disk with several paths (hidden disks), the paths count: all kernels count I/O there, and kernels before
 * 6.4 do not count it at the disk. */
int smp_disk_own(int root, const char *name)
{
	struct paths p;
	char at[160];

	snprintf(at, sizeof(at), "/sys/block/%s/device", name);
	return smp_exists(root, at) && paths_of(root, name, &p) == 0;
}

static int elsewhere(int root, const char *name, char *buf, size_t size)
{
	struct paths p;
	char at[160], text[256];
	uint64_t raw[2] = { 0, 0 };

	if (paths_of(root, name, &p) == 0 || p.moved == 0) {
		return 0;
	}
	snprintf(at, sizeof(at), "/sys/block/%s/stat", name);
	if (tkm_root_read(root, at, text, sizeof(text)) <= 0 || parse(0, text, raw) < 0 || raw[0] + raw[1] > 0) {
		return 0;
	}
	snprintf(buf, size, "this kernel counts what disk %s moves at its %d paths only: disk_io:nvme%sc*n%s", name,
		p.n, p.subsystem, p.space);
	return 1;
}

static const struct smp_device_class class = {
	.prefix = "disk_",
	.suffix = { "io", "read", "write" },
	.what = { "read from and written to", "read from", "written to" },
	.noun = "disk",
	.nouns = "whole physical disks",
	.fact = "disk:",
	.none = "/sys/block cannot be read: is /sys mounted?",
	.n_files = 1,
	.scale = 512,
	.names = names,
	.path = path,
	.parse = parse,
	.own = smp_disk_own,
	.elsewhere = elsewhere,
};

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	return smp_device_list(&class, env, hint, each, ctx, why);
}

static uint64_t mark(const struct smp_env *env)
{
	return smp_device_mark(&class, env);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *wanted, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	(void)target;
	return smp_device_open(&class, env, wanted, n, why_each, why);
}

const struct smp_source smp_disk = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "disk",
	.what = "bytes read and written by disks, of the node",
	.list = list,
	.open = open_set,
	.read = smp_device_read,
	.close = smp_device_close,
	.mark = mark,
};
