/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one component file inside stf/, with a buffer, the current time and, for data files, anchors. A record
 * costs one comparison and its stores. Everything that depends on earlier records (anchors, histories, counts,
 * smallest and largest time) is found by walking the buffer once per 64 KiB block, not per record. */
#ifndef STF_WRITE_STREAM_H
#define STF_WRITE_STREAM_H

#include "stf/format/blocks.h"
#include "stf/write/history.h"
#include "stf/write/outfile.h"

struct stf_stream;

/* Writes an anchor for this offset into s->anc. Returns 0 or -1. */
typedef int (*stf_anchor_fn)(struct stf_stream *s, uint64_t offset);

struct stf_stream {
	uint8_t *cur, *limit; /* a record that fits before limit is only stored */
	uint64_t now;         /* current time of the file; 0 in files that are not data files */
	uint8_t *buf, *end;
	uint8_t *seen;          /* the history has taken in the buffer up to here */
	uint64_t base;          /* offset of buf in the file */
	uint64_t anchored;      /* offset of the last anchor */
	uint64_t seen_now;      /* current time at `seen` */
	struct stf_err *err;    /* the writer's error; an earlier error is never overwritten */
	int big, level, memory; /* memory: no file, the buffer grows */
	int closed;
	uint8_t *used; /* [256], the writer's: ids of records that were written */
	struct stf_blocks blocks;
	void *block_hash; /* running hash of the current block; NULL: no hash is computed */
	uint8_t *hashed;  /* the hash covers the buffer up to here */
	/* smallest size of a block, after which it ends; 0: the owner of the stream ends blocks */
	uint64_t block_start, block_step;
	struct stf_out out;
	struct stf_zst *zst;               /* the writer's; NULL: not compressed */
	struct stf_buf frames;             /* for each compressed frame: its size and its content's size */
	struct stf_history_state *history; /* data files only */
	struct stf_stream *anc;
	stf_anchor_fn put_anchor; /* with anc */
	/* the stream of the declarations that this stream needs; it is written to the disk first */
	struct stf_stream *ahead;
	uint32_t file; /* file_declaration id */
	char suffix[24];
};

/* many: the stream is one of many, so it must not keep a file open nor use much memory. */
struct stf_stream *stf_stream_new(const struct stf_where *to, const char *suffix, int many);
/* Makes the stream a data file: gives it anchors, the first one at offset 0, each written by put_anchor. */
int stf_stream_add_anchors(struct stf_stream *s, const struct stf_where *to, stf_anchor_fn put_anchor);
/* Writes out the buffer and closes the file. */
int stf_stream_close(struct stf_stream *s);
void stf_stream_free(struct stf_stream *s);
uint64_t stf_stream_offset(const struct stf_stream *s);
/* From now on a block ends as soon as it has `step` bytes. */
void stf_stream_blocks(struct stf_stream *s, uint64_t step);
/* Ends the current block here, if it has at least `least` bytes. */
int stf_stream_end_block(struct stf_stream *s, uint64_t least);
/* Extends the history to the end of the buffered bytes. */
int stf_stream_walk(struct stf_stream *s);

uint8_t *stf_room_slow(struct stf_stream *s, uint64_t size, uint64_t time, uint32_t *dt);

/* Returns the place for a record of `size` bytes at `time`; *dt is the value for its time field. NULL: error. */
static inline uint8_t *stf_room(struct stf_stream *s, uint64_t size, uint64_t time, uint32_t *dt)
{
	uint64_t d = time - s->now;

	/* the first comparison is needed, because a step back over nearly all of 64 bits looks like a small step
	 * forward */
	if (__builtin_expect(time >= s->now && d <= UINT32_MAX && size <= (uint64_t)(s->limit - s->cur), 1)) {
		*dt = (uint32_t)d;
		s->now = time;
		return s->cur;
	}
	return stf_room_slow(s, size, time, dt);
}

#endif
