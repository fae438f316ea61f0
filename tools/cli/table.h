/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables for people, scripts and programs: aligned text, CSV, JSON. */
#ifndef TOOLS_CLI_TABLE_H
#define TOOLS_CLI_TABLE_H

#include "tools/cli/stftool.h"

struct stt_cell;
struct stt_table {
	const char *name;  /* key in JSON */
	const char *title; /* on a line above the text, or NULL */
	const char **column;
	size_t columns;
	struct stt_cell *cell;
	size_t cells;
	int failed; /* out of memory; stt_report_add() prints this */
};

/* All tables of one run of the program. */
struct stt_request;
struct stt_report {
	const struct stt_options *o;
	const struct stt_request *req; /* of the data records */
	size_t tables;                 /* printed so far */
	void *json;
};

/* Does this build support --json? */
int stt_have_json(void);

/* Makes a table with these columns, which are not copied. */
void stt_table_begin(struct stt_table *t, const char *name, const char *title, const char **column, size_t columns);
/* Append one cell after the other, row by row; text is copied. */
void stt_cell_text(struct stt_table *t, const char *text); /* NULL: unknown */
void stt_cell_bytes(struct stt_table *t, const char *text, size_t n);
void stt_cell_uint(struct stt_table *t, uint64_t v);
/* A number that is the least of what it may be: ">=4294967295". */
void stt_cell_at_least(struct stt_table *t, uint64_t v);
void stt_cell_int(struct stt_table *t, int64_t v);
void stt_cell_real(struct stt_table *t, double v);  /* NaN and infinity: as text, null in JSON */
void stt_cell_mean(struct stt_table *t, double v);  /* a computed number: nine digits in a table for people, else all */
void stt_cell_short(struct stt_table *t, double v); /* the same with four digits */
void stt_cell_upper(struct stt_table *t, double v); /* a bound: rounded up to four digits; NaN: unknown */
void stt_cell_unknown(struct stt_table *t);         /* the trace does not have the value */
void stt_cell_none(struct stt_table *t);            /* the value does not exist */
/* Prints the table, or keeps it for the JSON text, and frees it. Returns an exit status. */
int stt_report_add(struct stt_report *r, struct stt_table *t);
/* Prints the JSON text. Returns an exit status. */
int stt_report_end(struct stt_report *r);

#endif
