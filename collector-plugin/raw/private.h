/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the files of the writer share. */
#ifndef COLLECTOR_PLUGIN_RAW_PRIVATE_H
#define COLLECTOR_PLUGIN_RAW_PRIVATE_H

#include <pthread.h>
#include <sys/types.h>

#include "collector-plugin/host/lock.h"
#include "collector-plugin/raw/definition.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/stream.h"

struct vt_raw {
	struct vt_raw_head *head;
	char path[1100];
	dev_t device;
	ino_t inode;
	size_t block_size;
	long long max_blocks, min_blocks, flush_blocks, limit;
	long long beyond; /* how far beyond the limit a block for definitions may be, while one is looked for */
	int autoflush, overwrite;
	struct vt_lock lock;         /* protects all members below */
	struct vt_raw_block **ready; /* mapped and empty, ready[0] to ready[n_ready - 1] */
	size_t n_ready;
	struct vt_raw_block **full;          /* a ring, oldest first: full[(first_full + i) % cap] */
	size_t first_full, n_full, n_sealed; /* the first n_sealed of them are */
	size_t cap;                          /* of both arrays */
	size_t mapped;                       /* blocks */
	size_t chunk;                        /* blocks that the file grows by */
	size_t taken;                        /* blocks begun since the last vt_raw_tick() */
	struct vt_raw_stream *streams;
	struct vt_raw_stream copy[VT_RAW_COPIES];
	_Atomic uint32_t texts; /* the number of the latest text */
	int closed;             /* 1: takes no records; 2: the file is complete, too */
	int forgotten;
	int alone; /* vt_raw_tick() is not called */
	void (*stopped)(const char *path, int why);
	_Atomic int64_t no_room_until; /* CLOCK_MONOTONIC_COARSE, ns: no space is requested before this time */
	int no_room;                   /* errno of the last request for space */
	_Atomic pid_t keeper;          /* thread that may use keeper_fd; 0: none */
	int keeper_fd;
	pid_t starter; /* the thread that has the file open as start_fd, until vt_raw_started(); 0: none */
	int start_fd;
	_Atomic uint32_t wake; /* futex */
	_Atomic uint32_t sleeping;
	char *window; /* the file from its first block on, as far as it may grow; NULL: blocks are mapped one by one */
	size_t window_size;
	int was_ready;  /* the latest blocks: the sampler process had made room for them */
	uint64_t given; /* vt_raw_tick() of the sampler process: places given out then */
	void *arrays;
	size_t arrays_size;
	/* one that is being written: not on the stack, which may be one for signal handlers, with few KB */
	uint8_t definition[VT_RAW_MAX_DEFINITION];
};

static inline struct vt_raw_block **vt_raw_full_at(struct vt_raw *r, size_t i)
{
	return &r->full[(r->first_full + i) % r->cap];
}

/* Begins a block of the given stream. Returns NULL with the reason in the head. The caller holds r->lock. */
struct vt_raw_block *vt_raw_begin_block(struct vt_raw *r, struct vt_raw_stream *s, enum vt_raw_kind kind, int64_t base);

struct vt_raw_options;
/* create.c. Fills the head of a file that begins to record, with its checksum. */
void vt_raw_fill_head(struct vt_raw_head *h, const struct vt_raw_options *o, size_t head_size, size_t block_size);
enum { VT_RAW_PATH_SIZE = 1200 };
/* Opens a file without a name. It gets its name only when its head is written, so that a process that is killed in
 * between leaves no file without a head. Returns a descriptor, or -1 with errno. `temporary`, of VT_RAW_PATH_SIZE
 * bytes, is the name that the file has until then, "" if none is needed. */
int vt_raw_open_nameless(const char *path, mode_t mode, char *temporary);
/* Gives the file its name, but never replaces another file. Returns 0, or -1 with errno. */
int vt_raw_publish(int fd, const char *temporary, const char *path);

#endif
