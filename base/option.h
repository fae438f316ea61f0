/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a program as one table. An option SYNC-MAX-MESSAGES is the environment variable
 * VT_SYNC_MAX_MESSAGES and, in programs, the long option --sync-max-messages; the later source wins.
 * Values in the guide's syntax (seeds/003 section 3.2.1). */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stddef.h>

#include "base/err.h"

enum tkm_option_type {
	TKM_OPTION_TEXT,     /* const char *: the text itself, not copied */
	TKM_OPTION_COUNT,    /* long long between min and max */
	TKM_OPTION_TIME,     /* double, seconds, between min and max */
	TKM_OPTION_FRACTION, /* double, between min and max; "50ppm" */
	TKM_OPTION_BOOL,     /* int: 0 or 1; -1 where nobody said */
};

struct tkm_option {
	const char *name;  /* as in the guide, upper case */
	enum tkm_option_type type;
	void *value;       /* of the type's C type; holds the default */
	double min, max;
	const char *arg;   /* what to call the value in --help */
	const char *help;
};

/* Sets one option from text. `origin` ("VT_TIMER", "--timer") stands in the error. Returns 0 or -1. */
int tkm_option_set(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err);

/* Sets all options whose variable is in the environment. The table ends with a NULL name. */
int tkm_option_environment(const struct tkm_option *table, struct tkm_err *err);

/* "VT_SYNC_MAX_MESSAGES" or "sync-max-messages" of an option's name. Returns buf. */
char *tkm_option_variable(const struct tkm_option *o, char *buf, size_t size);
char *tkm_option_long(const struct tkm_option *o, char *buf, size_t size);

#endif
