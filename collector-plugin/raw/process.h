/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies a process: its birth and the boot of the machine, because a process id alone may be used again. */
#ifndef COLLECTOR_PLUGIN_RAW_PROCESS_H
#define COLLECTOR_PLUGIN_RAW_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* Returns when a process (0: the calling one) was born, in clock ticks since boot; 0: it does not exist, or is a
 * zombie. */
uint64_t vt_raw_born(uint32_t pid);
/* Writes the boot id of this node to buf, "" if unknown. */
void vt_raw_boot(char *buf, size_t size);

#endif
