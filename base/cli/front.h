/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line, the same in every program: -h --help, -V --version, --usage, "did you mean", the width of the
 * terminal. For programs only. Values and their syntax are those of base/cli/option.h. As in the Intel Trace Collector
 * guide, an option can take several words, or one word that may be missing. */
#ifndef BASE_CLI_FRONT_H
#define BASE_CLI_FRONT_H

#include <stdio.h>

#include "base/err.h"
#include "base/cli/option.h"

struct tkm_letter {
	char letter;
	const char *name; /* of the option in the table: 'o', "OUTPUT" */
};

/* An option of the command line that has an effect only with another one. Of a file or the environment, which several programs
 * share, it is ignored where it has none. Rows of one name that follow each other name options of which one is enough. */
struct tkm_needs {
	const char *name;  /* of the option */
	const char *other; /* the one it needs; "PRINT-...": any whose name begins so */
};

struct tkm_front {
	const char *program;             /* "timertest" */
	const char *arguments;           /* "[OPTION...] [SECONDS [SLEEP]]"; more ways to call it each on a line */
	const char *what;                /* what it does: one paragraph */
	const char *after;               /* paragraphs after the options, divided by '\n'; or NULL */
	const struct tkm_option *table;  /* ends with a NULL name */
	const struct tkm_letter *letter; /* ends with 0; NULL: none */
	/* What --help shows where --help=all shows the whole table: the names, with short texts. NULL: --help shows all */
	const struct tkm_option *brief;
	const struct tkm_needs *needs; /* ends with a NULL name; NULL: none */
	int environment;               /* its options are also VT_ variables */
	/* The configuration file, which option CONFIG or else VT_CONFIG names, has its options too; keeps the texts, as in
	 * tkm_option_file(). NULL: it reads none. */
	struct tkm_option_storage **storage;
};

enum { TKM_FRONT_ANSWERED = -2 };

/* Prints what -h, -?, --help, --help=all, -V, --version or --usage ask for; out NULL: nothing. Returns 1 if the word was one of them, else 0. */
int tkm_front_answer(const struct tkm_front *f, const char *word, FILE *out);
/* Reads the configuration file, the environment and the command line after argv[0]; the later one wins, of lists too. Reads as
 * tkm_option_arguments() does, and single letters besides: -o VALUE, -oVALUE. Words after "--" are arguments. Returns the number of arguments in positional[]; TKM_FRONT_ANSWERED: help or the
 * version was printed to stdout; -1: an error in *err. */
int tkm_front_arguments(
	const struct tkm_front *f, int argc, char **argv, const char **positional, int max, struct tkm_err *err);
/* Prints the whole help: usage and options, in the width of the terminal (COLUMNS, else the width of stdout, else 80). */
void tkm_front_help(const struct tkm_front *f, FILE *out);
/* Writes a text in lines of at most `width` columns. The first line begins at column `at`, further lines at column
 * `indent`. */
void tkm_front_wrap(FILE *out, const char *text, int at, int indent, int width);

#endif
