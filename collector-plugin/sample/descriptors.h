/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of descriptors for the background thread alone. */
#ifndef COLLECTOR_PLUGIN_SAMPLE_DESCRIPTORS_H
#define COLLECTOR_PLUGIN_SAMPLE_DESCRIPTORS_H

#include <stdint.h>

#include "sampler/source.h"

/* The entry that getdents64(2) writes. */
struct dirent64 {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* Gives the calling thread its own descriptors. The copies of the program's descriptors are closed at once: when the
 * program closes a pipe, no copy may keep it open. The descriptors of `shared`, a set that both read, stay. Returns
 * 1, or 0 if that is not possible here; then the table stays the program's. */
int vt_own_descriptors(const struct smp_set *shared);

#endif
