/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the components of a trace lie: each in a file of its own, or all in one file that begins with a directory. */
#ifndef STF_ARCHIVE_H
#define STF_ARCHIVE_H

#include "stf/private.h"

struct stx_entry {
	char *suffix; /* "" is the base file */
	size_t next;  /* 1 + place of the next with the same hash; 0: none */
	uint64_t offset, size;
};

struct stx_archive {
	char *path;
	int fd; /* of the archive, >= 0: read from there, never opened by name; path is for messages */
	int single;
	struct stx_entry *entry; /* of a single file */
	size_t n, cap;
	struct stx_map at; /* hash of the suffix: 1 + place of the first with that hash */
};

/* One component as bytes on a disk. */
struct stx_place {
	char *file;     /* what to open */
	int fd;         /* >= 0: this instead, which stays open */
	char *name;     /* what messages call it */
	uint64_t start; /* in that file */
	uint64_t size;  /* UINT64_MAX: to the end of the file */
	int compressed;
};

int stx_archive_open(struct stx_archive *a, const char *path, struct stf_err *err);
/* From a descriptor, which becomes the archive's. */
int stx_archive_open_fd(struct stx_archive *a, int fd, const char *name, struct stf_err *err);
void stx_archive_free(struct stx_archive *a);
/* 1: is there (the caller frees it), 0: the trace has no such component, -1: error. */
int stx_archive_find(const struct stx_archive *a, const char *suffix, struct stx_place *p, struct stf_err *err);
void stx_place_free(struct stx_place *p);

#endif
