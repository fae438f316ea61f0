/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits one line of ASCII VTF into words, and makes a record of them. */
#ifndef TOOLS_VTF_VTF_LINE_H
#define TOOLS_VTF_VTF_LINE_H

#include "tools/vtf/vtf.h"

struct vtf_word {
	char *s; /* ends with a zero byte; a quoted word may contain others */
	size_t n;
	int quoted;
};

struct vtf_line {
	struct vtf_word *word;
	size_t n, cap;
	void **memory; /* memory of the arrays in the record */
	size_t n_memory;
	struct stf_value values[24];
	struct stf_record record;
	char why[200]; /* what is wrong with the line */
};

/* Splits text, n bytes and a zero byte, in place. Returns -1: line->why is set. */
int vtf_line_split(struct vtf_line *line, char *text, size_t n);
/* Frees the memory of the last line; vtf_line_end() frees everything. */
void vtf_line_clear(struct vtf_line *line);
void vtf_line_end(struct vtf_line *line);

/* Parse a decimal number that is a whole word. Return -1 (and set why) if it is not a number or does not fit. */
int vtf_uint(struct vtf_line *line, const struct vtf_word *w, uint64_t max, uint64_t *out);
int vtf_real(struct vtf_line *line, const struct vtf_word *w, double *out);
/* Converts a CPU number to a willy. */
int vtf_cpu(struct vtf_line *line, const struct vtf_word *w, uint32_t *out);
/* Parses a value of a counter type into its bits. */
int vtf_counter(struct vtf_line *line, const struct vtf_word *w, unsigned type, uint64_t *out);

/* Makes line->record from the words from `at` on, which follow the keyword of class_id. Texts become strings of w. */
int vtf_line_record(struct vtf_line *line, unsigned class_id, size_t at, struct stf_writer *w);

#endif
