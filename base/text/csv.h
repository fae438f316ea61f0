/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of comma-separated values, row by row, as stftool, spreadsheets and numpy write them: with a byte order mark, lines that end
 * as in DOS, empty lines, lines of comment after a '#', blanks around cells, and cells in quotes, which may have line ends. */
#ifndef BASE_TEXT_CSV_H
#define BASE_TEXT_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TKM_CSV_CELLS = 4096 };

/* Initialise it with { .f = f }. */
struct tkm_csv {
	FILE *f;
	uint64_t line;   /* on which the row begins, from 1 */
	const char *why; /* of -1; NULL: errno says it */
	int is_comment;  /* the row is empty, or begins with '#'; then the cells are those after it */
	char *raw;       /* the row as it is in the file, without its end */
	char *cell[TKM_CSV_CELLS];
	uint32_t n;
	/* private */
	size_t raw_room, text_room;
	char *text;
	uint64_t next_line;
};

/* Reads a row. Returns 1, 0 at the end, or -1: something is no table, or cannot be read; line says where. */
int tkm_csv_next(struct tkm_csv *c);
/* Begins anew. */
void tkm_csv_rewind(struct tkm_csv *c);
void tkm_csv_free(struct tkm_csv *c);

/* Are the names of this row separated by something else? Returns what to do, or NULL. */
const char *tkm_csv_why(const struct tkm_csv *c);

#endif
