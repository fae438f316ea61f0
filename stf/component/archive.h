/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the components of a trace are: each in a file of its own, or all in one file that begins with a directory. */
#ifndef STF_COMPONENT_ARCHIVE_H
#define STF_COMPONENT_ARCHIVE_H

#include "stf/format/private.h"

struct stf_entry {
	char *suffix; /* "" for the base file */
	size_t next;  /* 1 + index of the next entry with the same hash; 0: none */
	uint64_t offset, size;
};

struct stf_archive {
	char *path;
	/* descriptor of the archive, if >= 0: used instead of opening `path`, which is then for messages only */
	int fd;
	int single;
	struct stf_entry *entry; /* the components of a single-file trace */
	size_t n, cap;
	struct stf_map at; /* hash of the suffix: 1 + index of the first entry with that hash */
};

/* The place of one component's bytes on the disk. */
struct stf_place {
	char *file;     /* path of the file to open */
	int fd;         /* >= 0: use this descriptor instead; it stays open */
	char *name;     /* the name for messages */
	uint64_t start; /* offset of the component in that file */
	uint64_t size;  /* UINT64_MAX: to the end of the file */
	int compressed;
};

int stf_archive_open(struct stf_archive *a, const char *path, struct stf_err *err);
/* Makes an archive from a descriptor, and takes ownership of the descriptor. */
int stf_archive_open_fd(struct stf_archive *a, int fd, const char *name, struct stf_err *err);
void stf_archive_free(struct stf_archive *a);
/* Returns 1: the component is there (the caller frees the result), 0: the trace has no such component, -1: error. */
int stf_archive_find(const struct stf_archive *a, const char *suffix, struct stf_place *p, struct stf_err *err);
void stf_place_free(struct stf_place *p);

#endif
