/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_SAMPLE_DESCRIPTORS_H
#define COLLECTOR_PLUGIN_SAMPLE_DESCRIPTORS_H

#include <stdint.h>

#include "sampler/source.h"

/* As getdents64(2) writes it. */
struct dirent64 {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* Descriptors of our own. The copies of the program's are closed at once: a pipe that the program closes must be
 * closed. Those of the set that both read stay. Returns 1. 0: not possible here, then the table stays the program's. */
int vt_own_descriptors(const struct smp_set *shared);

#endif
