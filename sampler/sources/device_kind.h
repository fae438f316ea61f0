/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of devices that come and go: disks, interfaces, RDMA ports, NUMA nodes, memory controllers, GPUs, mounts. Each device
 * has a folder whose files hold numbers. A counter is the sum over the devices that are the machine's own; "NAME:DEVICE"
 * is that of one device. */
#ifndef SAMPLER_SOURCES_DEVICE_KIND_H
#define SAMPLER_SOURCES_DEVICE_KIND_H

#include "base/text/printed.h"
#include "sampler/sources/text_file.h"

/* A number of a device. The table of a kind begins with an empty one. */
struct smp_device_value {
	const char *file;           /* below the device's folder */
	struct smp_text_counter at; /* where in the file, and what the number can do */
	unsigned scale;             /* recorded = number * scale; 0 is 1 */
	int instead;                /* read where a device has no number for the value before */
};

enum { SMP_DEVICE_VALUES = 24 };

/* One kind of device. */
struct smp_device_kind {
	const char *folder[2];    /* of the devices' folders; the second is used if the first does not exist */
	const char *begins;       /* what the devices' names begin with; "" */
	const char *noun, *nouns; /* "disk", "whole physical disks" */
	const char *none;         /* why the sums are missing where there is no device, or, if `always`, no folder */
	int always;               /* the sums are there without any device: 0 */
	const struct smp_device_value *value;
	size_t n_values;
	/* NULL, or: calls each(name) for all devices; returns as smp_dir_each(). */
	int (*names)(int root, int (*each)(const char *name, void *ctx), void *ctx);
	/* NULL, or: the path of a device's file. */
	const char *(*path)(int root, const char *name, const char *file, struct tkm_printed *path);
	/* NULL: yes, or: is it the machine's own, so that all such devices together count everything once? */
	int (*own)(int root, const char *name);
	/* NULL, or: does it show nothing itself, because other devices count for it? Returns 1 with the reason, or 0. */
	int (*elsewhere)(int root, const char *name, char why[SMP_TEXT]);
	/* NULL, or files below the device's folder. What the first says is another device's if it changes. The number in the
	 * second is greater for each device that is made; born_most: more than this per second is not a new one's. */
	const char *identity, *birth;
	uint64_t born_most;
	int birth_near; /* the numbers of new devices follow each other closely */
};

struct smp_device_counter {
	const struct smp_device_kind *device;
	const char *name, *unit;
	const char *what; /* "%s" in it: the devices */
	enum smp_kind kind;
	double factor;
	const char *shown_unit;
	unsigned char of[2]; /* indices of values; the second may be 0 */
};

struct smp_device_source {
	const struct smp_device_counter *counter;
	size_t n;
};

/* The folder of the devices' folders. */
const char *smp_device_folder(const struct smp_device_kind *kind, int root);
/* Calls each(name) for the devices of a kind; returns as smp_dir_each(). */
int smp_device_names(const struct smp_device_kind *kind, int root, int (*each)(const char *name, void *ctx), void *ctx);
const char *smp_device_path(
	const struct smp_device_kind *kind, int root, const char *name, const char *file, struct tkm_printed *path);
/* Finds a counter by "NAME" or "NAME:DEVICE". Returns NULL if there is none; *device is "" for the sum. */
const struct smp_device_counter *smp_device_counter(
	const struct smp_device_source *s, const char *name, const char **device);
/* For smp_source.mark. */
uint64_t smp_device_mark(const struct smp_device_kind *kind, const struct smp_env *env);

#endif
