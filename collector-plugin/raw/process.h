/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process, on which boot of the machine: a process id alone may be used again. */
#ifndef COLLECTOR_PLUGIN_RAW_PROCESS_H
#define COLLECTOR_PLUGIN_RAW_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* When a process (0: this one) was born, clock ticks since boot; 0: there is none, or it is a zombie. */
uint64_t vt_raw_born(uint32_t pid);
/* The boot id of this node, "" if unknown. */
void vt_raw_boot(char *buf, size_t size);

#endif
