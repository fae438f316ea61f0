/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is written under a temporary name, and gets its own name when it is complete. */
#ifndef STF_WRITE_OUTFILE_H
#define STF_WRITE_OUTFILE_H

#include "base/newname.h"
#include "stf/format/identity.h"
#include "stf/format/private.h"

struct stf_zst;

/* The destination of a stream, the same for all streams of a writer. */
struct stf_where {
	const char *path; /* path of the base file; NULL: in memory */
	int force, big;
	int level;           /* zstd level, 0: not compressed */
	struct stf_zst *zst; /* NULL: not compressed */
	struct stf_err *err; /* this and `used` must live longer than the stream */
	uint8_t *used;
	const struct stf_trace_identity *identity; /* the first record of each file */
};

struct stf_out {
	int fd;            /* -1: closed or never opened */
	int park;          /* close the file after each write, and open it for the next one */
	uint64_t size;     /* bytes written */
	uint64_t reserved; /* bytes that have a place on the disk; UINT64_MAX: the file system reserves none */
	void *hash;        /* running hash of these bytes until the file is closed; NULL: no hash is computed */
	int hashed;        /* the hash is complete and has this value */
	uint64_t digest;
	struct tkm_newname name; /* temporary NULL: the caller's own descriptor has no name */
};

/* Creates a temporary file beside `path` with O_EXCL. Without force it is an error if `path` exists. */
int stf_out_open(struct stf_out *o, const char *path, int force, struct stf_err *err);
/* The same, but the file is made by the first write, and closed after each. */
int stf_out_open_later(struct stf_out *o, const char *path, int force, struct stf_err *err);
/* Takes over a complete file that another writer left under the temporary name of n bytes. */
int stf_out_adopt(struct stf_out *o, const struct stf_where *to, const char *suffix, const char *name, size_t n,
	struct stf_err *err);
int stf_out_write(struct stf_out *o, const void *p, size_t n, struct stf_err *err);
/* Empties the file again. What was written so far would serve a reader only if the writer had been killed. */
int stf_out_restart(struct stf_out *o, struct stf_err *err);
int stf_out_close(struct stf_out *o, struct stf_err *err);
/* With force: moves the file that has the name now to another name, until stf_out_keep() or stf_out_discard(). */
int stf_out_set_aside(struct stf_out *o, struct stf_err *err);
/* Gives the file its name; without force, never replaces another file. */
int stf_out_publish(struct stf_out *o, struct stf_err *err);
/* Makes the file permanent, and removes the file that was set aside. */
void stf_out_keep(struct stf_out *o);
/* Removes the file under its current name, and moves the file that was set aside back. */
void stf_out_discard(struct stf_out *o);
void stf_out_free(struct stf_out *o);

#endif
