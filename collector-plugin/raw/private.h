/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the writer share. */
#ifndef COLLECTOR_PLUGIN_RAW_PRIVATE_H
#define COLLECTOR_PLUGIN_RAW_PRIVATE_H

#include <pthread.h>
#include <sys/types.h>

#include "collector-plugin/host/lock.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

struct vt_raw {
	struct vt_raw_head *head;
	char path[1100];
	dev_t device;
	ino_t inode;
	size_t block_size;
	long long max_blocks, min_blocks, flush_blocks, limit;
	long long beyond; /* so far beyond the limit a block for definitions may lie, while one is looked for */
	int autoflush, overwrite;
	struct vt_lock lock;         /* of all below */
	struct vt_raw_block **ready; /* mapped and empty, ready[0] to ready[n_ready - 1] */
	size_t n_ready;
	struct vt_raw_block **full;          /* a ring, oldest first: full[(first_full + i) % cap] */
	size_t first_full, n_full, n_sealed; /* the first n_sealed of them are */
	size_t cap;                          /* of both arrays */
	size_t mapped;                       /* blocks */
	size_t chunk;                        /* blocks that the file grows by */
	size_t taken;                        /* blocks begun since the last tick */
	struct vt_raw_stream *streams;
	struct vt_raw_stream copy[VT_RAW_COPIES];
	int closed; /* 1: takes no records, 2: and the file is complete */
	int forgotten;
	int alone; /* vt_raw_tick() is not called */
	void (*stopped)(const char *path, int why);
	_Atomic int64_t no_room_until; /* CLOCK_MONOTONIC_COARSE, ns: the file is not asked for room before */
	int no_room;                   /* errno then */
	pid_t keeper;                  /* thread that may use keeper_fd; 0: none */
	int keeper_fd;
	_Atomic uint32_t wake; /* futex */
	_Atomic uint32_t sleeping;
	char *window; /* the file from its first block on, as far as it may grow; NULL: blocks are mapped one by one */
	size_t window_size;
	int was_ready;  /* the latest blocks: the sampler process had made room for them */
	uint64_t given; /* vt_raw_tick() of the sampler process: places given out then */
	void *arrays;
	size_t arrays_size;
};

/* Room on the disk, so that a store can never fail. Returns 0 or an errno. */
int vt_raw_reserve(int fd, off_t offset, off_t size);

static inline struct vt_raw_block **vt_raw_full_at(struct vt_raw *r, size_t i)
{
	return &r->full[(r->first_full + i) % r->cap];
}

/* A block of the given stream, begun; NULL with the reason in the head. r->lock is held. */
struct vt_raw_block *vt_raw_begin_block(struct vt_raw *r, struct vt_raw_stream *s, enum vt_raw_kind kind, int64_t base);

/* grow.c. All but the first two with r->lock held; int: 0 or an errno. */
void vt_raw_close_again(struct vt_raw *r, int fd);
/* Has the program given up system calls? Then what is mapped is filled, and no more. The sampler process, which has the file, too, has not. */
int vt_raw_is_forbidden(const struct vt_raw *r);
/* n places at the end of the file, which another process may want too; *at: where. */
int vt_raw_take_places(struct vt_raw *r, size_t n, off_t *at);
/* They could not be filled. Where another process has taken some after them they stay empty. */
void vt_raw_give_places_back(struct vt_raw *r, size_t n, off_t at);
/* Makes the file longer by a chunk, or by as little as one block near its limits. */
int vt_raw_grow_some(struct vt_raw *r);
/* In the sampler process, without the lock. */
void vt_raw_make_room_ahead(struct vt_raw *r);

/* create.c. The head of a file that begins to record, signed. */
void vt_raw_fill_head(struct vt_raw_head *h, const struct vt_raw_options *o, size_t head_size, size_t block_size);
enum { VT_RAW_PATH_SIZE = 1200 };
/* The file gets its name with its head in it, so that a process that is killed in between leaves none without. Returns a
 * descriptor; `temporary`, of VT_RAW_PATH_SIZE bytes, is the name that it has meanwhile, "" where none is needed. -1 with
 * errno. */
int vt_raw_open_nameless(const char *path, char *temporary);
/* Gives it its name, never in place of another file. Returns 0, or -1 with errno. */
int vt_raw_publish(int fd, const char *temporary, const char *path);

#endif
