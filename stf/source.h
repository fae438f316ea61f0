/* SPDX-License-Identifier: BSD-3-Clause */
/* One component being read, record by record. Holds a window of it that grows only as far as one record
 * needs, and never beyond the component's own size: a piece of the file mapped, or read into memory, or
 * frames unpacked. */
#ifndef STF_SOURCE_H
#define STF_SOURCE_H

#include <sys/types.h>

#include "stf/archive.h"
#include "stf/deflayer.h"

#define STX_BATCH 256 /* records of a batch: what a user of it finds in the nearest cache */

struct stx_frames;

/* Where decoding stands; enough to come back to as long as the window still holds it. */
struct stx_mark {
	uint64_t at, now, number;
};

struct stx_source {
	struct stx_place place;
	const char *path;  /* for messages */
	int fd;            /* -1: closed until it is needed, if `park` */
	int park;          /* close after each look into the file */
	dev_t dev;
	ino_t ino;
	uint64_t size;     /* bytes of the component; of a compressed one at most so many */
	int cut;           /* the file ended before that */
	uint64_t offset;   /* of buf[0] in the component */
	uint8_t *buf;
	size_t pos, len, cap;
	size_t piece, max_piece;   /* bytes to read into memory next, growing */
	size_t window, max_window; /* bytes to map next, growing; 0: read into memory */
	void *map;
	size_t map_len;
	struct stx_frames *frames; /* of a compressed component */
	const struct stx_defs *defs;
	struct stx_scratch scratch;
	struct stf_record record;
	int timed;         /* a data file: times are differences */
	uint64_t now;
	uint64_t number;   /* records so far, unknown and time records included; 0 after a seek */
	int lost_count;    /* a seek: records are not numbered any more */
	uint64_t skipped;
	uint32_t file;     /* file_declaration id */
	size_t number_in_trace; /* among the sources of a merge */
	struct stx_mark head;   /* ahead of `record` */
	uint64_t late;     /* how far a record's time may lie behind one that stands ahead of it */
	uint64_t *times;   /* [STX_BATCH] */
	uint8_t *one;      /* a batch of one record that was not laid out as ours */
};

/* ---- bytes.c ---- */

/* Opens a component; STF_ERR_IO if it is not there. */
struct stx_source *stx_source_open(const struct stx_archive *a, const char *suffix, struct stf_err *err);
void stx_source_close(struct stx_source *s);
/* More bytes behind those that are here; drops what lies before pos. Nothing more is no error, then `cut` is set. */
int stx_source_fill(struct stx_source *s, struct stf_err *err);
/* Goes to a record boundary where the current time is `now`. */
int stx_source_seek(struct stx_source *s, uint64_t offset, uint64_t now, struct stf_err *err);
/* From now on holds no file open between two looks. */
void stx_source_park(struct stx_source *s);

/* ---- source.c ---- */

/* A line of text without its LF, terminated by 0 in the window; *n its length. -1: no further line. Not of a
 * mapped source. */
int stx_source_line(struct stx_source *s, char **line, size_t *n, struct stf_err *err);

/* 1: s->record is the next known record; 0: end; -1: fault. */
int stx_source_next(struct stx_source *s, struct stf_err *err);
/* Undoes the last stx_source_next(). */
void stx_source_back(struct stx_source *s);

/* ---- native.c: records that lie in the file as we lay them out ---- */

/* Bytes of the record at p, its values in s->value; 0: needs the general decoder. */
size_t stx_native_decode(const struct stx_fdef *def, const uint8_t *p, const uint8_t *end, struct stx_scratch *s);

struct stx_filter;
/* Counter samples from where s stands that `f` takes, none later than `until`, all alike; 0: the next record
 * is none of these. */
size_t stx_native_counters(struct stx_source *s, const struct stx_filter *f, uint64_t until,
			   struct stf_counter_batch *b);
/* The same from s->record. */
void stx_one_counter(struct stx_source *s, const struct stf_counter_value *v, struct stf_counter_batch *b);

#endif
