/* SPDX-License-Identifier: BSD-3-Clause */
/* One component file being read, record by record. Holds a window of the file that grows only as far
 * as one record needs, and never beyond the file's own size. */
#ifndef STF_SOURCE_H
#define STF_SOURCE_H

#include "stf/deflayer.h"

struct stx_source {
	char *path;
	int fd;
	uint64_t size;   /* of the file, when it was opened */
	uint64_t offset; /* of buf[0] in the file */
	uint8_t *buf;
	size_t pos, len, cap;
	const struct stx_defs *defs;
	struct stx_scratch scratch;
	struct stf_record record;
	int timed;       /* a data file: times are differences */
	uint64_t now;
	uint64_t number; /* records so far, unknown and time records included */
	uint64_t skipped;
	uint32_t file;   /* file_declaration id */
	size_t number_in_trace; /* among the sources of a merge */
};

/* Opens the file `path` + `suffix`. */
struct stx_source *stx_source_open(const char *path, const char *suffix, struct stf_err *err);
void stx_source_close(struct stx_source *s);

/* A line of text without its LF, terminated by 0 in the window; *n its length. -1: no further line. */
int stx_source_line(struct stx_source *s, char **line, size_t *n, struct stf_err *err);

/* 1: s->record is the next known record; 0: end; -1: fault. */
int stx_source_next(struct stx_source *s, struct stf_err *err);

#endif
