/* SPDX-License-Identifier: BSD-3-Clause */
/* Extends the raw file (writer.h). */
#ifndef COLLECTOR_PLUGIN_RAW_GROW_H
#define COLLECTOR_PLUGIN_RAW_GROW_H

#include <stddef.h>
#include <sys/types.h>

struct vt_raw;

/* Returns a descriptor of the file, if it still exists, or -1 with errno. vt_raw_close_again() takes it back. */
int vt_raw_open_again(struct vt_raw *r);
void vt_raw_close_again(struct vt_raw *r, int fd);
/* The thread that created the file has it open until it calls this function. */
void vt_raw_started(struct vt_raw *r);
/* The program is about to give up system calls: maps some megabytes. The program will fill no more than these. */
void vt_raw_stock_up(struct vt_raw *r);

/* For a program whose sampler process has the file open, too: maps the file up to its largest size, which costs
 * nothing. If the program can make no system calls later, the sampler process reserves space on the disk before the
 * program needs it. If the address space is too small, nothing changes. */
void vt_raw_map_whole(struct vt_raw *r);

/* ---- for the writer only; int: 0 or an errno ---- */

/* Reserves space on the disk, so that a store can never fail. Returns 0 or an errno. */
int vt_raw_reserve(int fd, off_t offset, off_t size);

/* Has the program given up system calls? Then only blocks that are already mapped are filled. The sampler process,
 * which has the file open, too, can still make system calls. */
int vt_raw_is_forbidden(const struct vt_raw *r);
/* Takes n places at the end of the file; *at: their offset. The caller holds r->lock. Another process may take places at the same time. */
int vt_raw_take_places(struct vt_raw *r, size_t n, off_t *at);
/* Gives back places that could not be filled. If another process has taken places after them, they stay empty. The
 * caller holds r->lock. */
void vt_raw_give_places_back(struct vt_raw *r, size_t n, off_t at);
/* Makes the file longer by a chunk, or by as little as one block near its limits. The caller holds r->lock. */
int vt_raw_grow_some(struct vt_raw *r);
/* To be called in the sampler process, without the lock. */
void vt_raw_make_room_ahead(struct vt_raw *r);

#endif
