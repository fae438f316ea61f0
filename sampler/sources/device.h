/* SPDX-License-Identifier: BSD-3-Clause */
/* What disks, network interfaces and RDMA ports have in common: devices that come and go, each with two
 * running totals (in and out), kept open one by one, and sums over those that are the machine's own. */
#ifndef SAMPLER_SOURCES_DEVICE_H
#define SAMPLER_SOURCES_DEVICE_H

#include "sampler/private.h"

enum { SMP_DEVICE_NAME = 64, SMP_DEVICE_FILES = 2 };

/* One kind of device. */
struct smp_device_class {
	const char *prefix;       /* of the counters: "disk_" */
	const char *suffix[3];    /* of sum, in and out: "io", "read", "write" */
	const char *what[3];      /* "read from", "written to" */
	const char *noun, *nouns; /* "disk", "whole physical disks" */
	const char *fact;         /* word of smp_env.hw in front of a name, "disk:", or NULL */
	const char *none;         /* why the sums are missing where the class cannot be read */
	int n_files;
	unsigned scale;   /* bytes per unit of the kernel's count */
	uint64_t fastest; /* bytes per second that no device exceeds: a late comer that shows more than it
				   * can have moved was counted elsewhere before. 0: late comers start at 0 */
	/* Calls each(name) for all devices; returns as smp_dir_each(). */
	int (*names)(int root, int (*each)(const char *name, void *ctx), void *ctx);
	/* The i-th file of a device, at most size bytes. */
	void (*path)(int root, const char *name, int i, char *buf, size_t size);
	/* What the i-th file says, into raw[0] (in) and raw[1] (out). Returns 0 or -1. */
	int (*parse)(int i, const char *text, uint64_t raw[2]);
	/* Is it the machine's own, so that all such devices together count everything once? */
	int (*own)(int root, const char *name);
	/* NULL, or: does it show nothing itself, because other devices count for it? Returns 1 with the reason, or
	 * 0. */
	int (*elsewhere)(int root, const char *name, char *buf, size_t size);
};

/* Is it a whole physical disk, a system interface? disk.c, net.c. */
int smp_disk_own(int root, const char *name);
int smp_net_own(int root, const char *name);

int smp_device_list(const struct smp_device_class *class, const struct smp_env *env, const char *hint, smp_each each,
	void *ctx, char why[SMP_TEXT]);
void *smp_device_open(const struct smp_device_class *class, const struct smp_env *env, const char *const *names,
	size_t n, char (*why_each)[SMP_TEXT], char why[SMP_TEXT]);
int smp_device_read(void *set, union smp_value *value, uint8_t *state);
void smp_device_close(void *set);
uint64_t smp_device_mark(const struct smp_device_class *class, const struct smp_env *env);

#endif
