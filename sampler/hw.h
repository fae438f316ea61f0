/* SPDX-License-Identifier: BSD-3-Clause */
/* What hwloc knows about this machine's devices. Only for programs, which list hw.c among their sources: libraries
 * that are loaded into other programs link libc only. */
#ifndef SAMPLER_HW_H
#define SAMPLER_HW_H

#include <stddef.h>

/* Which disks are whole and physical, which network interfaces are the system's own: words "disk:NAME" and "nic:NAME" for
 * struct smp_env.hw, with blanks between. "" where hwloc has no information or was not built in: then the sources judge
 * themselves. */
void smp_hw_facts(char *words, size_t size);

#endif
