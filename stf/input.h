/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of one component being read. Holds a window of it that grows only as far as one record needs, and never beyond
 * the component's own size: a piece of the file mapped, or read into memory, or frames unpacked. */
#ifndef STF_INPUT_H
#define STF_INPUT_H

#include <sys/types.h>

#include "stf/archive.h"
#include "stf/blocks.h"
#include "stf/damage.h"
#include "stf/deflayer.h"
#include "stf/identity.h"

#define STX_BATCH 256 /* records of a batch: what a user of it finds in the nearest cache */

struct stx_frames;

/* Where decoding stands; enough to come back to as long as the window still holds it. */
struct stx_mark {
	uint64_t at, now, number;
};

struct stx_source {
	struct stx_place place;
	const char *path; /* for messages */
	int fd;           /* -1: closed until it is needed, if `park` */
	int park;         /* close after each look into the file */
	dev_t dev;
	ino_t ino;
	uint64_t size;   /* bytes of the component; of a compressed one at most so many */
	int cut;         /* the file ended before that */
	uint64_t offset; /* of buf[0] in the component */
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
	int timed; /* a data file: times are differences */
	uint64_t now;
	uint64_t number; /* records so far, unknown and time records included; 0 after a seek */
	int lost_count;  /* a seek: records are not numbered any more */
	uint64_t skipped;
	uint32_t file;          /* file_declaration id */
	size_t number_in_trace; /* among the sources of a merge */
	struct stx_mark head;   /* before `record` */
	uint64_t late;          /* how much earlier a record's time may be than that of the record before it */
	uint64_t *times;        /* [STX_BATCH] */
	uint8_t *one;           /* a batch of one record that was not laid out as ours */
	struct stx_blocks
		blocks;     /* checked as they are read: `len` ends where what was checked ends. None: nothing is */
	size_t block;       /* the next that was not checked */
	uint64_t good_from; /* from this offset on `buf` was checked */
	size_t have;        /* bytes of the window, those not checked included */
	int bad;            /* the block after `len` is damaged */
	uint64_t n_damaged; /* pieces that were left out */
	const char *suffix;
	struct stx_damages *damages; /* of the trace */
	const struct stx_identities
		*expected;              /* the component's first record is one of these; NULL or empty: no matter */
	struct stx_identities *collect; /* the index: those that it names go there */
};

/* ---- bytes.c ---- */

/* Opens a component; STF_ERR_IO if it is not there. */
struct stx_source *stx_source_open(const struct stx_archive *a, const char *suffix, struct stf_err *err);
/* A file that is a component, wherever it lies. */
struct stx_source *stx_source_open_file(const char *path, int compressed, struct stf_err *err);
void stx_source_close(struct stx_source *s);
/* The first n bytes of an open file; -1: there are not so many. */
int stx_source_peek(const struct stx_source *s, void *p, size_t n);
/* More bytes after those that are here; drops what lies before pos. Nothing more is no error, then `cut` is set. */
int stx_source_fill(struct stx_source *s, struct stf_err *err);
/* The same of bytes that are not checked. */
int stx_source_fill_raw(struct stx_source *s, struct stf_err *err);
/* Goes to `offset`, or where the component ends. */
int stx_source_seek_raw(struct stx_source *s, uint64_t offset, struct stf_err *err);
/* Goes to a record boundary where the current time is `now`. */
int stx_source_seek(struct stx_source *s, uint64_t offset, uint64_t now, struct stf_err *err);
/* From now on holds no file open between two looks. */
void stx_source_park(struct stx_source *s);

/* ---- verified.c: a component whose blocks have checksums ---- */

/* As stx_source_fill(), leaving out damaged blocks. */
int stx_verified_fill(struct stx_source *s, struct stf_err *err);
int stx_verified_seek(struct stx_source *s, uint64_t offset, struct stf_err *err);

#endif
