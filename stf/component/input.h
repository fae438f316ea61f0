/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of one component that is being read. The source holds a window of the component. The window grows
 * only as far as one record needs, and never beyond the component's size. It is a mapped piece of the file, or a
 * piece read into memory, or unpacked frames. */
#ifndef STF_COMPONENT_INPUT_H
#define STF_COMPONENT_INPUT_H

#include <sys/types.h>

#include "stf/component/archive.h"
#include "stf/format/blocks.h"
#include "stf/format/damage.h"
#include "stf/format/deflayer.h"
#include "stf/format/identity.h"

#define STX_BATCH 256 /* records in a batch, few enough that they stay in the nearest cache */

struct stf_frames;

/* A position of the decoder. The source can return to it as long as the window still holds it. */
struct stf_mark {
	uint64_t at, now, number;
};

struct stf_source {
	struct stf_place place;
	const char *path; /* for messages */
	int fd;           /* with `park`, -1 while the file is closed between reads */
	int park;         /* close the file after each read */
	dev_t dev;
	ino_t ino;
	uint64_t size;   /* bytes of the component; an upper bound if it is compressed */
	int cut;         /* the file ended before `size` */
	uint64_t offset; /* offset of buf[0] in the component */
	uint8_t *buf;
	size_t pos, len, cap;
	size_t piece, max_piece;   /* bytes to read into memory next; grows */
	size_t window, max_window; /* bytes to map next; grows. 0: read into memory instead */
	void *map;
	size_t map_len;
	struct stf_frames *frames; /* NULL unless the component is compressed */
	const struct stf_defs *defs;
	struct stf_scratch scratch;
	struct stf_record record;
	int timed; /* a data file: its times are differences */
	uint64_t now;
	uint64_t number; /* records so far, including unknown ones and time records; 0 after a seek */
	int lost_count;  /* after a seek, records are not numbered any more */
	uint64_t skipped;
	uint32_t file;          /* file_declaration id */
	size_t number_in_trace; /* index among the sources of a merge */
	struct stf_mark head;   /* position before `record` */
	uint64_t late;          /* by how much a record's time may be earlier than that of the record before it */
	uint64_t *times;        /* [STX_BATCH] */
	uint8_t *one;           /* a batch of one record whose layout differs from ours */
	struct stf_blocks
		/* verified while reading: `len` ends where the verified bytes end. Empty: nothing is verified */
		blocks;
	size_t block;       /* the next block to verify */
	uint64_t good_from; /* `buf` is verified from this offset on */
	size_t have;        /* bytes of the window, including those that are not verified */
	int bad;            /* the block after `len` is damaged */
	uint64_t n_damaged; /* pieces that were left out */
	const char *suffix;
	struct stf_damages *damages; /* the list of the trace */
	const struct stf_identities
		*expected;              /* the component's first record must be one of these; NULL or empty: any */
	struct stf_identities *collect; /* for the index: the identities that it names are added here */
};

/* ---- bytes.c ---- */

/* Opens a component; STF_ERR_IO if it is missing. */
struct stf_source *stf_source_open(const struct stf_archive *a, const char *suffix, struct stf_err *err);
/* Opens a file as a component, wherever it is. */
struct stf_source *stf_source_open_file(const char *path, int compressed, struct stf_err *err);
void stf_source_close(struct stf_source *s);
/* Reads the first n bytes of an open file; -1: it is shorter. */
int stf_source_peek(const struct stf_source *s, void *p, size_t n);
/* Reads more bytes after those in the window, and drops those before pos. At the end it reads nothing, sets `cut`
 * and reports no error. */
int stf_source_fill_raw(struct stf_source *s, struct stf_err *err);
/* Goes to `offset`, or to the end if the component is shorter. */
int stf_source_seek_raw(struct stf_source *s, uint64_t offset, struct stf_err *err);
/* From now on, closes the file between reads. */
void stf_source_park(struct stf_source *s);

/* ---- verified.c: the component, of which damaged blocks are left out if its blocks have checksums ---- */

/* stf_source_fill_raw(), and verifies what it read. */
int stf_source_fill(struct stf_source *s, struct stf_err *err);
/* Goes to a record boundary where the current time is `now`. */
int stf_source_seek(struct stf_source *s, uint64_t offset, uint64_t now, struct stf_err *err);

#endif
