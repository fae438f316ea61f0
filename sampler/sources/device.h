/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists and reads the counters of devices (device_kind.h). Each number of each device has a total of its own (count.h). */
#ifndef SAMPLER_SOURCES_DEVICE_H
#define SAMPLER_SOURCES_DEVICE_H

#include "sampler/sources/device_kind.h"

int smp_device_list(
	const struct smp_device_source *source, const struct smp_env *env, const char *hint, smp_each each, void *ctx);
void *smp_device_open(const struct smp_device_source *source, const struct smp_env *env, const char *const *names,
	size_t n, char (*why_each)[SMP_TEXT], char why[SMP_TEXT]);
int smp_device_read(void *set, union smp_value *value, uint8_t *state);
void smp_device_close(void *set);

/* Is it a whole physical disk, a system interface? disk.c, net.c. */
int smp_disk_own(int root, const char *name);
int smp_net_own(int root, const char *name);

#endif
