/* SPDX-License-Identifier: BSD-3-Clause */
/* A file under a temporary name, which gets its own when it is complete. */
#ifndef STF_OUTFILE_H
#define STF_OUTFILE_H

#include "stf/identity.h"
#include "stf/private.h"

/* Where a stream goes: all of a writer are alike. */
struct stx_where {
	const char *path; /* of the base file; NULL: in memory */
	int force, big;
	int level;           /* of zstd, 0: not compressed */
	struct stf_err *err; /* this and `used` must outlive the stream */
	uint8_t *used;
	const struct stx_identity *identity; /* first record of each file */
};

struct stx_out {
	int fd;        /* -1: closed or never opened */
	int park;      /* close it after each write, and open it for the next */
	int published; /* has its final name: discard removes that one */
	uint64_t size; /* bytes written */
	void *hash;    /* of them, until it is closed; NULL: not taken */
	int hashed;    /* then this is what it came to */
	uint64_t digest;
	char *final_name, *temp_name;
	char *aside; /* where the file that had the name before waits, or is to wait */
	int set_aside;
};

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

#endif
