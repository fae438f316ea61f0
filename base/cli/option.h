/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a program as one table. An option SYNC-MAX-MESSAGES is a line of the configuration file,
 * the environment variable VT_SYNC_MAX_MESSAGES and, in programs, the long option --sync-max-messages; the
 * later source wins. Values in the guide's syntax (Intel Trace Collector guide, section 3.2.1). */
#ifndef BASE_CLI_OPTION_H
#define BASE_CLI_OPTION_H

#include <stddef.h>

#include "base/err.h"

enum tkm_option_type {
	TKM_OPTION_TEXT,     /* const char *: the text itself, not copied */
	TKM_OPTION_COUNT,    /* long long between min and max */
	TKM_OPTION_TIME,     /* double, seconds, between min and max */
	TKM_OPTION_FRACTION, /* double, between min and max; "50ppm" */
	TKM_OPTION_BOOL,     /* int: 0 or 1; -1: not given */
	TKM_OPTION_BYTES,    /* long long between min and max; "64KB" */
	TKM_OPTION_LEVEL,    /* long long between min and max; on is 1, off is 0 */
	TKM_OPTION_NAME,     /* const char *: a text that may be missing, then "" */
	TKM_OPTION_LIST,     /* struct tkm_option_list: each mention adds one text */
	TKM_OPTION_WORD,     /* int: which word of arg it is, "auto|star|tree"; -1: not given */
};

/* All texts of an option that may be given several times; joined by blanks where one mention has several
 * fields. Zeros are an empty list. */
struct tkm_option_list {
	char **text;
	size_t n;
};

struct tkm_option {
	const char *name; /* as in the guide, upper case */
	enum tkm_option_type type;
	void *value; /* of the type's C type; holds the default. NULL: the program looks for the word itself, and no variable sets it */
	double min, max;
	const char *arg; /* what to call the value in --help */
	const char *help;
};

/* Sets one option from text. The error names `origin` ("VT_TIMER", "--timer"). Returns 0 or -1. */
int tkm_option_set(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err);

/* Sets all options whose variable is in the environment. The table ends with a NULL name. */
int tkm_option_environment(const struct tkm_option *table, struct tkm_err *err);

/* Sets all options that are in a configuration file: an option and its fields a line, names without
 * regard to case, fields quoted with " where they have blanks, lines that begin with # ignored. Options
 * that the table lacks are skipped, since collector and tools share one file. Texts are kept in *storage
 * (never NULL, *storage NULL or of an earlier call), which tkm_option_free() frees. Returns 0 or -1. */
struct tkm_option_storage;
int tkm_option_file(
	const struct tkm_option *table, const char *path, struct tkm_option_storage **storage, struct tkm_err *err);

/* The parts of tkm_option_file(), for a program that continues after a line that is wrong. Calls line() with the name
 * and the rest of the line, for every line that has a name; origin is "FILE:LINE". `rest` lies in *storage and may be
 * given to tkm_option_set_rest(). Returns 0, what line() returned if not 0, or -1. */
typedef int (*tkm_option_line)(const char *name, char *rest, const char *origin, void *ctx);
struct tkm_option_reader {
	struct tkm_option_storage **storage;
	tkm_option_line line;
	void *ctx;
};
int tkm_option_lines(const char *path, const struct tkm_option_reader *reader, struct tkm_err *err);
/* Reads a text in memory instead; errors print `name` as its file. */
int tkm_option_text(
	const char *text, size_t size, const char *name, const struct tkm_option_reader *reader, struct tkm_err *err);
/* Sets o from the fields after its name; changes them in place. Returns 0 or -1. */
int tkm_option_set_rest(const struct tkm_option *o, char *rest, const char *origin, struct tkm_err *err);
/* The option of that name, whatever its case, or NULL. */
const struct tkm_option *tkm_option_find(const struct tkm_option *table, const char *name);
/* The edit distance of two names: how many letters to insert, drop, change or swap. 99 for names of more than 60
 * letters. */
int tkm_option_distance(const char *a, const char *b);

/* Fails with "unknown option '--NAME'". The message also suggests an option whose name differs in at most two letters, and
 * at most half of those that were typed. Returns -1. */
int tkm_option_unknown(const struct tkm_option *table, const char *name, struct tkm_err *err);

/* Two questions about a word: does it begin an option ("--name")? Does option o, which precedes it, take it as its
 * value or as part of it? */
int tkm_option_begins(const char *word);
int tkm_option_takes(const struct tkm_option *o, const char *word);

/* Sets options from the command line after argv[0]: "--name value ...", "--name=value". A TEXT takes the next word
 * whatever it is; BOOL, LEVEL take it only if it is such a value; NAME takes it and LIST takes all unless they begin
 * with "--". Words that no option takes go to positional[], at most max of them. Returns their number or -1. */
int tkm_option_arguments(
	const struct tkm_option *table, int argc, char **argv, const char **positional, int max, struct tkm_err *err);

/* Frees what the calls above have allocated: storage, and the lists of the table. */
void tkm_option_free(const struct tkm_option *table, struct tkm_option_storage *storage);

/* "VT_SYNC_MAX_MESSAGES" or "sync-max-messages" of an option's name. Returns buf. */
char *tkm_option_variable(const struct tkm_option *o, char *buf, size_t size);
char *tkm_option_long(const struct tkm_option *o, char *buf, size_t size);

#endif
