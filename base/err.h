/* SPDX-License-Identifier: BSD-3-Clause */
/* How the libraries of this project report an error: a code for the caller and one line for a person. The line names
 * the thing (file, option, timer, rank) and says what to do. Libraries fill it in and return; only programs print it,
 * as "program: line", and choose the exit status. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum tkm_code {
	TKM_OK = 0,
	TKM_ERR_ARG,    /* the caller's value is unusable: option, name, number */
	TKM_ERR_IO,     /* the system refused: open, read, write, rename */
	TKM_ERR_EXISTS, /* would overwrite what is already there */
	TKM_ERR_FORMAT, /* the content of a file is damaged or not what it should be */
	TKM_ERR_NOMEM,
	TKM_ERR_UNAVAIL, /* this machine or this build does not have it */
	TKM_ERR_TIMEOUT, /* a wait reached its limit */
	TKM_ERR_DATA,    /* too few or contradictory measurements */
};

struct tkm_err {
	enum tkm_code code;
	char text[480]; /* one line, no newline, no control characters, always terminated */
};

/* Replaces control characters by '?', in place: with them a name could give commands to a terminal or begin a new line.
 * The length and all other characters of UTF-8 stay the same. Returns text. */
char *tkm_plain(char *text);

/* Fills *e (which may be NULL) with a code and a formatted line. Returns -1 always, so that a
 * function can end in `return tkm_fail(e, ...)`. */
int tkm_fail(struct tkm_err *e, enum tkm_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As tkm_fail(), and appends ": " and the text of `errnum` (an errno value). */
int tkm_fail_errno(struct tkm_err *e, enum tkm_code code, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
