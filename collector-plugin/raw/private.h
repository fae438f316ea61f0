/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the writer share. */
#ifndef COLLECTOR_PLUGIN_RAW_PRIVATE_H
#define COLLECTOR_PLUGIN_RAW_PRIVATE_H

#include <pthread.h>
#include <sys/types.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

struct vt_raw {
	struct vt_raw_head *head;
	char path[1100];
	dev_t device;
	ino_t inode;
	size_t block_size;
	long long max_blocks, min_blocks, flush_blocks, limit;
	int autoflush, overwrite;
	pthread_mutex_t lock;             /* of all below */
	struct vt_raw_block **ready;      /* mapped and empty, ready[0] to ready[n_ready - 1] */
	size_t n_ready;
	struct vt_raw_block **full;       /* a ring, oldest first: full[(first_full + i) % cap] */
	size_t first_full, n_full, n_sealed; /* the first n_sealed of them are */
	size_t cap;                       /* of both arrays */
	size_t mapped;                    /* blocks */
	_Atomic uint64_t file_blocks;      /* changed under the lock, read by vt_raw_size() without */
	size_t chunk;                     /* blocks that the file grows by */
	size_t taken;                     /* blocks begun since the last tick */
	struct vt_raw_stream *streams;
	uint32_t n_streams;
	struct vt_raw_stream copy[VT_RAW_COPIES];
	uint64_t n_definitions;
	int closed, forgotten;
	_Atomic uint32_t sessions;        /* clock sessions that are over */
	pid_t keeper;                     /* thread that may use keeper_fd; 0: none */
	int keeper_fd;
	_Atomic uint32_t wake;            /* futex */
	_Atomic uint32_t sleeping;
	void *arrays;
	size_t arrays_size;
};

/* A block of the given stream, begun; NULL with the reason in the head. r->lock is held. */
struct vt_raw_block *vt_raw_begin_block(struct vt_raw *r, struct vt_raw_stream *s, enum vt_raw_kind kind, int64_t base);

/* create.c. The head of a file that begins to record, signed. */
void vt_raw_fill_head(struct vt_raw_head *h, const struct vt_raw_options *o, size_t head_size, size_t block_size);
enum { VT_RAW_PATH_SIZE = 1200 };
/* The file gets its name with its head in it, so that a process that is killed in between leaves none without. Returns a
 * descriptor; `temporary`, of VT_RAW_PATH_SIZE bytes, is the name that it has meanwhile, "" where none is needed. -1 with
 * errno. */
int vt_raw_open_nameless(const char *path, char *temporary);
/* Gives it its name, never in place of another file. Returns 0, or -1 with errno. */
int vt_raw_publish(int fd, char *temporary, const char *path);

#endif
