/* SPDX-License-Identifier: BSD-3-Clause */
/* The writing side inside stf/: one component file being written, with a buffer, the current time and,
 * for data files, anchors. A record costs one comparison and its stores; whatever needs the content
 * of earlier records (anchors, histories, counts, smallest and largest time) is found by walking the buffer once
 * per 64 KiB block, not per record. */
#ifndef STF_STREAM_H
#define STF_STREAM_H

#include "stf/blocks.h"
#include "stf/identity.h"
#include "stf/private.h"

/* ---- outfile.c: a file under a temporary name ---- */

struct stx_out {
	int fd;           /* -1: closed or never opened */
	int park;         /* close it after each write, and open it for the next */
	int published;    /* has its final name: discard removes that one */
	uint64_t size;    /* bytes written */
	void *hash;       /* of them, until it is closed; NULL: not taken */
	int hashed;       /* then this is what it came to */
	uint64_t digest;
	char *final_name, *temp_name;
	char *aside;      /* where the file that had the name before waits, or is to wait */
	int set_aside;
};

struct stx_where;

/* Creates a temporary file beside `path` with O_EXCL. Without force an existing `path` is an error. */
int stx_out_open(struct stx_out *o, const char *path, int force, struct stf_err *err);
/* Takes over a complete file that another writer left under the temporary name of n bytes. */
int stx_out_adopt(struct stx_out *o, const struct stx_where *to, const char *suffix, const char *name, size_t n,
		  struct stf_err *err);
int stx_out_write(struct stx_out *o, const void *p, size_t n, struct stf_err *err);
/* Empties the file again; what was written so far was for a reader of a writer that was killed. */
int stx_out_restart(struct stx_out *o, struct stf_err *err);
int stx_out_close(struct stx_out *o, struct stf_err *err);
/* From now on holds no file open between two writes. */
int stx_out_park(struct stx_out *o, struct stf_err *err);
/* With force: gives the file that has the name now another one, until stx_out_keep() or stx_out_discard(). */
int stx_out_set_aside(struct stx_out *o, struct stf_err *err);
/* Gives the file its name; without force never replaces another. */
int stx_out_publish(struct stx_out *o, int force, struct stf_err *err);
/* The file stays, what was set aside goes. */
void stx_out_keep(struct stx_out *o);
/* Removes the file under whichever name it has; what was set aside comes back. */
void stx_out_discard(struct stx_out *o);
void stx_out_free(struct stx_out *o);

/* ---- history.c: what a reader must know when it begins at an anchor ---- */

struct stx_history;
struct stx_stream;

struct stx_history *stx_history_new(void);
void stx_history_free(struct stx_history *h);
/* Takes in the records [p, end) that stand at `offset` of a data file whose time is *now; advances
 * *now. -1: no memory. */
int stx_history_absorb(struct stx_history *h, const uint8_t *p, const uint8_t *end, uint64_t offset, uint64_t *now,
		       int big);
/* Writes anchor, begin_of_history, the histories, end_of_history to `anc`: the last value of each counter whoever
 * sampled it, and, unless they would take too much room, those of each thread. */
int stx_history_anchor(struct stx_history *h, struct stx_stream *anc, uint32_t file, uint64_t time_prev,
		       uint64_t offset);
/* Writes what is known just before `from` to `to`: counter_value for each thread, counter_history of the values of
 * which no thread is known, stacks, records under way. */
int stx_history_state(struct stx_history *h, struct stx_stream *to, uint32_t file, uint64_t from);
/* Records of each id so far, and the smallest and largest time (none: min > max). */
const uint64_t *stx_history_counts(const struct stx_history *h);
void stx_history_times(const struct stx_history *h, uint64_t *min, uint64_t *max);

/* All that the index needs. */
struct stx_summary {
	uint64_t counts[256], min, max, n_late, most_late;
};
void stx_history_summary(const struct stx_history *h, struct stx_summary *m);
/* A history that has nothing but this. */
struct stx_history *stx_history_of(const struct stx_summary *m);

/* How many records had an earlier time than one ahead of them, and by how much at most. */
uint64_t stx_history_late(const struct stx_history *h, uint64_t *most);
/* For a reader that begins with the histories of an anchor. -1: no memory. */
int stx_history_counter(struct stx_history *h, uint32_t id, uint64_t value);
int stx_history_thread_counter(struct stx_history *h, uint32_t willy, uint32_t id, uint64_t value);
int stx_history_push(struct stx_history *h, uint32_t willy, uint32_t function, uint32_t scl);
/* A reader absorbs records one by one, maybe encoded anew: says where the one that was absorbed last really
 * stands, if it made the number of open records grow beyond `before`. */
size_t stx_history_n_open(const struct stx_history *h);
void stx_history_place_open(struct stx_history *h, size_t before, uint64_t offset, uint64_t prevtime);

/* ---- stream.c ---- */

struct stx_stream {
	uint8_t *cur, *limit; /* a record that fits before limit needs nothing but its bytes */
	uint64_t now;         /* current time of the file; 0 in files that are no data files */
	uint8_t *buf, *end;
	uint8_t *seen;        /* up to here the history has taken in the buffer */
	uint64_t base;        /* offset in the file of buf */
	uint64_t anchored;    /* offset of the last anchor */
	uint64_t seen_now;    /* current time at `seen` */
	struct stf_err *err;  /* the writer's; what stands there first stays */
	int big, level, memory; /* memory: no file, the buffer grows */
	int closed;
	uint8_t *used;        /* [256] of the writer: ids that were written */
	struct stx_blocks blocks;
	void *block_hash;     /* of the block that has begun; NULL: none is taken */
	uint8_t *hashed;      /* up to here */
	uint64_t block_start, block_step; /* a block ends as soon as it has so many bytes; 0: where its owner says */
	struct stx_out out;
	struct stx_zst *zst;  /* NULL: bytes as they are */
	struct stx_history *history; /* data files only */
	struct stx_stream *anc;
	struct stx_stream *ahead; /* declarations that what is in this one needs: on the disk first */
	uint32_t file;        /* file_declaration id */
	char suffix[24];
};

/* Where a stream goes: all of a writer are alike. */
struct stx_where {
	const char *path; /* of the base file; NULL: in memory */
	int force, big;
	int level;        /* of zstd, 0: bytes as they are */
	struct stf_err *err; /* this and `used` must outlive the stream */
	uint8_t *used;
	const struct stx_identity *identity; /* first record of each file */
};

/* many: one of so many that it may hold neither a file open nor much memory. */
struct stx_stream *stx_stream_new(const struct stx_where *to, const char *suffix, int many);
/* Makes it a data file: gives it anchors, the first at offset 0. */
int stx_stream_add_anchors(struct stx_stream *s, const struct stx_where *to);
/* Writes out all that is buffered and closes the file. */
int stx_stream_close(struct stx_stream *s);
void stx_stream_free(struct stx_stream *s);
uint64_t stx_stream_offset(const struct stx_stream *s);
/* From now on a block ends as soon as it has `step` bytes. */
void stx_stream_blocks(struct stx_stream *s, uint64_t step);
/* Ends a block here, if it has at least `least` bytes. */
int stx_stream_end_block(struct stx_stream *s, uint64_t least);

uint8_t *stx_room_slow(struct stx_stream *s, uint64_t size, uint64_t time, uint32_t *dt);

/* Place for a record of `size` bytes at `time`; what its time field must hold goes to *dt. NULL: error. */
static inline uint8_t *stx_room(struct stx_stream *s, uint64_t size, uint64_t time, uint32_t *dt)
{
	uint64_t d = time - s->now;

	/* the first comparison too: a step back over nearly all of 64 bits looks like a small one ahead */
	if (__builtin_expect(time >= s->now && d <= UINT32_MAX && size <= (uint64_t)(s->limit - s->cur), 1)) {
		*dt = (uint32_t)d;
		s->now = time;
		return s->cur;
	}
	return stx_room_slow(s, size, time, dt);
}

/* ---- writer.c ---- */

/* Looks at a stf_string, class_definition or info that is to be written. 1: the writer drops it. */
int stx_note(struct stf_writer *w, unsigned id, const void *record);
/* Rejects one record. Returns -1. */
int stx_reject(struct stf_err *e, const char *record, const char *why, uint64_t n);

/* ---- put.c ---- */

/* A view of any incarnation. */
int stx_put_record(struct stx_stream *s, const struct stf_record *r);

/* int stx_put_anchor(struct stx_stream *s, const struct stf_anchor *r), ... */
#define STF_BEGIN(id, cls, name, kind) int stx_put_##name(struct stx_stream *s, const struct stf_##name *r);
#include "stf/records.def"

#endif
