/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies a process: its birth and the boot of the machine, because a process id alone may be used again. */
#ifndef COLLECTOR_PLUGIN_RAW_PROCESS_H
#define COLLECTOR_PLUGIN_RAW_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "collector-plugin/raw/format.h"

/* Returns when a process (0: the calling one) was born, in clock ticks since boot; 0: it does not exist, or is a
 * zombie. */
uint64_t vt_raw_born(uint32_t pid);
/* Writes the boot id of this node to buf, "" if unknown. */
void vt_raw_boot(char *buf, size_t size);

/* The calling process. */
struct vt_raw_id vt_raw_own_id(void);

enum vt_raw_life {
	VT_RAW_DEAD,   /* it is gone, or a zombie */
	VT_RAW_LIVES,  /* it runs, and can be seen from here */
	VT_RAW_UNSEEN, /* it is of another host, container or time namespace, so from here it cannot be seen */
};
/* id: one of the head's. */
enum vt_raw_life vt_raw_life(const struct vt_raw_head *head, const struct vt_raw_id *id);
/* The same of the program that writes this raw file. In another container of this host it lives if its sampler process does, which
 * holds a lock on the file; the kernel drops it when that process ends. */
enum vt_raw_life vt_raw_life_of_file(const char *path, const struct vt_raw_head *head);
/* Takes this lock; fd: of the raw file, to which it belongs. Does nothing where locks may need a server. */
void vt_raw_hold(int fd);
/* What kind of file system a folder is on: one that other nodes use, too; one in memory; one that is neither, or unknown. -1: it
 * cannot be seen. *room: bytes that this user may still write. */
enum vt_raw_disk { VT_RAW_OWN_DISK, VT_RAW_IN_MEMORY, VT_RAW_SHARED };
int vt_raw_disk_of(const char *folder, uint64_t *room);
/* Is the raw file of this node, by its name, and is the program or its sampler process seen from here? */
int vt_raw_is_here(const struct vt_raw_head *head);

#endif
